"""A model of two classes as a list of whole points to be added up by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from seminaive.encode import TableEncoder, frame_like
from seminaive.errors import InputError
from seminaive.explain.reading import class_position, code_labels, effects_of, evidence, interval_labels
from seminaive.explain.segments import best_bands, share_bands
from seminaive.explain.what_matters import largest_effect, together
from seminaive.selection.recalibration import recalibrate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats, Integers
    from seminaive.encode import EncodedTable, Schema
    from seminaive.scores import FeatureEffect


# The mean bands of columns that are not named, and the most numbers between which cuts are tried.
BANDS, MOST_NUMBERS = 8, 1024


@dataclass(frozen=True)
class ScoredFeature:
    """The points of one feature.

    Parameters
    ----------
    position : int
        The column in the schema.
    edges : tuple of float or None
        For numbers: the upper ends of all bands but the last. None for categories.
    labels : tuple of str
        Of the bands, then of a missing number; or of the codes of categories.
    weight : tuple of float
        Training weight of each.
    differs : float
        Standard deviation over the training rows of what rounding and bands change, in log odds.
    largest : float
        The largest such change.
    """

    name: str
    position: int
    edges: tuple[float, ...] | None
    labels: tuple[str, ...]
    points: tuple[int, ...]
    weight: tuple[float, ...]
    differs: float = 0.0
    largest: float = 0.0

    def of(self, codes: Any, numbers: Any) -> Integers:
        """Return the points of cells, given as codes for categories and as numbers else."""
        points = np.array(self.points, dtype=np.int64)
        if self.edges is None:
            of_codes: Integers = points[codes]
            return of_codes
        absent = np.isnan(numbers)
        bands = np.searchsorted(np.array(self.edges), np.where(absent, 0.0, numbers), side="left")
        return np.where(absent, points[-1], points[bands])


@dataclass(frozen=True)
class Scorecard:
    """Whole points per value, whose sum is a probability: ``log odds = (score - even) log(2) / to_double``.

    Make it with `scorecard`.

    Parameters
    ----------
    features : tuple of ScoredFeature
    schema : Schema
    target, other : label
        The class that points speak for, and the other one.
    swapped : bool
        Whether ``target`` is the first of the model's classes.
    even : float
        The score at which both classes are equally probable.
    to_double : float
        Points that double the odds.
    differs : float
        Standard deviation of the difference in log odds from the model's features, over the training rows.
    left_out : float
        Standard deviation of the pairs and larger tuples of the model, which a scorecard leaves out.
    largest : float
        The largest difference in log odds from the model, pairs included: on the rows that were given, or
        else a bound for the training rows, without the ten outermost numbers of each column, which the
        summary of training does not know.
    calibrated : str
        What calibration on rows changed; empty without.
    """

    features: tuple[ScoredFeature, ...]
    schema: Schema
    target: Any
    other: Any
    swapped: bool
    even: float
    to_double: float
    differs: float
    left_out: float
    largest: float
    calibrated: str = ""

    @property
    def table(self) -> Any:
        """Return all points as a frame: ``feature``, ``value``, ``points``, ``weight``."""
        return frame_like(
            None,
            {
                "feature": [feature.name for feature in self.features for _ in feature.points],
                "value": [label for feature in self.features for label in feature.labels],
                "points": [points for feature in self.features for points in feature.points],
                "weight": [weight for feature in self.features for weight in feature.weight],
            },
        )

    def score(self, X: Any) -> Integers:
        """Return the sum of the points of each row.

        Parameters
        ----------
        X : frame, array or list of rows
            The training columns: by name, or in the training order where there are no names.
        """
        table = TableEncoder(self.schema).encode(X)
        coded, numeric = self.schema.coded_index, self.schema.numeric_index
        total = np.zeros(len(table), dtype=np.int64)
        for feature in self.features:
            codes = table.codes[:, coded[feature.position]] if feature.edges is None else None
            numbers = None if feature.edges is None else table.numbers[:, numeric[feature.position]]
            total += feature.of(codes, numbers)
        return total

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities that the scores stand for, in the order of the model's classes.

        Parameters
        ----------
        X : frame, array or list of rows
        """
        log_odds = (self.score(X) - self.even) * np.log(2) / self.to_double
        both = np.stack([expit(-log_odds), expit(log_odds)], axis=1)
        return both[:, ::-1] if self.swapped else both

    def __str__(self) -> str:
        width = max(len(label) for feature in self.features for label in feature.labels)
        lines = [f"Points for {self.target} (against {self.other})"]
        for feature in self.features:
            lines.append(feature.name)
            lines += [
                f"  {label:<{width}} {points:>5}"
                for label, points in zip(feature.labels, feature.points, strict=True)
            ]
        lines.append(
            f"A score of {self.even:.1f} is a probability of 0.5; {self.to_double:g} points double the odds."
        )
        most = max(self.features, key=lambda feature: feature.differs)
        lines.append(
            f"Rounding and bands change the log odds by {self.differs:.2g} (standard deviation over the "
            f"training rows), most of all in {most.name}, by {most.differs:.2g}; pairs that are left out "
            f"have {self.left_out:.2g}. The log odds of no row differ by more than {self.largest:.2g} from "
            "those of the model."
        )
        return "\n".join([*lines, self.calibrated] if self.calibrated else lines)


def scorecard(
    model: Any,
    *,
    target: Any = None,
    points_to_double: float = 20,
    bands: int | Mapping[str, int] = BANDS,
    X: Any = None,
    calibrate: tuple[Any, Any] | None = None,
) -> Scorecard:
    """Return a model of two classes as whole points.

    The lowest value of each feature has 0 points. Numbers are cut into the bands whose means differ least
    from the curve, in squares over the training rows; pairs and larger tuples are left out.

    Parameters
    ----------
    model : a fitted additive model of two classes
    target : label, default=None
        The class that points speak for; None is the second one.
    points_to_double : float, default=20
        Points that double the odds: more of them round less.
    bands : int or mapping of column to int, default=8
        Bands of a number, in the mean over the columns of numbers: a curve that needs more, such as that of
        the capital gains in the adult table, which jumps up and down twenty times, gets up to twice as many,
        and a straight flat one fewer, so that all curves together differ least. A mapping limits the bands of
        the columns that it names, and 8 per column are shared among the others. The printed card names the
        column that loses most.
    X : table, default=None
        Rows whose numbers the bands are found on, such as the training table. None takes the summary of
        training, which knows no extreme number: the 10 smallest and the 10 largest of a column count as the
        10th, so that with few rows a steep end of a curve is flattened.
    calibrate : table and labels, default=None
        Rows on which the two constants, the even score and the points that double the odds, are fitted anew
        by logistic regression, for instance because pairs were left out. The probabilities are then not the
        model's.

    Examples
    --------
    >>> from seminaive import NaiveBayes
    >>> X, y = [["wet"]] * 40 + [["dry"]] * 40, ["slip"] * 30 + ["hold"] * 40 + ["slip"] * 10
    >>> card = scorecard(NaiveBayes().fit(X, y))
    >>> card.table[["value", "points"]]
                   value  points
    0                dry       0
    1                wet      60
    2  missing or unseen      30
    >>> card.score([["wet"], ["dry"]])
    array([60,  0])
    """
    effects = effects_of(model)
    if effects.n_classes != 2:
        raise InputError(
            f"a scorecard is for two classes, the model has {effects.n_classes}: draw a NomogramDisplay, or "
            "fit one model per class"
        )
    named = _named_bands(model, bands)
    mean = BANDS if isinstance(bands, Mapping) else bands
    if points_to_double <= 0 or min([mean, *named.values()]) < 1:
        raise InputError(
            f"points_to_double is above 0 and bands at least 1, got {points_to_double!r} and {bands!r}"
        )
    scored_class = class_position(model, target)
    features = effects.features
    if X is not None:
        rows = TableEncoder(effects.schema).encode(X)
        features = tuple(_at_rows(effects.schema, effect, rows) for effect in features)
    bands_of = _bands_of(features, scored_class, named, mean)
    factor = points_to_double / np.log(2)
    found = [
        _scored(effects.schema, effect, scored_class, bands_of.get(effect.name, 1), factor)
        for effect in features
    ]
    start = float(evidence(effects.intercept, scored_class)) + sum(lowest for _, lowest in found)
    card = Scorecard(
        tuple(scored for scored, _ in found),
        effects.schema,
        model.classes_[scored_class],
        model.classes_[1 - scored_class],
        scored_class == 0,
        -start * factor,
        float(points_to_double),
        float(np.sqrt(sum(scored.differs**2 for scored, _ in found))),
        together(effects.tuples),
        sum(scored.largest for scored, _ in found)
        + sum(largest_effect(effect, scored_class) for effect in effects.tuples),
    )
    if X is not None:
        exact = evidence(effects.joint_log_scores(rows), scored_class)
        log_odds = (card.score(X) - card.even) / factor
        card = replace(card, largest=float(np.abs(log_odds - exact).max(initial=0.0)))
    return card if calibrate is None else _calibrated(card, model, *calibrate)


def _bands_of(
    features: Sequence[FeatureEffect], scored_class: int, named: dict[str, int], mean: int
) -> dict[str, int]:
    """Return how many bands each number gets: those that are named, and ``mean`` per other one, shared."""
    sharing = [effect for effect in features if effect.curve is not None and effect.name not in named]
    shares = share_bands([(effect, evidence(effect.at_seen, scored_class)) for effect in sharing], mean)
    return named | {effect.name: share for effect, share in zip(sharing, shares, strict=True)}


def _scored(
    schema: Schema, effect: FeatureEffect, scored_class: int, bands: int, factor: float
) -> tuple[ScoredFeature, float]:
    """Return a feature as points, ``factor`` per unit of the log odds, and the effect that has 0 points."""
    edges, labels, values, weight = _values(schema, effect, scored_class, bands)
    seen = weight > 0 if (weight > 0).any() else np.ones(len(weight), dtype=bool)
    lowest = float(values[seen].min())
    points = np.round((values - lowest) * factor).astype(np.int64)
    scored = ScoredFeature(
        effect.name, effect.position, edges, labels, tuple(points.tolist()), tuple(weight.tolist())
    )
    exact = evidence(effect.at_seen, scored_class)
    cells = (effect.seen.astype(np.int64), None) if edges is None else (None, effect.seen)
    change = scored.of(*cells) / factor + lowest - exact
    largest = float(np.abs(change[effect.weight > 0]).max(initial=0.0))
    lost = _mean_square(change, effect.weight)
    return replace(scored, differs=float(np.sqrt(lost)), largest=largest), lowest


def _named_bands(model: Any, bands: int | Mapping[str, int]) -> dict[str, int]:
    """Return the largest number of bands of the columns for which it is given."""
    if not isinstance(bands, Mapping):
        return {}
    names = model.schema_.names
    foreign = [name for name in bands if name not in names]
    if foreign:
        raise InputError(f"bands names {foreign[0]!r}, which is not a column: {list(names)}")
    return dict(bands)


def _at_rows(schema: Schema, effect: FeatureEffect, rows: EncodedTable) -> FeatureEffect:
    """Return the effect of a number with the numbers of some rows in place of those of the summary."""
    if effect.curve is None:
        return effect
    numbers = rows.numbers[:, schema.numeric_index[effect.position]]
    absent = np.isnan(numbers)
    seen, counts = np.unique(numbers[~absent], return_counts=True)
    if len(seen) > MOST_NUMBERS:
        group = np.arange(len(seen)) * MOST_NUMBERS // len(seen)
        total = np.bincount(group, counts)
        seen, counts = np.bincount(group, counts * seen) / total, total
    return replace(effect, seen=np.append(seen, np.nan), weight=np.append(counts, absent.sum()).astype(float))


def _values(
    schema: Schema, effect: FeatureEffect, scored_class: int, bands: int
) -> tuple[tuple[float, ...] | None, tuple[str, ...], Floats, Floats]:
    """Return edges, labels, effects and training weights of a feature's values."""
    if effect.curve is None:
        labels = tuple(code_labels(schema, effect.position))
        return None, labels, evidence(effect.at_seen, scored_class), effect.weight
    edges, means = best_bands(effect, evidence(effect.at_seen, scored_class), bands)
    values = np.append(means, evidence(effect.curve.missing, scored_class))
    band = np.searchsorted(np.array(edges), effect.seen[:-1], side="left")
    weight = np.append(np.bincount(band, effect.weight[:-1], minlength=len(means)), effect.weight[-1])
    shown = interval_labels(edges, column=schema.columns[effect.position])
    return tuple(edges), (*shown, "missing"), values, weight


def _mean_square(values: Floats, weight: Floats) -> float:
    total = float(weight.sum())
    if not total:
        return 0.0
    mean = weight @ values / total
    return float(weight @ (values - mean) ** 2 / total)


def _calibrated(card: Scorecard, model: Any, X: Any, y: Any) -> Scorecard:
    """Return the card with its two constants fitted to rows by Newton's method."""
    is_target = (np.asarray(y) == card.target).astype(np.int64)
    score = card.score(X).astype(np.float64)
    found = recalibrate(score[:, None], is_target, np.ones_like(score), 2)
    if not (found.slope > 0 and np.ptp(score) > 0):
        raise InputError(
            "on these rows the score does not rise with the class: the scorecard does not fit them, so it "
            "cannot be calibrated"
        )
    even = -found.intercept[0] / found.slope
    before = card.predict_proba(X)
    changed = replace(card, even=float(even), to_double=float(np.log(2) / found.slope))
    losses = [
        _log_loss(proba, np.asarray(y), model.classes_)
        for proba in (before, changed.predict_proba(X), model.predict_proba(X))
    ]
    text = (
        f"Calibrated on {len(score):,} rows: log loss {losses[0]:.4f} before, {losses[1]:.4f} after; the "
        f"model's is {losses[2]:.4f}. The probabilities are no longer the model's."
    )
    return replace(changed, calibrated=text)


def _log_loss(proba: Floats, y: Any, classes: Any) -> float:
    of_label = proba[np.arange(len(y)), np.searchsorted(classes, y)]
    return float(-np.log(np.maximum(of_label, 1e-300)).mean())
