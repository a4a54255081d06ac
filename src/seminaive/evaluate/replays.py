"""Replays: everything that ``fit`` does, done again on bootstrap samples, and on all but a few rows."""

import base64
import json
import tempfile
import warnings
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from seminaive.arrays import Floats, Indices
from seminaive.errors import InputError
from seminaive.evaluate.fingerprints import describe, fingerprint, set_random_states, stable_seed
from seminaive.evaluate.one_thread import one_thread
from seminaive.evaluate.readable_fit import EffectGrid, as_pandas, effects_on_grid, kept_terms_of
from seminaive.evaluate.repetitions import run_repetitions
from seminaive.evaluate.replay_folds import last_step, replay_folds

if TYPE_CHECKING:
    from collections.abc import Callable

# A class is absent from a sample with a chance of e^-m where m rows have it: 100 draws without it are no
# chance.
_MOST_DRAWS = 100
# Share of the replays that may fail: beyond, those that are left are no fair sample.
_MOST_FAILED = 0.2


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """What is replayed: rows, their classes, and what belongs together.

    Parameters
    ----------
    X : frame or array
    labels : ndarray of shape (n_rows,)
        As given.
    classes : ndarray of shape (n_classes,)
        Sorted.
    truth : ndarray of shape (n_rows,)
        Position of each row's class.
    groups : ndarray of shape (n_rows,)
        Number of each row's group; its position where rows stand alone.
    weight : ndarray of shape (n_rows,) or None
    grid : EffectGrid
        Values of each column at which effects are read.
    """

    X: Any
    labels: npt.NDArray[Any]
    classes: npt.NDArray[Any]
    truth: Indices
    groups: Indices
    weight: Floats | None
    grid: EffectGrid

    @property
    def weights(self) -> Floats:
        """The weight of each row, 1 where rows are not weighted."""
        return np.ones(len(self.truth)) if self.weight is None else self.weight

    @property
    def is_grouped(self) -> bool:
        """Whether some rows belong together."""
        return len(np.unique(self.groups)) < len(self.groups)

    def parts(self, kind: str, number: int, among: int, seed: int, of: str) -> tuple[Indices, Indices]:
        """Return the rows that a replay learns from, and those that it predicts.

        Parameters
        ----------
        kind : {"bootstrap", "fold"}
        number : int
            Of the sample, or of the fold; those of the second repetition follow those of the first.
        among : int
            Number of samples, or of folds in a repetition.
        of : str
            What the replay is of, for a results file.
        """
        del of
        every = np.arange(len(self.truth))
        if kind == "bootstrap":
            return self.draw(stable_seed(seed, kind, number)), every
        repeat, fold = divmod(number, among)
        held_out = self.folds(among, stable_seed(seed, kind, repeat)) == fold
        return every[~held_out], every[held_out]

    def folds(self, n_folds: int, seed: int) -> Indices:
        """Deal rows to folds, groups as a whole and the classes evenly."""
        kind, groups = (StratifiedGroupKFold, self.groups) if self.is_grouped else (StratifiedKFold, None)
        rule = kind(n_folds, shuffle=True, random_state=seed % 2**31)
        fold_of = np.empty(len(self.truth), dtype=np.int64)
        with warnings.catch_warnings():
            # A class rarer than the number of folds is simply absent from some of them.
            warnings.filterwarnings("ignore", message="The least populated class")
            for fold, (_, held_out) in enumerate(rule.split(self.truth, self.truth, groups)):
                fold_of[held_out] = fold
        return fold_of

    def draw(self, seed: int) -> Indices:
        """Draw as many groups as there are, until every class is drawn, and return their rows."""
        random = np.random.default_rng(seed)
        order = np.argsort(self.groups, kind="stable")
        ends = np.cumsum(np.bincount(self.groups))
        members = np.split(order, ends[:-1])
        for _ in range(_MOST_DRAWS):
            drawn = random.integers(0, len(members), len(members))
            rows = np.concatenate([members[group] for group in drawn.tolist()])
            if len(np.unique(self.truth[rows])) == len(self.classes):
                return rows
        rarest = self.classes[np.bincount(self.truth).argmin()]
        raise InputError(
            f"{_MOST_DRAWS} bootstrap samples in a row lack a class, {str(rarest)!r} being the rarest: leave "
            "it out, join it with another class, or add rows of it."
        )


@dataclass(frozen=True, eq=False)
class Replays:
    """What fits to all rows, to bootstrap samples and to all but a few rows say about every row.

    Parameters
    ----------
    apparent : ndarray of shape (n_rows, n_classes)
        Probabilities of the fit to all rows.
    counts : ndarray of shape (n_replays, n_rows)
        How often each replay drew each row.
    probabilities : ndarray of shape (n_replays, n_rows, n_classes)
        Probabilities of each replay's fit.
    held_out : ndarray of shape (n_repeats, n_rows, n_classes)
        Probabilities of fits that were made without the row, in each repetition of cross-validation.
    kept : list of lists of str
        The terms that the fit to all rows kept and, after it, those of each replay; empty where the model
        does not tell.
    effects : ndarray of shape (1 + n_replays, n_points, n_classes)
        Effects at the points of the grid, first of the fit to all rows; of no points where the model does not
        tell.
    failures : tuple of str
        What replays that failed said.
    """

    rows: TrainingRows
    apparent: Floats
    counts: Indices
    probabilities: Floats
    held_out: Floats
    kept: list[list[str]]
    effects: Floats
    failures: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.counts)


def run_replays(
    model: Any,
    rows: TrainingRows,
    *,
    n_replays: int,
    n_folds: int,
    n_repeats: int,
    random_state: int,
    path: str | Path | None = None,
    n_jobs: int = 1,
    progress: bool = True,
) -> Replays:
    """Fit a classifier to all rows, clones of it to bootstrap samples, and others to all but each fold.

    Parameters
    ----------
    model : classifier
    n_replays, n_folds, n_repeats, random_state, path, n_jobs, progress
        As of `validate`.
    """
    first = clone(model)
    set_random_states(first, stable_seed(random_state, "all rows"))
    _fit(first, rows, np.arange(len(rows.truth)), has_copies=False)
    of_all = _record(first, rows, np.arange(len(rows.truth)))
    table = fingerprint(as_pandas(rows.X), rows.labels, rows.weight)
    described = f"{describe(model)}; {table}; groups {describe(rows.groups)}"
    plan = [("bootstrap", number, n_replays) for number in range(n_replays)]
    plan += [("fold", number, n_folds) for number in range(n_folds * n_repeats)]
    units = [
        {"kind": kind, "number": number, "among": among, "seed": random_state, "of": described}
        for kind, number, among in plan
    ]
    with tempfile.TemporaryDirectory(prefix="seminaive-") as folder:
        work: Callable[..., list[dict[str, Any]]] = partial(_replay, model, rows)
        if joblib.effective_n_jobs(n_jobs) > 1:
            stored = Path(folder) / "rows.joblib"
            joblib.dump((model, rows), stored)
            work = partial(_replay_stored, str(stored))
        found = run_repetitions(units, work, path=path, n_jobs=n_jobs, progress=progress)
    return _gathered(rows, of_all, found.to_dict("records"))


@lru_cache(maxsize=1)
def _stored(path: str) -> tuple[Any, TrainingRows]:
    stored: tuple[Any, TrainingRows] = joblib.load(path)
    return stored


def _replay_stored(path: str, **unit: Any) -> list[dict[str, Any]]:
    """Do one replay in another process, which reads the table once."""
    return _replay(*_stored(path), **unit)


def _replay(model: Any, rows: TrainingRows, **unit: Any) -> list[dict[str, Any]]:
    """Fit a clone to a bootstrap sample or to all but a fold, and ask it about all rows or about the fold."""
    drawn, wanted = rows.parts(**unit)
    seed = stable_seed(unit["seed"], unit["kind"], unit["number"])
    fitted = clone(model)
    set_random_states(fitted, seed)
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore")  # the fit to all rows has warned
        try:
            _fit(fitted, rows, drawn, has_copies=unit["kind"] == "bootstrap")
            return [_record(fitted, rows, wanted)]
        except Exception as error:  # noqa: BLE001 - whatever a model raises costs its replay only
            return [{"failure": f"{type(error).__name__}: {' '.join(str(error).split())}"[:500]}]


def _fit(model: Any, rows: TrainingRows, drawn: Indices, *, has_copies: bool) -> None:
    """Fit a model to some rows, with their weights and groups where there are some."""
    groups = rows.groups[drawn] if rows.is_grouped else None
    inside: dict[str, Any] = dict(replay_folds(model, drawn, groups, has_copies=has_copies))
    if rows.weight is not None:
        prefix, estimator = last_step(model)
        if not has_fit_parameter(estimator, "sample_weight"):
            raise InputError(f"{type(estimator).__name__} takes no row weights: leave sample_weight out.")
        inside[f"{prefix}sample_weight"] = rows.weight[drawn]
    model.fit(_safe_indexing(rows.X, drawn), rows.labels[drawn], **inside)


def _record(model: Any, rows: TrainingRows, wanted: Indices) -> dict[str, Any]:
    """Write down what a fitted model says about some rows, as text that a results file can hold.

    Single precision is enough, and the same whether a replay was read from a file or not.
    """
    probabilities = np.zeros((len(wanted), len(rows.classes)))
    known = np.searchsorted(rows.classes, model.classes_)
    probabilities[:, known] = model.predict_proba(_safe_indexing(rows.X, wanted))
    record = {"failure": "", "probabilities": _packed(probabilities)}
    if len(wanted) == len(rows.truth):
        record["kept"] = json.dumps(kept_terms_of(model))
        record["effects"] = _packed(effects_on_grid(model, rows.X, rows.grid, len(rows.classes)))
    return record


def _packed(values: npt.NDArray[Any]) -> str:
    return base64.b64encode(np.asarray(values, dtype="<f4").tobytes()).decode("ascii")


def _unpacked(text: str, n_classes: int) -> Floats:
    values = np.frombuffer(base64.b64decode(text), dtype="<f4").astype(np.float64)
    return values.reshape(-1, n_classes)


def _gathered(rows: TrainingRows, of_all: dict[str, Any], found: list[dict[Any, Any]]) -> Replays:
    """Put the records of all replays side by side."""
    failures = tuple(record["failure"] for record in found if record["failure"])
    if len(failures) > _MOST_FAILED * len(found):
        raise InputError(
            f"{len(failures)} of {len(found)} replays failed, so that the others are no fair sample. The "
            f"first said: {failures[0]}"
        )
    n_classes, n_rows = len(rows.classes), len(rows.truth)
    whole = [record for record in found if record["kind"] == "bootstrap" and not record["failure"]]
    draws = [rows.parts(**_unit(record))[0] for record in whole]
    said = np.stack([_unpacked(record["probabilities"], n_classes) for record in (of_all, *whole)])
    said /= said.sum(axis=2, keepdims=True)
    return Replays(
        rows,
        said[0],
        np.stack([np.bincount(drawn, minlength=n_rows) for drawn in draws]),
        said[1:],
        _held_out(rows, [record for record in found if record["kind"] == "fold"]),
        [json.loads(record["kept"]) for record in (of_all, *whole)],
        np.stack([_unpacked(record["effects"], n_classes) for record in (of_all, *whole)]),
        failures,
    )


def _unit(record: dict[Any, Any]) -> dict[str, Any]:
    return {name: record[name] for name in ("kind", "number", "among", "seed", "of")}


def _held_out(rows: TrainingRows, found: list[dict[Any, Any]]) -> Floats:
    """Return the probabilities of rows that were held out, without repetitions of which a fold failed."""
    n_folds = found[0]["among"]
    said = np.zeros((len(found) // n_folds, len(rows.truth), len(rows.classes)))
    for record in found:
        repeat = record["number"] // n_folds
        held_out = rows.parts(**_unit(record))[1]
        said[repeat, held_out] = np.nan
        if not record["failure"]:
            said[repeat, held_out] = _unpacked(record["probabilities"], len(rows.classes))
    whole = said[np.isfinite(said).all(axis=(1, 2))]
    if not len(whole):
        reason = next(record["failure"] for record in found if record["failure"])
        raise InputError(f"a fit failed in every repetition of cross-validation. The first said: {reason}")
    return np.asarray(whole / whole.sum(axis=2, keepdims=True))
