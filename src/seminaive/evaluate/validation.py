"""How a model would fare on new rows: everything that ``fit`` does, replayed on bootstrap samples."""

from pathlib import Path
from typing import Any

import numpy as np

from seminaive.arrays import Indices
from seminaive.errors import InputError
from seminaive.evaluate.jobs import check_jobs
from seminaive.evaluate.labels import classes_of
from seminaive.evaluate.optimism import check_correction
from seminaive.evaluate.readable_fit import EffectGrid, as_pandas
from seminaive.evaluate.replays import TrainingRows, run_replays
from seminaive.evaluate.validation_result import Validation

# With fewer rows a calibration slope is fitted to three or four rows that a replay left out.
_FEWEST_ROWS = 10
# Percentiles of fewer replays say nothing.
_FEWEST_REPLAYS = 10


def validate(
    model: Any,
    X: Any,
    y: Any,
    *,
    n_replays: int = 200,
    n_folds: int = 20,
    n_repeats: int = 2,
    groups: Any = None,
    sample_weight: Any = None,
    method: str = "cross-validation",
    coverage: float = 0.95,
    random_state: int = 0,
    path: str | Path | None = None,
    n_jobs: int = 1,
    progress: bool = True,
) -> Validation:
    """Replay everything that ``fit`` does on bootstrap samples, and say what the model is worth on new rows.

    A clone of the model is fitted to each sample as it would be to all rows: searches, imputation and
    selection inside of a pipeline included. Where the model, or the last step of a pipeline, cross-validates
    by a parameter ``cv``, each replay does so by the same rule among its different rows; copies of a row are
    where the row is, since a search that trains on a row and tests on its copy finds that overfitting pays.

    Parameters
    ----------
    model : classifier
        Any with ``predict_proba``; it is cloned, not fitted.
    X : frame or array
    y : array-like of shape (n_rows,)
    n_replays : int, default=200
        Bootstrap samples, 10 or more, for intervals, bands and stability.
    n_folds, n_repeats : int, default=20 and 2
        Folds of cross-validation and its repetitions, by which optimism is taken off. Fewer folds are faster
        and a little pessimistic where rows are few.
    groups : array-like of shape (n_rows,), default=None
        What belongs together, such as rows of one patient: whole groups are drawn, and left out. A model
        whose ``fit`` takes groups is given them, so that ``fit(X, y, groups=groups)`` is judged; a splitter
        in ``cv`` is given them, too.
    sample_weight : array-like of shape (n_rows,), default=None
        How much each row counts, in fits and measures.
    method : {"cross-validation", ".632+", "harrell"}, default="cross-validation"
        How optimism is taken off: by rows that fits were made without, by the .632+ rule, or by Harrell's
        bootstrap, which is what `rms::validate` computes. Both bootstraps expect too large a loss where rows
        are few; Harrell's also believes a third of what a model that memorises its rows seems to be worth.
    coverage : float, default=0.95
        Of intervals and bands.
    random_state : int, default=0
        Seed of the samples, and of a model whose ``random_state`` is None.
    path : path, default=None
        Results file: a run that was stopped goes on from there.
    n_jobs : int, default=1
        Processes; -1 uses every core. Results do not depend on it.
    progress : bool, default=True
        Show a bar on a terminal.

    Returns
    -------
    Validation

    Examples
    --------
    A model that has learned its rows by heart, of which no column says anything:

    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> rng = np.random.default_rng(0)
    >>> noise, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    >>> found = validate(KNeighborsClassifier(1), noise, y, n_replays=10)
    >>> found.summary.set_index("measure").loc["brier", ["apparent", "corrected"]].round(1).tolist()
    [0.0, 0.5]
    """
    check_jobs(n_jobs)
    check_correction(method, coverage)
    if not isinstance(n_replays, int | np.integer) or n_replays < _FEWEST_REPLAYS:
        raise InputError(f"n_replays is a number of {_FEWEST_REPLAYS} or more, got {n_replays!r}")
    if not isinstance(random_state, int | np.integer) or random_state < 0:
        raise InputError(f"random_state is 0 or a positive number, got {random_state!r}")
    if not hasattr(model, "predict_proba"):
        raise InputError(
            f"{type(model).__name__} gives no probabilities: pass a classifier with predict_proba"
        )
    rows = _training_rows(X, y, groups, sample_weight)
    replays = run_replays(
        model,
        rows,
        n_replays=int(n_replays),
        n_folds=_checked_folds(n_folds, n_repeats, rows),
        n_repeats=int(n_repeats),
        random_state=int(random_state),
        path=path,
        n_jobs=n_jobs,
        progress=progress,
    )
    return Validation(replays, method, coverage)


def _checked_folds(n_folds: int, n_repeats: int, rows: TrainingRows) -> int:
    """Return the number of folds, no more than there are groups."""
    if not isinstance(n_folds, int | np.integer) or n_folds < 2:
        raise InputError(f"n_folds is a number of 2 or more, got {n_folds!r}")
    if not isinstance(n_repeats, int | np.integer) or n_repeats < 1:
        raise InputError(f"n_repeats is a number of 1 or more, got {n_repeats!r}")
    # Stratified folds need a class that is at least as large.
    return min(int(n_folds), len(np.unique(rows.groups)), int(np.bincount(rows.truth).max()))


def _training_rows(X: Any, y: Any, groups: Any, sample_weight: Any) -> TrainingRows:
    """Check what is to be replayed."""
    labels, classes, truth = classes_of(y)
    X = X if hasattr(X, "shape") else as_pandas(X)
    if X.shape[0] != len(labels):
        raise InputError(f"expected one label per row, got {X.shape[0]} rows and {len(labels)} labels")
    if len(labels) < _FEWEST_ROWS:
        raise InputError(f"{len(labels)} rows are too few to replay a fit on: {_FEWEST_ROWS} are the least")
    if len(classes) < 2:
        raise InputError(f"every row is of the class {classes[0]!s}: a classifier needs two classes or more")
    numbers = _checked_groups(groups, len(labels))
    for position, label in enumerate(classes.tolist()):
        if len(np.unique(numbers[truth == position])) < 2:
            what = "row" if groups is None else "group"
            raise InputError(
                f"one {what} only has the class {label!r}, and no model could learn it from others: leave "
                "it out, or join it with another class"
            )
    weight = None
    if sample_weight is not None:
        weight = np.asarray(sample_weight, dtype=np.float64)
        if weight.shape != labels.shape or not np.isfinite(weight).all() or (weight <= 0).any():
            raise InputError("sample_weight has one positive number per row: leave rows of weight 0 out")
    return TrainingRows(X, labels, classes, truth, numbers, weight, EffectGrid.of(X))


def _checked_groups(groups: Any, n_rows: int) -> Indices:
    """Return the number of each row's group."""
    if groups is None:
        return np.arange(n_rows)
    names, numbers = np.unique(np.asarray(groups), return_inverse=True)
    if numbers.shape != (n_rows,):
        raise InputError(f"groups name one group per row: expected {n_rows}, got shape {numbers.shape}")
    sizes = np.bincount(numbers)
    if sizes.max() > n_rows / 2:
        raise InputError(
            f"group {names[sizes.argmax()]!s} has {sizes.max()} of {n_rows} rows: what a model says of it "
            "cannot be learned from the fewer others. Use smaller groups"
        )
    return numbers
