"""Which pairs of columns have a term, as a parameter and as what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from seminaive.encode import EqualFrequencyCuts, frame_like
from seminaive.encode.shapes import check_shapes
from seminaive.errors import InputError
from seminaive.models.parameters import MANY_ROWS, is_whole
from seminaive.models.shaped import ShapedClassifier, position_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats, Integers
    from seminaive.encode import Schema
    from seminaive.encode.encoded_table import CutRule
    from seminaive.scores import AdditiveScores

    Pairs = Sequence[tuple[int, int]]

# Bins of numbers in pairs, and those of many rows.
FEW_PAIR_BINS, MANY_PAIR_BINS = 8, 16


def pair_cuts(values: Floats, labels: Integers, row_weight: Floats | None = None) -> Floats:
    """Cut into 8 equally frequent bins below 3,000 rows, into 16 from there on; weights count rows."""
    n_rows = len(values) if row_weight is None else row_weight.sum()
    n_bins = FEW_PAIR_BINS if n_rows < MANY_ROWS else MANY_PAIR_BINS
    return EqualFrequencyCuts(n_bins)(values, labels, row_weight)


class PairedClassifier(ShapedClassifier):
    """An additive classifier of smooth columns and of pairs of them, with the parameter ``interactions``."""

    _importances: Floats

    _fitted: ClassVar[dict[str, Any]] = {"_importances": np.ndarray}

    def _check_consistent(self) -> None:
        super()._check_consistent()
        check_shapes("the list of pairs", [(self._importances, (len(self._pairs),))])

    @property
    def _pairs(self) -> list[tuple[int, ...]]:
        """The coded columns of each pair."""
        return [features for features in self.scores_.terms.features if len(features) == 2]

    @property
    def interactions_(self) -> Any:
        """A frame with one row per pair, most important first: first, second, importance."""
        check_is_fitted(self)
        names = self.schema_.coded_names
        order = np.argsort(-self._importances, kind="stable")
        return frame_like(
            None,
            {
                "first": np.array([names[self._pairs[t][0]] for t in order], dtype=object),
                "second": np.array([names[self._pairs[t][1]] for t in order], dtype=object),
                "importance": self._importances[order],
            },
        )

    def binning_rule(self) -> CutRule | None:
        """Return the rule that cuts numbers into the bins of pairs, or None without any."""
        return pair_cuts if self._wants_pairs() else None

    def _wants_pairs(self) -> bool:
        given = self.interactions
        return isinstance(given, str) or bool(given != 0 if is_whole(given) else len(given) > 0)

    def _wanted_pairs(self, schema: Schema) -> Pairs | None:
        """Return pairs of positions of columns, or None for all."""
        given = self.interactions
        if isinstance(given, str) or is_whole(given):
            return None if self._wants_pairs() else []
        present = {*schema.coded}
        pairs = [
            (
                position_of(schema.names, first, "interactions"),
                position_of(schema.names, second, "interactions"),
            )
            for first, second in given
        ]
        if any(a == b for a, b in pairs):
            raise InputError(f"interactions are pairs of two different columns, got {given!r}")
        self._refuse_shaped_pairs(schema, pairs)
        return [(a, b) for a, b in pairs if a in present and b in present]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        given = self.interactions
        if isinstance(given, str):
            known = given == "all"
        elif is_whole(given):
            known = given >= 0
        else:
            known = isinstance(given, list | tuple) and all(
                isinstance(pair, list | tuple) and len(pair) == 2 for pair in given
            )
        if not known:
            raise InputError(
                "interactions is 'all', a number of pairs of 0 or more, or a list of pairs of columns, "
                f"got {given!r}"
            )


def pair_importances(scores: AdditiveScores, weights: Floats) -> Floats:
    """Return the deviation of each pair's contribution over the rows, given the weight of each cell."""
    found = np.zeros(len(scores.terms.features))
    for terms, cells, _ in scores.terms.of_one_shape():
        shares = weights[cells] / weights[cells].sum(axis=1, keepdims=True)
        tables = scores.tables[cells]
        tables -= tables.mean(axis=2, keepdims=True)
        tables -= np.matmul(shares[:, None], tables)
        found[terms] = np.sqrt(np.matmul(shares[:, None], tables**2).sum(axis=(1, 2)))
    # Of the log odds with two classes, root mean square over the classes with more, as in `Effects`.
    per_class = np.sqrt(2.0 if scores.n_classes == 2 else 1 / scores.n_classes)
    return np.asarray(found[scores.terms.orders == 2] * per_class)
