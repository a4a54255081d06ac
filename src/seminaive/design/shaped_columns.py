"""Numbers whose curves must have a shape: the functions of a column as steps between its knots.

Under the random-walk kernel of a number, the rises of its curve from knot to knot are independent and
equally large a priori. Steps at the knots are therefore functions of the same kernel as its eigenfunctions,
and a shape is a set of linear inequalities in their coefficients and the slope.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.design.smooth_column import (
    SmoothColumn,
    knot_positions,
    knots_of,
    mass_at_knots,
    random_walk_kernel,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from seminaive.arrays import Floats
    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.encode import EncodedTable, Schema


RISING, FALLING, CONVEX, CONCAVE, LINEAR = KINDS = ("increasing", "decreasing", "convex", "concave", "linear")
MONOTONE, BENT = (RISING, FALLING), (CONVEX, CONCAVE)


@dataclass(frozen=True)
class Shape:
    """What the score of a class must look like along a column, whatever the other columns hold.

    Parameters
    ----------
    kind : {"increasing", "decreasing", "convex", "concave", "linear"}
    label : int or None
        The position of the class whose score, less that of every other class, has the shape; None for
        "linear", which is about all classes.
    """

    kind: str
    label: int | None = None

    def text(self, classes: NDArray[Any]) -> str:
        """Return the shape in words, with its class where there are more than two."""
        if self.label is None or (len(classes) == 2 and self.label == 1):
            return self.kind
        return f"{self.kind} for {classes[self.label]}"

    def contrasts(self, n_classes: int) -> Floats:
        """Return the combinations of the columns of scores that must rise, or bend upward: one per row."""
        sign = -1.0 if self.kind in (FALLING, CONCAVE) else 1.0
        if n_classes == 2:
            return np.array([[sign if self.label == 1 else -sign]])
        others = np.delete(np.eye(n_classes), self.label or 0, axis=0)
        return np.asarray(sign * (np.eye(n_classes)[self.label or 0] - others))


def with_shapes(
    columns: SmoothColumns,
    schema: Schema,
    margin: Callable[[int], tuple[EncodedTable, Floats]],
    shapes: Mapping[int, Shape],
    smoothness: Mapping[int, float],
) -> SmoothColumns:
    """Return columns of which some have a shape, or a curve that is held back more or less than others.

    Parameters
    ----------
    columns : SmoothColumns
        Without terms of pairs.
    margin : callable
        Returns, for the position of a column, a table in which that column is right, and row weights.
    shapes : mapping of int to Shape
        By the position of the column in the table.
    smoothness : mapping of int to float
        What the ridge of the column's curve is multiplied by, by position.
    """
    made = list(columns.columns)
    for k, column in enumerate(made):
        if column.number is None:
            continue
        position = schema.numeric[column.number]
        if position in shapes:
            made[k] = _shaped(columns, column, shapes[position], *margin(position))
        if position in smoothness:
            times = smoothness[position]
            made[k] = replace(made[k], main=made[k].curve / np.sqrt(times), smoothness=times)
    return replace(
        columns,
        columns=tuple(made),
        mains=tuple(k for k, column in enumerate(made) if column.main.shape[1]),
    )


def _shaped(
    columns: SmoothColumns, column: SmoothColumn, shape: Shape, table: EncodedTable, row_weight: Floats
) -> SmoothColumn:
    """Return a number with the functions of a shape, and none of pairs.

    The knots reach from one end of the range to which slopes are clipped to the other, so that slope and
    curve bend at knots only, and are constant beyond them. There is a bin for each eigenfunction that the
    rows determine, those of the column without a shape.
    """
    number = column.number or 0
    numbers = table.numbers[:, number]
    ends = np.array([columns.low[number], columns.high[number]])
    knots = ends
    if shape.kind != LINEAR:
        present = ~np.isnan(numbers)
        n_bins = max(column.main.shape[1], 1)
        inner = knots_of(numbers[present], row_weight[present], n_bins)
        knots = np.concatenate([ends, np.clip(inner, *ends)])
    knots = np.unique(knots)
    described = table.schema.columns[table.schema.numeric[number]]
    counts_missing = bool(described.missing_seen and table.schema.missing == "value")
    level, along = knot_positions(knots, numbers)
    mass = mass_at_knots(level, along, row_weight, len(knots))
    main = step_functions(mass, counts_missing=counts_missing)
    if shape.kind == LINEAR:
        main = main[:, len(knots) - 1 :]
    spreads = mass / max(float(mass.sum()), np.finfo(float).tiny) @ main**2
    return replace(
        column,
        knots=knots,
        main=main,
        pair=np.zeros((len(column.pair), 0)),
        eigenvalues=spreads,
        shape=shape,
        free=column,
    )


def step_functions(mass: Floats, *, counts_missing: bool) -> Floats:
    """Return functions F for which ``F F'`` is the kernel of a number: a step after each knot but the last.

    Under the kernel ``1 - |i - i'| / n`` rises between knots have the variance 2 / n and are independent of
    each other and of the mean of both ends, whose variance is (1 + 1 / n) / 2. So is a missing number's
    level, of variance 1: it has a function, the last, for its distance from that mean.

    Parameters
    ----------
    mass : ndarray of shape (n_knots + 1,)
        The weight of the training rows at each knot and, last, of missing numbers.
    counts_missing : bool
        Whether a missing number has a level; otherwise it carries no evidence.
    """
    n = len(mass) - 1
    known = n + 1 if counts_missing else n
    total = float(mass[:known].sum())
    shares = mass[:known] / total if total > 0 else np.full(known, 1.0 / known)
    kernel = np.eye(known)
    kernel[:n, :n] = random_walk_kernel(n)
    # The mean variance of the centred kernel, to which it is scaled.
    scale = max(1.0 - float(shares @ kernel @ shares), 0.0) or 1.0
    functions = np.zeros((n + 1, known - 1))
    functions[:n, : n - 1] = np.sqrt(2 / (n * scale)) * np.tri(n, n - 1, -1)
    if counts_missing:
        functions[n, : n - 1] = np.sqrt(2 / (n * scale)) / 2
        functions[n, n - 1] = np.sqrt((1 + (1 + 1 / n) / 2) / scale)
    functions[:known] -= shares @ functions[:known]
    return functions
