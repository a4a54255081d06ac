"""How far new rows differ from those that a model was trained on, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode import CategoricalColumn, NumericColumn, frame_like, training_columns
from seminaive.errors import InputError
from seminaive.explain.reading import class_position, effects_of, evidence, evidence_name, interval_labels
from seminaive.explain.shift_calibration import Calibration
from seminaive.explain.shift_columns import (
    ColumnShift,
    NoEvidence,
    QuantileBins,
    category_weights,
    count_cells,
)
from seminaive.scores import log_posterior
from seminaive.statistics.number_sketch import sketch_columns

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.encode import EncodedTable, Schema
    from seminaive.scores import Effects, FeatureEffect
    from seminaive.statistics import TrainingSummary


@dataclass(frozen=True)
class Shift:
    """New rows beside those of training, or beside earlier ones.

    Parameters
    ----------
    name : str
        What the score is called.
    before, now : float
        Its mean over the rows before and over those now.
    n_before, n_now : float
        How many rows, by weight.
    columns : tuple of ColumnShift
        Those that raise an alarm first, by the population stability index; then the others, by p-value.
    terms : dict of str to float
        What each feature and each tuple of features adds to the change of the mean score, exactly.
    level : float
        How often rows without a shift raise an alarm.
    calibration : Calibration or None
        With labels only.
    """

    name: str
    before: float
    now: float
    n_before: float
    n_now: float
    columns: tuple[ColumnShift, ...]
    terms: dict[str, float]
    level: float
    calibration: Calibration | None

    @property
    def change(self) -> float:
        """Return the change of the mean score, which is the sum of ``terms``."""
        return self.now - self.before

    @property
    def alarms(self) -> list[str]:
        """Return the columns whose distribution has changed.

        A column raises an alarm where its p-value is below a limit that all columns together pass with the
        probability ``1 - level`` where nothing has changed and columns are independent (Sidak's).
        """
        return [
            column.name
            for column in self.columns
            if column.log_p_value < _log_limit(self.level, len(self.columns))
        ]

    @property
    def misfits(self) -> list[str]:
        """Return the columns whose effects do not fit the labels, even after recalibration."""
        if self.calibration is None:
            return []
        limit = np.exp(_log_limit(self.level / 2, len(self.calibration.columns)))
        found = [(p_value, name) for name, p_value in self.calibration.columns.items() if p_value < limit]
        return [name for _, name in sorted(found)]

    @property
    def action(self) -> str:
        """Return what to do next: "nothing", "recalibrate", "update" or "collect labels"."""
        if self.calibration is None:
            return "collect labels" if self.alarms else "nothing"
        if self.misfits:
            return "update"
        return "recalibrate" if self.calibration.p_value < self.level / 2 else "nothing"

    @property
    def advice(self) -> str:
        """Return what to do next, and why, in a sentence."""
        changed = f"{_listed(self.alarms)} changed" if self.alarms else "no column has changed"
        if self.action == "collect labels":
            return f"Collect labels: {changed}, and only labels tell whether the probabilities still hold."
        if self.action == "update":
            return (
                f"Update: the effects of {_listed(self.misfits)} no longer fit. Fit again on the new rows, "
                "starting from this model (start=)."
            )
        if self.action == "recalibrate":
            assert self.calibration is not None  # noqa: S101 - narrows the type
            return (
                f"Recalibrate: {self.calibration.intercept:+.2f} plus {self.calibration.slope:.2f} times the "
                "log odds would fit, and no column's effect is wrong beyond that."
            )
        fit = "" if self.calibration is None else ", and the probabilities hold"
        return f"Nothing: {changed}{fit}."

    def frame(self) -> Any:
        """Return one line per column, then one per tuple of columns.

        Returns
        -------
        frame
            With columns ``term``, ``change`` (its part in the change of the mean score), ``alarm``, ``psi``
            (the population stability index; of a number over ranges between deciles), ``p_value``,
            ``missing_before``, ``missing_now``, ``unseen`` (the share of levels that training never had),
            ``unseen_levels`` and, with labels, ``p_calibration``.
        """
        alarms = set(self.alarms)
        lines: list[dict[str, Any]] = [
            {
                "term": column.name,
                "change": self.terms.get(column.name, 0.0),
                "alarm": column.name in alarms,
                "psi": column.psi,
                "p_value": column.p_value,
                "missing_before": column.missing[0],
                "missing_now": column.missing[1],
                "unseen": column.unseen,
                "unseen_levels": ", ".join(column.unseen_levels),
            }
            for column in self.columns
        ]
        columns = {column.name for column in self.columns}
        tuples = sorted((-abs(change), name) for name, change in self.terms.items() if name not in columns)
        absent = dict.fromkeys(("psi", "p_value", "missing_before", "missing_now", "unseen"), np.nan)
        lines += [
            {"term": name, "change": self.terms[name], "alarm": False, **absent, "unseen_levels": ""}
            for _, name in tuples
        ]
        if self.calibration is not None:
            for line in lines:
                line["p_calibration"] = self.calibration.columns.get(line["term"], np.nan)
        return frame_like(None, {name: [line[name] for line in lines] for name in lines[0]})


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"


def _log_limit(level: float, n_tests: int) -> float:
    """Return the log of the p-value that one of some independent tests passes with probability ``level``."""
    return float(np.log(-np.expm1(np.log1p(-level) / max(n_tests, 1))))


def shift(
    model: Any, rows: Any, y: Any = None, *, since: Any = None, target: Any = None, level: float = 0.05
) -> Shift:
    """Compare new rows with those that a model was trained on.

    Without labels: the change of the mean score, the sum of all contributions, split exactly over the terms;
    a distance per column, with a test of whether it is more than chance; levels never seen; missing cells
    that grew. With labels also whether probabilities hold, as a whole and column by column.

    Parameters
    ----------
    model : a fitted additive model
    rows : table with the training columns
    y : labels, default=None
        The true classes of the rows, where they are known.
    since : table with the training columns, default=None
        Rows to compare with; None is the training table, of which the model keeps a summary: weights of
        levels, and histograms of numbers, from whose bins the mean of a curve is known approximately.
    target : label, default=None
        The class whose log odds (with two classes) or score is compared; None is the last one.
    level : float, default=0.05
        How often rows that did not change raise an alarm.

    Returns
    -------
    Shift

    Examples
    --------
    >>> import pandas as pd
    >>> from seminaive import NaiveBayes
    >>> last_year = pd.DataFrame({"sky": ["wet", "dry"] * 200, "wind": ["low", "low", "high", "high"] * 100})
    >>> model = NaiveBayes().fit(last_year, ["slip", "hold"] * 200)
    >>> this_year = pd.DataFrame({"sky": ["wet", "wet", "wet", "snow"] * 50, "wind": ["low", "high"] * 100})
    >>> found = shift(model, this_year)
    >>> found.alarms, found.action, found.columns[0].unseen_levels
    (['sky'], 'collect labels', ('snow',))
    """
    if not 0 < level < 1:
        raise InputError(f"level is above 0 and below 1, got {level!r}")
    effects = effects_of(model)
    position = class_position(model, target)
    now = _Side.of_rows(model, rows, effects)
    before = (
        _Side.of_summary(model.summary_, effects) if since is None else _Side.of_rows(model, since, effects)
    )
    columns, sums = _compared(effects, before, now)
    terms = {
        name: float(evidence(total.now / now.weight - total.before / before.weight, position))
        for name, total in sums.items()
    }
    start = effects.intercept + sum(total.before for total in sums.values()) / before.weight
    mean = effects.intercept + sum(total.now for total in sums.values()) / now.weight
    limit = _log_limit(level, len(columns))
    columns.sort(
        key=lambda column: (0, -column.psi) if column.log_p_value < limit else (1, column.log_p_value)
    )
    return Shift(
        evidence_name(model, position),
        float(evidence(start, position)),
        float(evidence(mean, position)),
        before.weight,
        now.weight,
        tuple(columns),
        terms,
        level,
        None if y is None else _calibration(model, now, y, position),
    )


@dataclass(frozen=True)
class _Side:
    """What is known of the rows of one side.

    Parameters
    ----------
    cells : dict of columns to ndarray
        The weight of each code, and of each combination of codes that some effect looks at, by coded columns.
    weight : float
        Of all rows.
    rows : table or None
        What the encoded table was made of.
    """

    cells: dict[tuple[int, ...], Floats]
    weight: float
    summary: TrainingSummary | None = None
    table: EncodedTable | None = None
    rows: Any = None

    @classmethod
    def of_summary(cls, summary: TrainingSummary, effects: Effects) -> _Side:
        """Take the training table, of which a summary is kept."""
        cells: dict[tuple[int, ...], Floats] = {
            (j,): summary.cell_weights(j).sum(axis=1) for j in range(len(summary.schema.coded))
        }
        cells |= {effect.columns: effect.weight for effect in effects.tuples}
        return cls(cells, float(summary.class_weight.sum()), summary)

    @classmethod
    def of_rows(cls, model: Any, rows: Any, effects: Effects) -> _Side:
        """Take rows."""
        rows = training_columns(rows, model.schema_.names)
        table = model.encode(rows)
        return cls(count_cells(table, effects), float(len(table)), None, table, rows)

    def levels(self, schema: Schema, position: int) -> tuple[Floats, tuple[str, ...]]:
        """Return the weights of a column's categories, missing and unseen cells, and levels never seen."""
        column = schema.columns[position]
        assert isinstance(column, CategoricalColumn)  # noqa: S101 - narrows the type
        weights = self.cells[schema.coded_index[position],]
        if self.table is None:
            return category_weights(column, weights, None), ()
        found = NoEvidence.of(self.rows, self.table, position)
        return category_weights(column, weights, found), found.levels

    def quantiles(self, number: int) -> QuantileBins:
        """Return the ranges between deciles of a numeric column."""
        if self.summary is not None:
            return QuantileBins.of(self.summary.numbers[number])
        return QuantileBins.of(sketch_columns(self.numbers(number)[:, None])[0])

    def numbers(self, number: int) -> Floats:
        """Return a numeric column."""
        assert self.table is not None  # noqa: S101 - narrows the type
        return np.ascontiguousarray(self.table.numbers[:, number])


@dataclass
class _Sums:
    """The sum of an effect over the rows before and over those now, by class."""

    before: Floats
    now: Floats


def _compared(effects: Effects, before: _Side, now: _Side) -> tuple[list[ColumnShift], dict[str, _Sums]]:
    """Return every column before and now, and the sums of every effect."""
    schema = effects.schema
    by_position = {effect.position: effect for effect in effects.features}
    columns: list[ColumnShift] = []
    sums: dict[str, _Sums] = {}
    for position, column in enumerate(schema.columns):
        effect = by_position.get(position)
        if isinstance(column, CategoricalColumn):
            was, _ = before.levels(schema, position)
            is_now, levels = now.levels(schema, position)
            labels = [str(category) for category in column.categories]
            columns.append(ColumnShift.of(column.name, position, labels, was, is_now, levels))
            if effect is not None and effect.table is not None:
                j = schema.coded_index[position]
                sums[column.name] = _Sums(before.cells[j,] @ effect.table, now.cells[j,] @ effect.table)
        elif isinstance(column, NumericColumn):
            number = schema.numeric_index[position]
            ranges, total = _compared_numbers(effect, before, now, number, column)
            columns.append(ColumnShift.of(column.name, position, *ranges))
            if total is not None:
                sums[column.name] = total
    for several in effects.tuples:
        table = several.table.reshape(-1, several.table.shape[-1])
        was, is_now = (side.cells[several.columns].ravel() @ table for side in (before, now))
        sums[several.name] = _Sums(was, is_now)
    return columns, sums


def _compared_numbers(
    effect: FeatureEffect | None, before: _Side, now: _Side, number: int, column: NumericColumn
) -> tuple[tuple[list[str], Floats, Floats], _Sums | None]:
    """Return labels and weights of the ranges of a number before and now, and the sums of its effect."""
    curve = None if effect is None else effect.curve
    bins = before.quantiles(number)
    weights, total = bins.count(now.numbers(number), curve)
    compared = interval_labels(bins.edges.tolist(), column=column), bins.weights, weights
    if effect is None or total is None:
        return compared, None
    earlier = effect.weight @ effect.at_seen
    if before.table is not None:
        _, summed = bins.count(before.numbers(number), curve)
        earlier = earlier if summed is None else summed
    return compared, _Sums(earlier, total)


def _calibration(model: Any, now: _Side, y: Any, position: int) -> Calibration:
    """Judge the probabilities of labelled rows."""
    table = now.table
    assert table is not None  # noqa: S101 - narrows the type
    labels = np.asarray(y)
    if labels.shape != (len(table),):
        raise InputError(f"there are {len(table)} rows and labels of shape {labels.shape}: give one per row")
    foreign = sorted({str(label) for label in np.unique(labels).tolist()} - set(map(str, model.classes_)))
    if foreign:
        raise InputError(f"there is no class {foreign[0]!r}: the model has {model.classes_.tolist()}")
    log_proba = log_posterior(model.scores_.joint_log_scores(table))
    others = np.delete(log_proba, position, axis=1)
    log_odds = log_proba[:, position] - np.logaddexp.reduce(others, axis=1)
    schema = table.schema
    bins: dict[str, Any] = {}
    for column_position, column in enumerate(schema.columns):
        if isinstance(column, CategoricalColumn):
            bins[column.name] = table.codes[:, schema.coded_index[column_position]].astype(np.int64)
        elif isinstance(column, NumericColumn):
            j = schema.numeric_index[column_position]
            number = now.numbers(j)
            codes = np.searchsorted(now.quantiles(j).edges, number, side="left")
            bins[column.name] = np.where(np.isnan(number), codes.max(initial=0) + 1, codes)
    return Calibration.of(log_odds, (labels == model.classes_[position]).astype(np.float64), bins)
