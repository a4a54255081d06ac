"""Cross-validated strengths of shrinkage toward shares of naive Bayes, and the average over them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.design.classes import by_class, log_odds
from seminaive.design.reference import AnchoredDesign, reference_codes
from seminaive.design.workspace import ROWS_AT_ONCE
from seminaive.objective.log_loss import POINTWISE, expected_log_losses
from seminaive.selection.decision import SEARCH, averaged, cost_of_weakness, decide, weighty
from seminaive.selection.fold_losses import FoldLosses
from seminaive.selection.held_out import HeldOut
from seminaive.selection.shrinkage_targets import ShrinkageAnswer, Target, n_leading
from seminaive.statistics import TableStatistics

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Indices
    from seminaive.encode import EncodedTable
    from seminaive.scores import AdditiveScores
    from seminaive.selection.baselines import Baseline
    from seminaive.selection.shrinkage_targets import Shrinkage
    from seminaive.solvers import PathOptions

    Split = tuple[Indices, Indices]


# Times strength_max: a strength that keeps every coefficient at the target in all folds.
HELD_FACTOR = 10.0


@dataclass(frozen=True)
class _Fold:
    """Training and held-out rows of a fold by number, and the naive Bayes of the training rows."""

    number: int
    train: Indices
    held: Indices
    naive_bayes: AdditiveScores


@dataclass(frozen=True)
class ShrinkageSearch:
    """Paths toward several targets, each with its strengths, on all rows and in the folds.

    In every fold the target is estimated anew from the fold's training rows: one from all rows would have
    seen the held-out rows and would always win.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
    row_weight : ndarray of shape (n_rows,)
    scoring : {"log-loss", "brier", "zero-one"}
        The loss of held-out rows.
    standardized : bool
        Whether strengths are those of standardised features, about which there is a prior.
    n_threads : int
        Folds are solved side by side.
    groups : ndarray of shape (n_rows,) or None
        Rows of one group are drawn together.
    copies : ndarray of shape (n_rows,) or None
        How many equal rows each one stands for.
    baseline : Baseline or None
        An earlier model, recalibrated, shares of which take the place of shares of naive Bayes.
    """

    shrinkage: Shrinkage
    table: EncodedTable
    labels: Indices
    row_weight: Floats
    n_classes: int
    splits: Sequence[Split]
    scoring: str
    standardized: bool
    n_threads: int
    groups: Indices | None = None
    copies: Indices | None = None
    baseline: Baseline | None = None

    @cached_property
    def held_out(self) -> HeldOut:
        """The rows that the folds hold out."""
        return HeldOut.of(self.labels, self.row_weight, self.n_classes, self.splits, self.groups, self.copies)

    @cached_property
    def _folds(self) -> list[_Fold]:
        """The folds, with naive Bayes counted once for all targets and strengths."""

        def fold(number: int) -> _Fold:
            train = self.splits[number][0]
            held = self.held_out.rows[self.held_out.folds == number]
            return _Fold(number, train, held, self.shrinkage.naive_bayes(self._statistics(train)))

        return self._of_each(fold, range(len(self.splits)))

    @cached_property
    def _all_rows(self) -> tuple[AdditiveScores, tuple[int, ...]]:
        """The naive Bayes of all rows, and the reference category of each column."""
        statistics = self._statistics(np.arange(len(self.labels)))
        return self.shrinkage.naive_bayes(statistics), reference_codes(statistics)

    def _statistics(self, rows: Indices) -> TableStatistics:
        whole = len(rows) == len(self.labels)
        table = self.table if whole else self.table.rows(rows)
        return TableStatistics.of(table, self.labels[rows], self.n_classes, self.row_weight[rows])

    def _of_each(self, function: Callable[[Any], Any], items: Any) -> list[Any]:
        """Return a function's results for all items, found by some threads."""
        if self.n_threads == 1:
            return [function(item) for item in items]
        with ThreadPoolExecutor(self.n_threads) as pool:
            return list(pool.map(function, items))

    # Paths

    def lay_out(self, share: float) -> AnchoredDesign:
        """Anchor all rows in a share of their naive Bayes."""
        naive_bayes, references = self._all_rows
        return self._anchored(slice(None), references, naive_bayes, share, -1)

    def _anchored(
        self,
        rows: Any,
        references: tuple[int, ...],
        naive_bayes: AdditiveScores,
        share: float,
        part: int,
    ) -> AnchoredDesign:
        """Anchor some rows in a share of naive Bayes, or lay them around a share of the earlier model.

        ``part`` is the number of the fold by which that is recalibrated; -1 is all rows.
        """
        anchor = self.shrinkage.anchor(naive_bayes, share)
        linear = AnchoredDesign.of(self.table.rows(rows), references, anchor)
        if self.baseline is None:
            return linear
        earlier = self.baseline.parts[part].scores(self.baseline.earlier[rows])
        return replace(linear, offset=linear.offset + share * by_class(earlier))

    def along(self, share: float, strengths: Sequence[float]) -> Target:
        """Solve path and folds toward one target at some strengths."""
        return self._solve(share, self.shrinkage.options(), strengths=strengths)

    def laid(self, share: float, n_strengths: int) -> Target:
        """Solve path and folds toward one target at strengths that are laid from strength_max down."""
        return self._solve(share, self.shrinkage.options(), n_strengths=n_strengths)

    def extended_for_average(self, found: Target) -> Target:
        """Go on to weaker strengths by decades while the weakest has the most weight in an average.

        The prior of weaker strengths ends it.
        """
        if found.path.strength_max == 0.0:
            return found
        options, per_decade = self.shrinkage.options(stop_early=False), _per_decade(found)
        if found.losses.is_tie(0):
            found = self._from_target(found, options)
        for _ in range(SEARCH.most_decades):
            criterion = found.totals / 2 + self._cost(found)
            if not found.is_solved or criterion.argmin() != len(criterion) - 1:
                break
            further = self._solve(found.share, options, strengths=_decade(found, per_decade)).solved_part()
            if not len(further.path):
                break
            found = found.then(further)
        return found

    def extended(self, found: Target) -> Target:
        """Go on while the best strength is the first or the last."""
        if found.path.strength_max == 0.0:
            return found
        options, per_decade = self.shrinkage.options(stop_early=False), _per_decade(found)
        if found.losses.is_tie(0) or found.share == 0.0:
            found = self._from_target(found, options)
        if not found.losses.is_tie(-1) or not found.is_solved:
            return found
        return self._to_no_penalty(found, options, per_decade)

    def _from_target(self, found: Target, options: PathOptions) -> Target:
        """Put the target itself before a path: in the folds strength_max may be larger than on all rows."""
        held = [HELD_FACTOR * found.path.strength_max]
        return self._solve(found.share, options, strengths=held).then(found)

    def _to_no_penalty(self, found: Target, options: PathOptions, per_decade: int) -> Target:
        """Go on to weaker strengths by decades while losses fall, and end with no penalty."""
        end = self._solve(found.share, options, strengths=[0.0])
        for _ in range(SEARCH.most_decades):
            further = self._solve(found.share, options, strengths=_decade(found, per_decade)).solved_part()
            if not len(further.path):
                break
            smallest = found.losses.mean.min()
            found = found.then(further)
            # Where neither a decade nor the end is better, the losses have levelled off.
            lower = min(further.losses.mean.min(), end.losses.mean.min()) < smallest * (1 - end.losses.tol)
            if not lower or not found.losses.is_tie(-1):
                break
        return found.then(end) if end.is_solved else found

    def _solve(self, share: float, options: PathOptions, **laid: Any) -> Target:
        """Solve for strengths of all rows, and for the same strengths in the folds."""
        linear = self.lay_out(share)
        path = self.shrinkage.path(linear, self.labels, self.row_weight, options, **laid)
        tol = max(options.gap_tol, SEARCH.precision**2)
        in_folds = replace(options, stop_early=False, gap_tol=tol, residual_tol=tol)
        total = self.row_weight.sum()

        def solved(fold: _Fold) -> tuple[Floats, int]:
            design = self._anchored(fold.train, linear.references, fold.naive_bayes, share, fold.number)
            weight = self.row_weight[fold.train]
            # Fewer rows, less likelihood: the same strength per row.
            strengths = path.strengths * (weight.sum() / total)
            found = self.shrinkage.path(
                design, self.labels[fold.train], weight, in_folds, strengths=strengths
            )
            missing = len(path) - len(found)
            padded = np.concatenate([found.coefficients, np.repeat(found.coefficients[-1:], missing, axis=0)])
            return padded, n_leading(found.converged)

        of_folds, n_solved = zip(*self._of_each(solved, self._folds), strict=True)
        by_fold, totals = self._held_out_losses(share, of_folds, linear.references)
        losses = FoldLosses(path.strengths, by_fold, self.held_out.fold_weights, tol)
        n_all = min(*n_solved, n_leading(path.converged))
        return Target(share, linear, path, of_folds, losses, totals, n_all)

    def _held_out_losses(
        self, share: float, of_folds: Sequence[Floats], references: tuple[int, ...]
    ) -> tuple[Floats, Floats]:
        """Return the mean loss of each fold's held-out rows, and the total expected log loss, by strength."""
        held_out, loss = self.held_out, POINTWISE[self.scoring]
        by_fold = np.zeros((len(of_folds), len(of_folds[0])))
        totals = np.zeros(len(of_folds[0]))
        for number, (fold, coefficients) in enumerate(zip(self._folds, of_folds, strict=True)):
            here = np.flatnonzero(held_out.folds == number)
            for begin in range(0, len(here), ROWS_AT_ONCE):
                block = here[begin : begin + ROWS_AT_ONCE]
                scores = self._scores(fold, share, coefficients, references, held_out.rows[block])
                weight = held_out.weight[block]
                by_fold[number] += weight @ loss(scores, held_out.labels[block])
                totals += weight @ expected_log_losses(scores, held_out.probabilities[block])
        return by_fold / np.maximum(held_out.fold_weights, np.finfo(float).tiny)[:, None], totals

    def _scores(
        self,
        fold: _Fold,
        share: float,
        coefficients: Floats,
        references: tuple[int, ...],
        rows: Indices,
    ) -> Floats:
        """Return the scores of rows that a fold holds out: (rows, strengths, score columns)."""
        n_strengths, n_coefficients, n_scores = coefficients.shape
        laid = self._anchored(rows, references, fold.naive_bayes, share, fold.number)
        side_by_side = coefficients.transpose(1, 0, 2).reshape(n_coefficients, -1)
        scores = laid.design.scores(side_by_side).reshape(-1, n_strengths, n_scores)
        scores = scores + log_odds(laid.offset)[:, None, :]
        return self.held_out.completed_in(fold.number, scores)

    # The answer

    def average(self, targets: Sequence[Target], generator: np.random.Generator) -> ShrinkageAnswer:
        """Average all strengths of all targets, and the class shares, by the likelihood of held-out rows.

        Before any row is seen, every target is as likely as the class shares.
        """
        trials = [(target, k) for target in targets for k in range(len(target.path))]
        totals = np.concatenate([target.totals for target in targets])
        cost = np.concatenate([self._cost(target) for target in targets])
        order = np.argsort(totals / 2 + cost, kind="stable")
        weights = averaged(cost)(totals)
        # The square of what is negligible in the average: draws weigh trials by other rows.
        kept = order[weighty(weights, SEARCH.negligible**2)[order]]
        parts = [trials[k] for k in kept]
        shares = self.held_out.share_scores[:, None]
        scores = np.concatenate([self._held_out_scores(parts), shares], axis=1)
        rule = averaged(np.append(cost[kept], 0.0))
        decision = decide(self.held_out, scores, rule, generator, fit_share=1.0)
        found, of_shares = decision.weights[:-1], float(decision.weights[-1])
        if not found.any():
            found = np.eye(len(found))[0]  # beside the class shares no trial has weight; the first has most
        # Without held-out rows of a class that their fold knows, none has shown any gain.
        fit_share = 1.0 - of_shares if self.held_out.known.any() else 0.0
        decision = replace(decision, weights=found, fit_share=fit_share).without_negligible()
        parts = [part for part, weight in zip(parts, decision.weights, strict=True) if weight]
        decision = replace(decision, weights=decision.weights[decision.weights > 0])
        best, position = parts[0]
        return ShrinkageAnswer(best, position, decision, tuple(parts))

    def _cost(self, target: Target) -> Floats:
        """Return minus the log of the prior of each strength of a target, infinite where it is not solved."""
        cost = np.full(len(target.path), np.log(len(target.path)))
        cost[max(target.n_solved, 1) :] = np.inf
        if not self.standardized:
            return cost
        # From strength_max on every fit is the target, which no strength is too weak for.
        usual = np.clip(target.path.strength_max, np.finfo(float).tiny, 1.0)
        with np.errstate(divide="ignore"):
            weakness = cost_of_weakness(np.log10(usual) - np.log10(target.path.strengths))
        # No penalty has no density; where nothing else was listed there is nothing to prefer.
        return cost + weakness if np.isfinite(weakness).any() else cost

    def best(
        self, targets: Sequence[Target], selection: str, generator: np.random.Generator
    ) -> ShrinkageAnswer:
        """Take one strength of the target of least loss, by the rules of the paper."""
        target = min(targets, key=lambda one: float(one.losses.mean.min()))
        position = target.losses.choose(selection)
        part = (target, position)
        scores = self._held_out_scores([part])
        decision = decide(self.held_out, scores, averaged(np.zeros(1)), generator, fit_share=1.0)
        return ShrinkageAnswer(target, position, decision, (part,))

    def _held_out_scores(self, parts: Sequence[tuple[Target, int]]) -> Floats:
        """Return the scores of held-out rows in some trials: (rows, trials, score columns)."""
        held_out = self.held_out
        found = np.empty((len(held_out), len(parts), held_out.share_scores.shape[1]))
        for target in {id(target): target for target, _ in parts}.values():
            chosen = [(trial, position) for trial, (one, position) in enumerate(parts) if one is target]
            trials, positions = map(list, zip(*chosen, strict=True))
            for number, fold in enumerate(self._folds):
                here = np.flatnonzero(held_out.folds == number)
                scores = self._scores(
                    fold,
                    target.share,
                    target.of_folds[number][positions],
                    target.linear.references,
                    fold.held,
                )
                found[np.ix_(here, trials)] = scores
        return found

    @property
    def class_weight(self) -> NDArray[Any]:
        """Return the weight of each class in all rows."""
        return np.bincount(self.labels, self.row_weight, minlength=self.n_classes)


def _decade(found: Target, per_decade: int) -> Floats:
    """Return the strengths of the decade below those of a path."""
    return np.asarray(found.path.strengths[-1] * np.logspace(0, -1, per_decade + 1)[1:])


def _per_decade(found: Target) -> int:
    """Return how many strengths a path has in a decade, 1 at least."""
    decades = np.log10(found.path.strengths[0]) - np.log10(found.path.strengths[-1])
    return max(1, round((len(found.path) - 1) / decades)) if decades > 0 else 1
