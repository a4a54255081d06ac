"""The rows of a smooth fit: those that its search sees, and what the fit of all of them needs.

`SemiNaive` fits rows in memory (`RowsInMemory`) and rows in partitions (`seminaive.scale`) by the same steps;
the protocol `SmoothRows` is all that these steps know of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from sklearn.utils import check_random_state

from seminaive.design.classes import n_columns_of
from seminaive.design.projected import ProjectedDesign
from seminaive.design.smooth_columns import SmoothColumns
from seminaive.models.folded import FoldedRows, fold_rows
from seminaive.models.parameters import FEW_FOLDS
from seminaive.objective.empirical_loss import EmpiricalLoss
from seminaive.selection.baselines import NOTHING, baselines_of
from seminaive.selection.folds import stratified_sample
from seminaive.selection.relevance_search import RelevanceSearch
from seminaive.selection.sample_fit import SampleFit
from seminaive.selection.split_rows import SplitRows
from seminaive.selection.started_search import StartedAnswer, StartedSearch
from seminaive.statistics import class_weights
from seminaive.statistics.cell_weights import weigh_cells

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Indices
    from seminaive.encode import EncodedTable, Schema
    from seminaive.models.started import Earlier
    from seminaive.models.training_set import TrainingSet
    from seminaive.selection.relevance_trials import RelevanceAnswer
    from seminaive.solvers.result import SolverResult
    from seminaive.statistics import Terms

    Split = tuple[Indices, Indices]
    Search = RelevanceSearch | StartedSearch

# Strengths and relevances are searched on at most this many rows.
MOST_SEARCHED = 20_000


class SmoothRows(Protocol):
    """All rows of a fit, wherever they are, and those in memory that its search sees."""

    @property
    def schema(self) -> Schema:
        """The columns, with bins and nodes of those that may have pairs."""

    @property
    def searched(self) -> FoldedRows:
        """The rows that the search sees, with their folds."""

    @property
    def is_sample(self) -> bool:
        """Whether these are a part of the rows, so that all are fitted under the search's best trial."""

    @property
    def earlier(self) -> Earlier | None:
        """The earlier model that the fit starts from."""

    @property
    def n_rows(self) -> int:
        """The number of all rows."""

    @property
    def class_weight(self) -> Floats:
        """The weight of each class in all rows."""

    def columns(self) -> SmoothColumns:
        """Return the smooth functions of each column, learned from all rows."""

    def margin(self, position: int) -> tuple[EncodedTable, Floats]:
        """Return a table in which the values of one column are those of all rows, and weights of its rows."""

    def weights_of(self, terms: Terms) -> Floats:
        """Return the weight of all rows in each cell of some terms."""

    def refit(
        self, columns: SmoothColumns, search: Search, answer: RelevanceAnswer, tol: float, max_iter: int
    ) -> RelevanceAnswer:
        """Return the answer of a search after the fit of all rows, where the search saw a sample."""


@dataclass(frozen=True)
class RowsInMemory:
    """Rows in memory, of which the search sees all or a stratified sample.

    Parameters
    ----------
    rows : TrainingSet
        All rows.
    is_sample : bool
        Whether the search sees a part of the rows only.
    """

    rows: TrainingSet
    searched: FoldedRows
    earlier: Earlier | None
    n_threads: int
    is_sample: bool

    @classmethod
    def of(
        cls,
        rows: TrainingSet,
        folded: FoldedRows,
        earlier: Earlier | None,
        random_state: Any,
        n_threads: int,
        most_searched: int,
    ) -> RowsInMemory:
        """Choose the rows that the search sees."""
        searched = _sampled(folded, most_searched, random_state)
        return cls(rows, searched, earlier, n_threads, searched is not folded)

    @property
    def schema(self) -> Schema:
        """The columns."""
        return self.rows.table.schema

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.rows.labels)

    @property
    def class_weight(self) -> Floats:
        """The weight of each class."""
        return class_weights(self.rows.labels, self.rows.n_classes, self.rows.row_weight)

    def columns(self) -> SmoothColumns:
        """Return the smooth functions of each column."""
        return SmoothColumns.of(self.rows.table, self.rows.weights)

    def margin(self, position: int) -> tuple[EncodedTable, Floats]:
        """Return the rows and their weights, which hold every column."""
        del position
        return self.rows.table, self.rows.weights

    def weights_of(self, terms: Terms) -> Floats:
        """Return the weight of the rows in each cell of some terms."""
        return weigh_cells(terms, self.rows.table, self.rows.weights)

    def refit(
        self, columns: SmoothColumns, search: Search, answer: RelevanceAnswer, tol: float, max_iter: int
    ) -> RelevanceAnswer:
        """Fit all rows under the strengths and relevances of the best trial on a sample of them."""
        if not self.is_sample:
            return answer
        rows, sample, baseline = self.rows, self.searched.rows, None
        offset, sample_offset = None, None
        every = SplitRows(rows.table, rows.labels, rows.weights, rows.n_classes).merged()
        if self.earlier is not None and isinstance(answer, StartedAnswer) and answer.kind != NOTHING:
            baseline, sample_baseline = (
                baselines_of(
                    self.earlier.columns_of(part.table), part.labels, part.weights, part.n_classes, []
                )[answer.kind]
                for part in (rows, sample)
            )
            offset, sample_offset = baseline.offsets[-1][every.first], sample_baseline.offsets[-1]
        n_scores = n_columns_of(rows.n_classes)
        design = ProjectedDesign(columns, every.table, rows.n_classes, self.n_threads, n_scores)
        loss = EmpiricalLoss(
            design, every.labels, every.row_weight, rows.n_classes, offset=offset, keep_scores=True
        )
        like_all = weighted_like(sample, float(self.class_weight.sum()), len(every))
        fit = SampleFit.of(columns, like_all, answer, tol, max_iter, self.n_threads, offset=sample_offset)
        result = fit.closer_to(loss, every.table).extended_to(loss)
        if isinstance(search, StartedSearch) and isinstance(answer, StartedAnswer):
            found = search.refitted(answer, result.solution, baseline)
            return replace(found, optimality=result.optimality, n_iter=result.n_iter)
        return refitted(search, answer, result.solution, result)


def weighted_like(sample: TrainingSet, total_weight: float, n_rows: int) -> SplitRows:
    """Return a sample that has the total weight of all rows, of which ``n_rows`` are different."""
    weights = sample.weights * (total_weight / sample.weights.sum())
    return SplitRows(sample.table, sample.labels, weights, sample.n_classes, sample_of=n_rows)


def refitted(
    search: Search, answer: RelevanceAnswer, coefficients: Floats, result: SolverResult
) -> RelevanceAnswer:
    """Return the answer of a search with the coefficients of a fit of all rows, of which it saw some."""
    assert isinstance(search, RelevanceSearch)  # noqa: S101 - others combine fits themselves
    return replace(
        answer,
        coefficients=search.with_class_shares(coefficients, answer.decision.fit_share),
        optimality=result.optimality,
        n_iter=result.n_iter,
    )


def _sampled(folded: FoldedRows, most_rows: int, random_state: Any) -> FoldedRows:
    """Return the rows that the search sees, with their folds: all, or a stratified sample."""
    rows, n_rows = folded.rows, len(folded.rows.labels)
    if n_rows <= most_rows:
        return folded
    random = check_random_state(random_state)
    # The folds were drawn by the first permutation; drawn by the same one, the sample could be a fold.
    random.permutation(n_rows)
    drawn = stratified_sample(rows.labels, most_rows, random)
    splits = _restricted(folded.splits, drawn, n_rows)
    sample, groups = rows.of_rows(drawn), None if folded.groups is None else folded.groups[drawn]
    if not splits:
        # A user's splits left the sample no training rows, or no held-out ones.
        return fold_rows(sample, FEW_FOLDS, sample.labels, None, random_state, groups)
    return FoldedRows(sample, splits, groups)


def _restricted(splits: list[Split], drawn: Indices, n_rows: int) -> list[Split]:
    """Return splits among some of the rows only."""
    position = np.full(n_rows, -1)
    position[drawn] = np.arange(len(drawn))
    kept = [tuple(position[part][position[part] >= 0] for part in split) for split in splits]
    return [(train, held_out) for train, held_out in kept if len(train) and len(held_out)]
