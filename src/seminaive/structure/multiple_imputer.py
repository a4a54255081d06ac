"""Several completions of a table, so that what missing cells leave unknown can be seen."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from seminaive.encode.table_tags import by_name, check_columns
from seminaive.errors import InputError
from seminaive.models.base import unchanged_on_failure
from seminaive.models.parameters import LARGEST_WHOLE, N_IMPUTATIONS, check_whole
from seminaive.structure import IncompleteColumns, learn_chain
from seminaive.structure.imputer_base import Imputer, open_dense

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from seminaive.arrays import Indices
    from seminaive.encode import EncodedTable
    from seminaive.structure.chained_equations import FittedChain


@dataclass(eq=False, repr=False)
class MultipleImputer(Imputer):
    """Completes a table several times by chained equations, or by draws from a fitted model.

    Every incomplete column is redrawn in turn given the others: a category from a table of probabilities
    given the columns that tell most about it, a number from a linear regression. Each completion first draws
    these conditionals from their posterior, so that the completions differ as much as the missing cells are
    unknown; Rubin's rules (`seminaive.statistics.pool_estimates`, `PooledClassifier`) need that.

    Where ``fit`` is given labels, they are one more column. ``completions(X, y)`` draws given the labels,
    which is right for training rows: an imputation that leaves the label out weakens every association with
    it. ``transform`` and ``completions(X)`` do not see labels; there the label is a missing cell of every
    row, drawn along with the others and then dropped. In a pipeline, training rows are completed given their
    labels (``fit_transform``) and rows to be predicted without (``transform``).

    Parameters
    ----------
    n_imputations : int, default=5
        How many completions.
    source : fitted model or None, default=None
        What draws the cells: anything with ``draw_missing_cells(X, n_draws, random_state)`` that gives tables
        like X, such as a fitted Bayesian network; ``completions(X, y)`` also asks it to take ``y``. None
        means chained equations. A meta-estimator that clones the imputer would unfit the source: give it
        ``sklearn.frozen.FrozenEstimator(source)``.
    n_sweeps : int, default=10
        How often every incomplete column is redrawn before a completion is read off.
    random_state : int, RandomState or None, default=None
        Decides the draws: after ``fit``, the same table is always completed in the same ways.

    Attributes
    ----------
    chains_ : list of FittedChain
        The conditionals of each completion, where there is no source.

    Examples
    --------
    The second column repeats the first, and so do its missing cells:

    >>> X = [["a", "a"], ["b", "b"], ["a", None], ["b", None]] * 50
    >>> imputer = MultipleImputer(n_imputations=2, random_state=0).fit(X)
    >>> [table[2:4] for table in imputer.completions(X)]
    [[['a', 'a'], ['b', 'b']], [['a', 'a'], ['b', 'b']]]
    """

    n_imputations: int = N_IMPUTATIONS
    _: KW_ONLY
    source: Any = None
    n_sweeps: int = 10
    random_state: Any = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn how each column depends on the others; a source has learned that already.

        Parameters
        ----------
        X : frame, array or list of rows
        y : array-like of shape (n_rows,), default=None
            Class labels: text, whole numbers or booleans.
        """
        check_whole("n_imputations", self.n_imputations, "a number of completions, 1 or more", low=1)
        check_whole("n_sweeps", self.n_sweeps, "a number of sweeps, 1 or more", low=1)
        with unchanged_on_failure(self):
            self.seed_ = check_random_state(self.random_state).randint(LARGEST_WHOLE)
            if self.source is not None:
                self._check_source(X)
                return self
            rows = self._encode_training(X, y, sample_weight)
            columns = self._columns(rows.table, rows.labels, None)
            self.cuts_ = columns.cuts
            chain = learn_chain(columns, rows.row_weight)
            self.chains_ = [
                chain.run(columns.copy(), self.n_sweeps, generator, rows.row_weight)
                for generator in self._generators(0)
            ]
        return self

    def _check_source(self, X: Any) -> None:
        open_dense(X)
        check_columns(self, X, reset=True)
        if not callable(getattr(self.source, "draw_missing_cells", None)):
            raise InputError(
                f"source needs a method draw_missing_cells(X, n_draws, random_state), which "
                f"{type(self.source).__name__} has not: give a fitted network, or None for chained equations"
            )
        check_is_fitted(self.source)

    def _columns(self, table: EncodedTable, labels: Indices | None, cuts: Any) -> IncompleteColumns:
        has_classes = hasattr(self, "classes_")
        return IncompleteColumns.of(
            table.codes,
            table.cardinalities,
            table.numbers,
            labels=labels if has_classes else None,
            n_classes=len(self.classes_) if has_classes else 0,
            cuts=cuts,
        )

    def _generators(self, purpose: int) -> list[np.random.Generator]:
        """Give one generator per completion; those of fitting and of drawing have nothing in common."""
        return [np.random.default_rng([self.seed_, purpose, d]) for d in range(self.n_imputations)]

    def completions(self, X: Any, y: Any = None) -> Iterator[Any]:
        """Iterate over the completions of a table, each a table of the same library.

        Parameters
        ----------
        X : frame, array or list of rows
            The training columns.
        y : array-like of shape (n_rows,), default=None
            Labels that the draws are to know; for training rows only. Needs an imputer that was fitted with
            labels.
        """
        check_is_fitted(self, "seed_")
        X = by_name(self, X)
        if self.source is not None:
            return iter(self._draws_of_source(X, y))
        if y is not None and not self.knows_labels:
            raise InputError(
                "the imputer was fitted without labels and cannot draw given them: pass y to fit as well"
            )
        table = self._encode(X)
        labels = None if y is None else self._labels(y)
        if labels is not None and len(labels) != len(table):
            raise InputError(f"X has {len(table)} rows and y has {len(labels)} labels: pass one per row")
        columns = self._columns(table, labels, self.cuts_)
        return (
            self._completion(X, columns, chain, generator)
            for chain, generator in zip(self.chains_, self._generators(1), strict=True)
        )

    def _completion(
        self, X: Any, columns: IncompleteColumns, chain: FittedChain, generator: np.random.Generator
    ) -> Any:
        drawn = columns.copy()
        chain.draw(drawn, self.n_sweeps, generator)
        return self._written(X, drawn.codes[: drawn.n_coded].T, drawn.numbers.T)

    @property
    def knows_labels(self) -> bool:
        """Whether ``completions`` can be given labels: fitted with some, or from a source that takes them."""
        if self.source is None:
            return hasattr(self, "classes_")
        return "y" in signature(self.source.draw_missing_cells).parameters

    def _draws_of_source(self, X: Any, y: Any) -> Any:
        check_columns(self, X, reset=False)
        draw = self.source.draw_missing_cells
        given = {"n_draws": self.n_imputations, "random_state": self.seed_}
        if y is None:
            return draw(X, **given)
        if not self.knows_labels:
            raise InputError(
                f"{type(self.source).__name__}.draw_missing_cells takes no labels: ask for completions(X) "
                "without y, or use chained equations (source=None)"
            )
        return draw(X, y=y, **given)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Return the first completion of training rows, given their labels where there are some.

        Parameters
        ----------
        X : frame, array or list of rows
        y : array-like of shape (n_rows,), default=None
        sample_weight : array-like of shape (n_rows,), default=None
        """
        self.fit(X, y, sample_weight)
        return self._as_array(next(self.completions(X, y if self.knows_labels else None)))

    def transform(self, X: Any) -> Any:
        """Return the first completion of a table, drawn without labels; of a list of rows, as an array.

        Parameters
        ----------
        X : frame, array or list of rows
            The training columns.
        """
        return self._as_array(next(self.completions(X)))
