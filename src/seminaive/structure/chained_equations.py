"""Multiple imputation by chained equations: each incomplete column is redrawn in turn given the others.

A coded column has a table of probabilities given the class and the columns that tell most about it, chosen
greedily by Akaike's criterion on the rows where it is observed (a missing cell of a candidate being a value
like others). A parent too many costs some variance; one too few is drawn as if it did not matter, and what is
fitted to the completions then finds associations that are not there. The collection of such tables is a
dependency network, and redrawing is Gibbs sampling in it. A number has a linear regression on the class, the
other numbers and the coded columns. Both are drawn from their posterior before they draw cells: without that,
several completions would agree too well and Rubin's variance would be too small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from seminaive.structure.conditional_parents import learn_parents
from seminaive.structure.conditionals import Conditional, ConditionalTable, NormalRegression

if TYPE_CHECKING:
    import numpy as np

    from seminaive.arrays import Floats
    from seminaive.structure.incomplete_columns import IncompleteColumns, Target

# Coded columns of more values than this take no part in regressions: their indicators would be many.
MOST_INDICATORS = 50


@dataclass(frozen=True)
class FittedChain:
    """The conditionals of one chain at its end, with which other rows are drawn.

    Parameters
    ----------
    start : tuple
        Conditionals given the class alone, in the order in which they are drawn: the class first.
    sweep : tuple
        Conditionals given other columns, in the order of a sweep.
    """

    start: tuple[Conditional, ...]
    sweep: tuple[Conditional, ...]

    def draw(self, columns: IncompleteColumns, n_sweeps: int, generator: np.random.Generator) -> None:
        """Draw the missing cells of a table, its conditionals being as they are."""
        for conditional in (*self.start, *(self.sweep * n_sweeps)):
            if _target(conditional) in columns.missing:
                conditional.draw(columns, generator)


def _target(conditional: Conditional) -> Target:
    if isinstance(conditional, ConditionalTable):
        return "coded", conditional.column
    return "number", conditional.number


@dataclass(frozen=True)
class Chain:
    """Which columns each column is drawn from.

    Parameters
    ----------
    parents : dict
        The parents of each coded column, the class first.
    regressors : tuple of int
        The coded columns that numbers are drawn from.
    """

    parents: dict[int, tuple[int, ...]]
    regressors: tuple[int, ...]

    def run(
        self,
        columns: IncompleteColumns,
        n_sweeps: int,
        generator: np.random.Generator,
        row_weight: Floats | None = None,
    ) -> FittedChain:
        """Draw the missing cells of a training table in place, and return the last conditionals.

        Columns are drawn in the order of their missing cells, the fewest first.
        """
        targets = self._targets(columns)
        # Before the first sweep others may be missing: only the class is known to be there, or drawn first.
        known = () if columns.label is None else (columns.label,)
        start = []
        for target in sorted(targets, key=lambda target: target != ("coded", columns.label)):
            conditional = self._given(columns, target, known, generator, row_weight)
            start.append(conditional)
            if target in columns.missing:
                conditional.draw(columns, generator)
        for _ in range(n_sweeps):
            for target in targets:
                if target in columns.missing:
                    self._given(columns, target, None, generator, row_weight).draw(columns, generator)
        sweep = [self._given(columns, target, None, generator, row_weight) for target in targets]
        return FittedChain(tuple(start), tuple(sweep))

    def _targets(self, columns: IncompleteColumns) -> list[Target]:
        targets: list[Target] = [
            ("coded", column) for column in columns.coded if columns.cardinalities[column]
        ]
        targets += [
            ("number", number)
            for number in range(len(columns.numbers))
            if len(columns.missing.get(("number", number), ())) < columns.n_rows
        ]
        return sorted(targets, key=lambda target: len(columns.missing.get(target, ())))

    def _given(
        self,
        columns: IncompleteColumns,
        target: Target,
        known: tuple[int, ...] | None,
        generator: np.random.Generator,
        row_weight: Floats | None,
    ) -> Conditional:
        """Draw the conditional of a column given the columns ``known``, or its parents where that is None."""
        kind, position = target
        if kind == "coded":
            parents = self.parents[position] if known is None else tuple(j for j in known if j != position)
            return ConditionalTable.draw_posterior(columns, position, parents, generator, row_weight)
        coded = self.regressors if known is None else known
        whole = (
            number
            for number in range(len(columns.numbers))
            if number != position and len(columns.cuts[number])
        )
        others = tuple(whole) if known is None else ()
        return NormalRegression.draw_posterior(columns, position, coded, others, generator, row_weight)


def learn_chain(columns: IncompleteColumns, row_weight: Floats | None = None) -> Chain:
    """Choose the parents of every coded column, and the columns that numbers depend on."""
    parents = {
        column: learn_parents(columns, column, row_weight)
        for column in columns.coded
        if columns.cardinalities[column]
    }
    regressors = [column for column in parents if columns.cardinalities[column] <= MOST_INDICATORS]
    return Chain(parents, tuple(regressors))
