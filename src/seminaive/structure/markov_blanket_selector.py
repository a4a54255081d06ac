"""Selection of the features that make all others irrelevant to the class: its Markov blanket."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode import TableEncoder, mdl_cuts
from seminaive.errors import EmptyBlanketWarning, InputError, UntestableWarning, warn_caller
from seminaive.models.base import is_number, unchanged_on_failure
from seminaive.models.parameters import check_flag
from seminaive.models.table_selector import TableSelector
from seminaive.models.training_set import open_training
from seminaive.structure import (
    ALGORITHMS,
    CORRELATION_TESTS,
    COUNTS_TESTS,
    Blanket,
    CodedTests,
    GaussianTests,
    SequentialPermutationTests,
    fast_iamb,
)
from seminaive.structure.results import LEVEL

if TYPE_CHECKING:
    from typing import Self

    from seminaive.arrays import Floats, Indices
    from seminaive.encode import EncodedTable
    from seminaive.encode.frames import Table


UNION, PERMUTATIONS = "union", "smc-mi-g"


@dataclass(frozen=True)
class BlanketTrace:
    """Every blanket that was searched for, with the tests that decided; ``print`` shows them.

    Parameters
    ----------
    names : tuple of str
        Of the features and, last, the class.
    tests : tuple of str
        The test of each blanket.
    """

    names: tuple[str, ...]
    tests: tuple[str, ...]
    blankets: tuple[Blanket, ...]

    def __str__(self) -> str:
        return "\n".join(
            f"[{test}] {blanket.describe(self.names)}"
            for test, blanket in zip(self.tests, self.blankets, strict=True)
        )

    @property
    def n_tests(self) -> int:
        """Return the number of tests made or declared untestable."""
        return sum(len(blanket.trace) for blanket in self.blankets)

    @property
    def n_untestable(self) -> int:
        """Return the number of tests that would have needed more cells than there were rows."""
        return sum(blanket.n_untestable for blanket in self.blankets)


def complete_rows(table: EncodedTable) -> Indices:
    """Return the positions of the rows without a missing cell; columns without any value do not count."""
    lacking = (table.codes >= np.array(table.cardinalities)).any(axis=1)
    lacking |= np.isnan(table.numbers).any(axis=1)
    return np.flatnonzero(~lacking)


@dataclass(eq=False, repr=False)
class MarkovBlanketSelector(TableSelector):
    """Keeps the features that tell all there is to know about the class: its Markov blanket.

    Given its Markov blanket, the class is independent of all other features. The blanket is found by tests of
    conditional independence. One algorithm with one test misses features that another combination finds, so
    that by default a feature is left out only if all combinations agree. In tables with categories, numbers
    are cut into intervals by minimum description length, for the tests only.

    Parameters
    ----------
    algorithm : {"union", "grow-shrink", "iamb", "fast-iamb", "inter-iamb"}, default="union"
    test : str, default="union"
        "mi" (G test), "mi-adf" (with adjusted degrees of freedom) or "mi-sh" (shrinkage estimate), for any
        table; "cor" (Student's t), "zf" (Fisher's z), "mi-g" (Gaussian mutual information) or "mi-g-sh" (its
        shrinkage estimate) for tables of numbers alone. The union is over these four where all columns are
        numbers, else over those three. "smc-mi-g", for numbers too, draws permutations until the answer is
        clear; the class then counts as its place among the sorted labels, and rows cannot be weighted.
    alpha : float, default=0.05
        Level of each test: a feature is kept where its p-value is at most that.
    one_row_per_cell : bool, default=True
        Whether a test that would need more cells than there are rows is declared untestable: it then neither
        adds nor removes a feature, and the fit warns. False makes every test, as bnlearn does, where "mi-adf"
        says independent if there are fewer than five rows per cell.
    complete_rows : bool, default=False
        Whether rows with a missing cell are left out of all tests, and not only of those that need the cell:
        earlier versions of bnlearn took no others.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The features kept; all of them, with a warning, where the blanket is empty.
    trace_ : BlanketTrace
        Which test decided what.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where the columns have names that are all text.

    Notes
    -----
    In tests of correlations a class enters as one indicator where there are two classes; with more, each has
    an indicator, and the smallest p-value counts, times their number. A row with a missing cell is left out
    of the tests that need the cell. A column without any value is in no test and is not kept.

    Examples
    --------
    A feature that only repeats another one, with errors, is left out:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 2000)
    >>> sign = y ^ (rng.random(2000) < 0.2)
    >>> X = np.column_stack([sign, sign ^ (rng.random(2000) < 0.2)])
    >>> selector = MarkovBlanketSelector("iamb", "mi", categorical_features="all").fit(X, y)
    >>> selector.get_support()
    array([ True, False])
    >>> print(selector.trace_)
    [mi] iamb: blanket of class: x0
      grow   x0 given nothing: mi = 678.63, df = 1, p = 1.326e-149: added
      grow   x1 given nothing: mi = 228.75, df = 1, p = 1.118e-51: not yet added
      grow   x1 given x0: mi = 1.3602, df = 2, p = 0.5066: not added
    """

    algorithm: str = UNION
    test: str = UNION
    _: KW_ONLY
    alpha: float = LEVEL
    one_row_per_cell: bool = True
    complete_rows: bool = False

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Search for the blanket of the class."""
        self._check_parameters()
        with unchanged_on_failure(self):
            opened, target, weight = open_training(self, X, y, sample_weight)
            table = self._coded(opened, target.labels, weight)
            labels, n_classes = target.labels, len(target.classes)
            if self.complete_rows:
                rows = complete_rows(table)
                table, labels = table.rows(rows), labels[rows]
                weight = None if weight is None else weight[rows]
            tests = self._tests(table, labels, n_classes, weight)
            self.trace_ = self._search(tests, table.schema.coded_names)
            found = [table.schema.coded[k] for blanket in self.trace_.blankets for k in blanket.members]
            self.support_ = np.isin(np.arange(len(opened.names)), found)
            self._warn()
        return self

    def _coded(self, opened: Table, labels: Indices, weight: Floats | None) -> EncodedTable:
        """Return the table with its numbers cut into intervals, so that columns with values have codes."""
        learned = {
            "categorical_features": self.categorical_features,
            "missing": "neutral",
            "labels": labels,
            "row_weight": weight,
        }
        return TableEncoder.learn(opened, cut_rule=mdl_cuts, **learned)[1]

    def _tests(
        self, table: EncodedTable, labels: Indices, n_classes: int, weight: Floats | None
    ) -> list[Any]:
        """Return the tests to be used, each over the columns that have values and, last, the class."""
        all_numbers = len(table.schema.numeric) == len(table.schema.coded)
        names = [self.test]
        if self.test == UNION:
            names = list(CORRELATION_TESTS if all_numbers else COUNTS_TESTS)
        elif self.test in (*CORRELATION_TESTS, PERMUTATIONS) and not all_numbers:
            raise InputError(
                f"test {self.test!r} is for numbers, and some columns are categories: choose one of "
                f"{', '.join(COUNTS_TESTS)}, or pass the numeric columns only"
            )
        if self.test == PERMUTATIONS:
            if weight is not None:
                raise InputError("permutations take every row once: leave sample_weight out, or choose 'cor'")
            return [SequentialPermutationTests(np.column_stack([table.numbers, labels]), self.alpha)]
        if names[0] in CORRELATION_TESTS:
            indicators = labels[:, None] == (np.arange(n_classes) if n_classes > 2 else [n_classes - 1])
            numbers = np.column_stack([table.numbers, indicators])
            n_features = table.numbers.shape[1]
            of_class = tuple(range(n_features, numbers.shape[1]))
            tests: GaussianTests | CodedTests = GaussianTests(
                numbers, (*((j,) for j in range(n_features)), of_class), row_weight=weight
            )
        else:
            code_type = np.promote_types(table.codes.dtype, np.min_scalar_type(n_classes))
            columns = np.vstack([table.codes.T, labels]).astype(code_type)
            cardinalities = (*table.cardinalities, n_classes)
            tests = CodedTests(
                columns, cardinalities, row_weight=weight, declare_untestable=self.one_row_per_cell
            )
        return [replace(tests, test=name) for name in names]

    def _search(self, tests: list[Any], names: tuple[str, ...]) -> BlanketTrace:
        target = len(names)
        algorithms = list(ALGORITHMS) if self.algorithm == UNION else [self.algorithm]
        blankets = []
        for test in tests:
            for algorithm in algorithms:
                limits = {"rows_per_cell": test.rows_per_cell} if self._limits_cells(algorithm, test) else {}
                blankets.append(ALGORITHMS[algorithm](test, target, range(target), self.alpha, **limits))
        used = tuple(getattr(test, "test", self.test) for test in tests for _ in algorithms)
        return BlanketTrace((*names, "class"), used, tuple(blankets))

    @staticmethod
    def _limits_cells(algorithm: str, test: Any) -> bool:
        return ALGORITHMS[algorithm] is fast_iamb and isinstance(test, CodedTests)

    def _warn(self) -> None:
        untestable = self.trace_.n_untestable
        if untestable:
            warn_caller(
                f"{untestable} of {self.trace_.n_tests} tests would need more cells than there are rows and "
                "were not made: they added and removed nothing. trace_ lists them; merge categories, or pass "
                "one_row_per_cell=False to make every test",
                UntestableWarning,
            )
        if not self.support_.any():
            self.support_ = np.ones_like(self.support_)
            warn_caller(
                f"no feature depends on the class at alpha = {self.alpha:g}: the Markov blanket is empty, "
                "and all features are kept. Raise alpha, or use more rows",
                EmptyBlanketWarning,
            )

    def _check_parameters(self) -> None:
        for name, allowed in (
            ("algorithm", (UNION, *ALGORITHMS)),
            ("test", (UNION, *COUNTS_TESTS, *CORRELATION_TESTS, PERMUTATIONS)),
        ):
            if not isinstance(getattr(self, name), str) or getattr(self, name) not in allowed:
                raise InputError(f"{name} is one of {', '.join(allowed)}, got {getattr(self, name)!r}")
        check_flag("complete_rows", self.complete_rows)
        if not is_number(self.alpha) or not 0 < self.alpha < 1:
            raise InputError(f"alpha is a level between 0 and 1, got {self.alpha!r}")
