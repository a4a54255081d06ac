"""Markov blankets: the features that make all others independent of a target.

Four algorithms, each a function of one test of conditional independence. They grow a set by features that
depend on the target given the set, and shrink it by those that do not given the rest:

- *grow-shrink* (Margaritis, 2003) adds the first feature that depends on the target;
- *iamb* (Tsamardinos, Aliferis and Statnikov, 2003) adds the one with the smallest p-value;
- *inter-iamb* (ibid.) shrinks after every addition;
- *fast-iamb* (Yaramakala and Margaritis, 2005) adds all that depend on the target, the smallest p-values
  first, as long as cells have enough rows, and then shrinks.

A test that cannot be made decides nothing: its feature is not added, and a member is not removed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

from seminaive.structure.results import LEVEL, IndependenceResult

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    RowsPerCell = Callable[[int, int, Sequence[int]], float]

# Rows per cell that fast-iamb requires before it adds another feature without a new test.
FAST_ROWS_PER_CELL = 5.0

Action = Literal["added", "not added", "not yet added", "kept", "removed", "set aside"]


class IndependenceTest(Protocol):
    """A test of target and candidate given some variables, all of them numbered.

    One that also has ``each(target, candidates, given)``, returning a list of results, tests all candidates
    of a round in one call.
    """

    def __call__(self, target: int, candidate: int, given: Sequence[int], /) -> IndependenceResult:
        """Test whether target and candidate are independent given some variables."""


@dataclass(frozen=True)
class BlanketDecision:
    """One test, and what became of the candidate.

    Parameters
    ----------
    given : tuple of int
        The conditioning set.
    action : {"added", "not added", "not yet added", "kept", "removed", "set aside"}
        Not yet added is a feature that depends on the target, where another one has a smaller p-value or
        cells have too few rows: it is tested again given the larger set. Set aside is a feature whose
        addition would repeat a set that occurred before.
    """

    phase: Literal["grow", "shrink"]
    candidate: int
    given: tuple[int, ...]
    result: IndependenceResult
    action: Action

    def describe(self, names: Sequence[str]) -> str:
        """Return one line of text."""
        given = ", ".join(names[j] for j in self.given) or "nothing"
        return f"{self.phase:6} {names[self.candidate]} given {given}: {self.result}: {self.action}"


@dataclass(frozen=True)
class Blanket:
    """The Markov blanket of a target that one algorithm found with one test.

    Parameters
    ----------
    members : tuple of int
        In the order in which they were added.
    trace : tuple of BlanketDecision
        Every test in the order in which they were made.
    """

    algorithm: str
    target: int
    members: tuple[int, ...]
    trace: tuple[BlanketDecision, ...]

    @property
    def n_untestable(self) -> int:
        """Return how many tests could not be made."""
        return sum(not decision.result.testable for decision in self.trace)

    def describe(self, names: Sequence[str]) -> str:
        """Return the decisions as text, one line each."""
        members = ", ".join(names[j] for j in self.members) or "nothing"
        lines = [f"{self.algorithm}: blanket of {names[self.target]}: {members}"]
        return "\n  ".join(lines + [decision.describe(names) for decision in self.trace])


class _BlanketSearch:
    """A growing set and the record of all tests made for it."""

    def __init__(self, test: IndependenceTest, target: int, candidates: Sequence[int], alpha: float) -> None:
        self.test, self.target, self.alpha = test, target, alpha
        self.candidates = [j for j in candidates if j != target]
        self.members: list[int] = []
        self.trace: list[BlanketDecision] = []

    def outside(self, set_aside: Sequence[int] = ()) -> list[int]:
        return [j for j in self.candidates if j not in self.members and j not in set_aside]

    def test_each(self, candidates: Sequence[int]) -> list[IndependenceResult]:
        """Test candidates given the members."""
        each = getattr(self.test, "each", None)
        if each is not None:
            results: list[IndependenceResult] = each(self.target, candidates, tuple(self.members))
            return results
        return [self.test(self.target, j, tuple(self.members)) for j in candidates]

    def record(
        self,
        phase: Literal["grow", "shrink"],
        j: int,
        given: Sequence[int],
        result: IndependenceResult,
        action: Action,
    ) -> None:
        self.trace.append(BlanketDecision(phase, j, tuple(given), result, action))

    def growing(self, result: IndependenceResult, *, added: bool) -> Action:
        """Say what became of a candidate for growth."""
        if added:
            return "added"
        return "not yet added" if result.dependent(self.alpha) else "not added"

    def add_strongest(self, set_aside: Sequence[int] = ()) -> BlanketDecision | None:
        """Add the candidate with the smallest p-value, if that is small enough; return the decision."""
        candidates = self.outside(set_aside)
        if not candidates:
            return None
        results = self.test_each(candidates)
        best = min(range(len(candidates)), key=lambda k: results[k].log_p_value)
        given = tuple(self.members)
        found = results[best].dependent(self.alpha)
        for k, (j, result) in enumerate(zip(candidates, results, strict=True)):
            self.record("grow", j, given, result, self.growing(result, added=found and k == best))
        if not found:
            return None
        self.members.append(candidates[best])
        return self.trace[best - len(candidates)]

    def shrink(self, fixed: Sequence[int] = ()) -> None:
        """Test every member given the others and remove those that prove independent, one after the other."""
        for j in [member for member in self.members if member not in fixed]:
            self.removed_if_independent(j)

    def removed_if_independent(self, j: int) -> bool:
        """Test one member given the others; remove it where independence is not rejected."""
        others = tuple(member for member in self.members if member != j)
        result = self.test(self.target, j, others)
        independent = result.testable and not result.dependent(self.alpha)
        self.record("shrink", j, others, result, "removed" if independent else "kept")
        if independent:
            self.members.remove(j)
        return independent

    def found(self, algorithm: str) -> Blanket:
        return Blanket(algorithm, self.target, tuple(self.members), tuple(self.trace))


def grow_shrink(
    test: IndependenceTest, target: int, candidates: Sequence[int], alpha: float = LEVEL
) -> Blanket:
    """Add the first feature that depends on the target given the set, until none does; then shrink.

    Features are tried in the order in which they come, from the first one again after each addition.
    """
    search = _BlanketSearch(test, target, candidates, alpha)
    growing = True
    while growing:
        growing = False
        for j in search.outside():
            given = tuple(search.members)
            result = test(target, j, given)
            growing = result.dependent(alpha)
            search.record("grow", j, given, result, "added" if growing else "not added")
            if growing:
                search.members.append(j)
                break
    shrinking = True
    while shrinking:
        shrinking = any(search.removed_if_independent(j) for j in list(search.members))
    return search.found("grow-shrink")


def iamb(test: IndependenceTest, target: int, candidates: Sequence[int], alpha: float = LEVEL) -> Blanket:
    """Add the feature with the smallest p-value given the set, until none is small enough; then shrink once.

    The feature that was added last is not tested again: that would be the same test.
    """
    search = _BlanketSearch(test, target, candidates, alpha)
    while search.add_strongest() is not None:
        pass
    search.shrink(fixed=search.members[-1:])
    return search.found("iamb")


def inter_iamb(
    test: IndependenceTest, target: int, candidates: Sequence[int], alpha: float = LEVEL
) -> Blanket:
    """Add the feature with the smallest p-value and shrink at once, again and again.

    Where a set occurs for the second time, the feature that led to it is set aside, so that the search ends.
    """
    search = _BlanketSearch(test, target, candidates, alpha)
    set_aside: list[int] = []
    seen = {frozenset(search.members)}
    while True:
        before = list(search.members)
        added = search.add_strongest(set_aside)
        if added is None:
            return search.found("inter-iamb")
        search.shrink(fixed=[added.candidate])
        if frozenset(search.members) in seen:
            search.trace.append(replace(added, action="set aside"))
            set_aside.append(added.candidate)
            search.members = before
        else:
            seen.add(frozenset(search.members))


def fast_iamb(
    test: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    alpha: float = LEVEL,
    rows_per_cell: RowsPerCell | None = None,
) -> Blanket:
    """Add all features that depend on the target given the set, smallest p-values first; shrink; repeat.

    Parameters
    ----------
    rows_per_cell : callable or None
        Rows per cell of a test of target and candidate given a set. A round adds features only as long as
        there are 5 or more; None sets no such limit, as for tests of correlations.
    """
    search = _BlanketSearch(test, target, candidates, alpha)
    seen = {frozenset(search.members)}
    while outside := search.outside():
        results = search.test_each(outside)
        given = tuple(search.members)
        order = sorted(range(len(outside)), key=lambda k: results[k].log_p_value)
        crowded = False
        for k in order:
            j, result = outside[k], results[k]
            crowded = crowded or (
                rows_per_cell is not None
                and rows_per_cell(target, j, tuple(search.members)) < FAST_ROWS_PER_CELL
            )
            added = result.dependent(alpha) and not crowded
            search.record("grow", j, given, result, search.growing(result, added=added))
            if added:
                search.members.append(j)
        if len(search.members) == len(given):
            break
        search.shrink()
        if frozenset(search.members) in seen:
            break
        seen.add(frozenset(search.members))
    return search.found("fast-iamb")


ALGORITHMS: dict[str, Callable[..., Blanket]] = {
    "grow-shrink": grow_shrink,
    "iamb": iamb,
    "fast-iamb": fast_iamb,
    "inter-iamb": inter_iamb,
}
