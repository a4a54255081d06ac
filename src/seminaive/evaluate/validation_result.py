"""What the replays of a fit say, with intervals: measures, calibration, net benefit, instability, effects."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import entr

from seminaive.arrays import Floats, Indices
from seminaive.errors import InputError
from seminaive.evaluate.calibration import smooth_frequency
from seminaive.evaluate.net_benefit import THRESHOLDS, net_benefit, net_benefit_of_all
from seminaive.evaluate.optimism import Corrected, Correction, check_correction
from seminaive.evaluate.readable_fit import as_pandas
from seminaive.evaluate.replays import Replays
from seminaive.evaluate.validation_measures import LOG_LOSS, Measure, measures_for

# Points of a calibration curve, and groups of a number in `subgroups`.
_N_POINTS, _N_RANGES = 50, 4


@dataclass(frozen=True, eq=False)
class Validation:
    """What a model is worth on new rows, by replays of its fit.

    Parameters
    ----------
    replays : Replays
        What the fit to all rows and those to bootstrap samples said.
    method : {"cross-validation", ".632+", "harrell"}, default="cross-validation"
        How optimism is taken off.
    coverage : float, default=0.95
        Of intervals and bands.

    Attributes
    ----------
    summary : DataFrame
        One row per ``measure``: ``apparent`` (on the training rows), ``optimism``, ``corrected`` (to be
        expected of new rows), ``low`` and ``high``. The measures are log loss, Brier score, AUC (with more
        than two classes the mean of one against the rest), and the slope of log probabilities that would
        recalibrate them (1 if calibrated, below 1 if too sure). With two classes also the intercept beside
        that slope, and the calibration in the large, the intercept where the slope is held at 1.
    instability : DataFrame
        One row per training row, and class where there are more than two: ``row``, ``probability`` of the fit
        to all rows, ``low`` and ``high`` (percentiles over the replays), ``mean_change`` (mean absolute
        difference of a replay) and ``other_class``, the share of replays that choose another class.
    kept : DataFrame
        ``term``, ``share`` of the replays that kept it, and whether the fit to all rows did (``kept``).
    effects : DataFrame
        ``column``, ``value``, ``effect``, ``low``, ``high`` (percentiles over the replays), and ``class``
        where there are more than two; effects have mean zero over the training rows of each fit.
    """

    replays: Replays
    method: str = "cross-validation"
    coverage: float = 0.95

    def __post_init__(self) -> None:
        check_correction(self.method, self.coverage)

    def __repr__(self) -> str:
        """Say what was replayed, and its measures."""
        replayed = f"{self.n_rows} rows, {len(self.replays.counts)} replays, optimism by {self.method}"
        return f"Validation of {replayed}:\n{self.summary.to_string(index=False, float_format='%.3f')}"

    @property
    def classes(self) -> npt.NDArray[Any]:
        """The classes, sorted."""
        return self.replays.rows.classes

    @property
    def n_rows(self) -> int:
        """The number of training rows."""
        return len(self.replays.rows.truth)

    @property
    def class_counts(self) -> list[tuple[Any, int]]:
        """The classes with the number of their rows."""
        counts = np.bincount(self.replays.rows.truth, minlength=len(self.classes))
        return list(zip(self.classes.tolist(), counts.tolist(), strict=True))

    @property
    def shares_log_loss(self) -> float:
        """The log loss of a model that knows only the shares of the classes."""
        rows = self.replays.rows
        shares = np.bincount(rows.truth, rows.weights) / rows.weights.sum()
        return float(entr(shares).sum())

    @cached_property
    def summary(self) -> pd.DataFrame:
        """Every measure: apparent, optimism, corrected, and its interval."""
        return self._measured(Correction(self.replays, self.method, self.coverage))

    def _measured(self, correction: Correction) -> pd.DataFrame:
        mix = correction.left_out_weight(LOG_LOSS.statistic, _expected(LOG_LOSS))
        lines = []
        for measure in measures_for(len(self.classes)):
            found = correction(measure.statistic, measure.no_information, mix=mix)
            lines.append((measure.name, *map(float, _columns(found))))
        return pd.DataFrame(lines, columns=["measure", "apparent", "optimism", "corrected", "low", "high"])

    def subgroups(self, column: Any) -> pd.DataFrame:
        """Measure parts of the rows: the values of a column, or ranges of a number between its quartiles.

        Parameters
        ----------
        column : str or array-like of shape (n_rows,)
            A column of the table, or the part that each row belongs to.

        Returns
        -------
        DataFrame
            ``part``, ``rows`` and the columns of `summary`, measure by measure; parts of one class are left
            out.
        """
        parts = _parts_of(self.replays.rows.X, column, len(self.replays.rows.truth))
        found = []
        for part in dict.fromkeys(sorted(parts.dropna().unique(), key=str)):
            among = (parts == part).to_numpy()
            if len(np.unique(self.replays.rows.truth[among])) == len(self.classes):
                frame = self._measured(Correction(self.replays, self.method, self.coverage, among))
                frame.insert(0, "rows", int(among.sum()))
                frame.insert(0, "part", str(part))
                found.append(frame)
        if not found:
            raise InputError("no part of the rows has all classes: choose a column with fewer values")
        return pd.concat(found, ignore_index=True)

    def calibration(self, target: Any = None, *, at: Any = None) -> pd.DataFrame:
        """Return the smooth calibration curve of one class against the others.

        Parameters
        ----------
        target : label, default=None
            The class; None is the last one.
        at : array-like, default=None
            Probabilities; None takes 50 between the first and the last percentile of what the model says.

        Returns
        -------
        DataFrame
            ``probability`` (what the model says), ``apparent`` and ``corrected`` (the frequency of the class
            among rows of which it says so, lowess), ``low`` and ``high``.
        """
        position = self.position_of(target)
        said = self.replays.apparent[:, position]
        if at is None:
            lowest, highest = np.quantile(said, [0.01, 0.99]).tolist()
            at = np.linspace(lowest, highest, _N_POINTS)
        points = np.asarray(at, dtype=np.float64)

        def curve(truth: Indices, probabilities: Floats, weight: Floats) -> Floats:
            return smooth_frequency(
                probabilities[:, position], (truth == position).astype(float), weight, points
            )

        found = self._corrected(curve)
        columns = {
            name: np.clip(value, 0, 1)
            for name, value in zip(("apparent", "corrected", "low", "high"), _values(found), strict=True)
        }
        return pd.DataFrame({"probability": points, **columns})

    def net_benefit(self, target: Any = None, thresholds: Any = THRESHOLDS) -> pd.DataFrame:
        """Return the decision curve: what acting above each threshold of the probability is worth.

        Parameters
        ----------
        target : label, default=None
            The class that is acted upon; None is the last one.
        thresholds : array-like, default=.01, ..., .99

        Returns
        -------
        DataFrame
            ``threshold``, ``apparent``, ``corrected``, ``low``, ``high``, and ``all``, the net benefit of
            acting on every row; that of acting on none is 0.
        """
        position = self.position_of(target)
        at = np.asarray(thresholds, dtype=np.float64)
        if at.ndim != 1 or not ((at > 0) & (at < 1)).all():
            raise InputError("thresholds are probabilities above 0 and below 1")

        def curve(truth: Indices, probabilities: Floats, weight: Floats) -> Floats:
            return net_benefit(truth == position, probabilities[:, position], weight, at)

        found = self._corrected(curve)
        rows = self.replays.rows
        share = float(np.average(rows.truth == position, weights=rows.weights))
        columns = dict(zip(("apparent", "corrected", "low", "high"), _values(found), strict=True))
        return pd.DataFrame({"threshold": at, **columns, "all": net_benefit_of_all(share, at)})

    def _corrected(self, curve: Any) -> Corrected:
        """Correct a curve; left-out rows count at every point as they do in the log loss."""
        correction = Correction(self.replays, self.method, self.coverage)
        return correction(curve, mix=correction.left_out_weight(LOG_LOSS.statistic, _expected(LOG_LOSS)))

    @cached_property
    def instability(self) -> pd.DataFrame:
        """How far the probability of each row moves from replay to replay."""
        said, apparent = self.replays.probabilities, self.replays.apparent
        chosen = apparent.argmax(axis=1)
        other = (said.argmax(axis=2) != chosen).mean(axis=0)
        low, high = np.quantile(said, self._percentiles, axis=0)
        change = np.abs(said - apparent).mean(axis=0)
        shown = range(1, 2) if len(self.classes) == 2 else range(len(self.classes))
        every = np.arange(len(apparent))
        parts = [
            pd.DataFrame(
                {
                    "row": every,
                    "class": self.classes[k],
                    "probability": apparent[:, k],
                    "low": low[:, k],
                    "high": high[:, k],
                    "mean_change": change[:, k],
                    "other_class": other,
                }
            )
            for k in shown
        ]
        return pd.concat(parts, ignore_index=True)

    @cached_property
    def kept(self) -> pd.DataFrame:
        """How often each term was kept, the most often kept first."""
        of_all, *of_replays = self.replays.kept
        names = list(dict.fromkeys([*of_all, *(name for kept in of_replays for name in kept)]))
        shares = [float(np.mean([name in kept for kept in map(set, of_replays)])) for name in names]
        frame = pd.DataFrame(
            {"term": names, "share": shares, "kept": [name in set(of_all) for name in names]}
        )
        return frame.sort_values("share", ascending=False, kind="stable", ignore_index=True)

    @cached_property
    def effects(self) -> pd.DataFrame:
        """What each column says at some of its values, with percentiles over the replays."""
        lines = list(self._effect_lines())
        names = ["column", "value", *(["class"] if len(self.classes) > 2 else []), "effect", "low", "high"]
        return pd.DataFrame(lines, columns=names)

    def _effect_lines(self) -> Iterator[tuple[Any, ...]]:
        values = self.replays.effects
        if not values.shape[1]:
            return
        grid = self.replays.rows.grid
        two = len(self.classes) == 2
        values = values[:, :, 1:] - values[:, :, :1] if two else values
        low, high = np.quantile(values[1:], self._percentiles, axis=0)
        for k, (name, value) in enumerate(zip(grid.names, grid.values, strict=True)):
            for c in range(values.shape[2]):
                of_class = () if two else (self.classes[c],)
                yield (name, value, *of_class, values[0, k, c], low[k, c], high[k, c])

    @property
    def _percentiles(self) -> list[float]:
        beyond = (1 - self.coverage) / 2
        return [beyond, 1 - beyond]

    def position_of(self, target: Any) -> int:
        """Return the position of a class, the last one for None."""
        if target is None:
            return len(self.classes) - 1
        positions = {label: k for k, label in enumerate(self.classes.tolist())}
        if target not in positions:
            raise InputError(f"there is no class {target!r}: the classes are {list(positions)}")
        return positions[target]

    def page(self, path: str | Path, *, title: str = "How sure is it?") -> Path:
        """Write one HTML page with all figures and pictures, which runs no script and loads nothing.

        Parameters
        ----------
        path : path
            Where to write, whole or not at all.
        title : str, default="How sure is it?"
        """
        from seminaive.evaluate.validation_page import write_validation_page

        return write_validation_page(self, path, title)


def _expected(measure: Measure) -> Any:
    """Return what a measure is without information, of one that knows."""
    assert measure.no_information is not None  # noqa: S101 - narrows the type
    return measure.no_information


def _columns(found: Corrected) -> tuple[Any, ...]:
    return found.apparent, found.optimism, found.corrected, found.low, found.high


def _values(found: Corrected) -> tuple[Any, ...]:
    return found.apparent, found.corrected, found.low, found.high


def _parts_of(X: Any, column: Any, n_rows: int) -> pd.Series:
    """Return the part of each row: a value, or a range of a number between its quartiles."""
    if isinstance(column, str):
        frame = as_pandas(X)
        if column not in frame:
            raise InputError(
                f"there is no column {column!r}: the table has {', '.join(map(str, frame.columns))}"
            )
        values = frame[column].reset_index(drop=True)
    else:
        values = pd.Series(np.asarray(column))
        if len(values) != n_rows:
            raise InputError(f"expected one part per row, {n_rows}, got {len(values)}")
    if pd.api.types.is_numeric_dtype(values) and values.nunique() > 2 * _N_RANGES:
        return pd.qcut(values, _N_RANGES, duplicates="drop").astype(object)
    return values.astype(object)
