"""What is known of columns before any row is seen: shapes and smoothness of curves, as parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from seminaive.design.classes import by_class
from seminaive.design.shape_constraints import ShapeConstraints
from seminaive.design.shaped_columns import BENT, KINDS, LINEAR, Shape, with_shapes
from seminaive.encode import CategoricalColumn, frame_like
from seminaive.errors import InputError, ShapeWarning, warn_caller
from seminaive.models.parameters import is_number, is_whole
from seminaive.models.started import StartedClassifier
from seminaive.selection.shape_costs import costs_of_shapes
from seminaive.solvers.constrained_newton import nearest_obeying

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from seminaive.arrays import Floats
    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.encode import EncodedTable, Schema
    from seminaive.selection.relevance_trials import RelevanceTrial

# Standard errors beyond which a normal variable lies in 2 % of samples: what is no longer chance.
CLEARLY = 2.0
NONE = "none"


class ShapedClassifier(StartedClassifier):
    """An additive classifier of smooth columns with the parameters ``shapes`` and ``smoothness``."""

    _fitted: ClassVar[dict[str, Any]] = {"shapes_": "dict[str, str]", "_shape_costs": dict}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_shapes(self.shapes)
        check_smoothness(self.smoothness)
        if self.shapes and self.start_model is not None:
            raise InputError(
                "shapes are promised of the whole model, and the model to start from has learned its curves "
                "without them: leave out shapes or start"
            )

    def _check_consistent(self) -> None:
        super()._check_consistent()
        n_shapes = len(self.shapes_)
        if set(self.shapes_) - set(self.schema_.names):
            raise ValueError("a shape is about no column")
        if any(np.shape(numbers) != (n_shapes,) for numbers in self._shape_costs.values()):
            raise ValueError("the costs of shapes are not as many as these")

    def _with_shapes(
        self, columns: SmoothColumns, schema: Schema, margin: Callable[[int], tuple[EncodedTable, Floats]]
    ) -> SmoothColumns:
        """Return smooth columns with the shapes and the smoothness that the parameters say.

        ``margin`` returns, for the position of a column, a table in which that column is right, and row
        weights.
        """
        shapes = shapes_of(self.shapes, schema, self.classes_)
        listed = sorted(shapes.items())
        self.shapes_ = {schema.names[position]: shape.text(self.classes_) for position, shape in listed}
        smoothness = smoothness_of(self.smoothness, schema)
        return with_shapes(columns, schema, margin, shapes, smoothness) if shapes or smoothness else columns

    def _refuse_shaped_pairs(self, schema: Schema, pairs: Iterable[tuple[int, int]]) -> None:
        """Refuse named pairs of columns that have a shape."""
        shapes = shapes_of(self.shapes, schema, self.classes_)
        for first, second in pairs:
            if first in shapes or second in shapes:
                names = f"{schema.names[first]!r} and {schema.names[second]!r}"
                raise InputError(
                    f"interactions name the pair of {names}, and a column with a shape has no pairs, since "
                    "the score has the shape whatever other columns hold: leave out the pair or the shape"
                )

    def _keep_shape_costs(
        self, search: Any, trial: RelevanceTrial, solver_of: Callable[[SmoothColumns], Any]
    ) -> None:
        """Keep what each shape costs in held-out loss."""
        costs = costs_of_shapes(search, trial, solver_of) if self.shapes_ else {}
        names, numeric = self.schema_.names, self.schema_.numeric
        by_name = {names[numeric[number]]: cost for number, cost in costs.items()}
        # A column without any value has no curve, and its shape costs nothing.
        found = np.array([by_name.get(name, (0.0, 0.0)) for name in self.shapes_]).reshape(-1, 2)
        self._shape_costs = {"cost": found[:, 0], "standard_error": found[:, 1]}

    def _question_shapes(self) -> None:
        """Warn of shapes that the rows contradict clearly."""
        for name, cost, error in zip(self.shapes_, *self._shape_costs.values(), strict=True):
            if cost > CLEARLY * error:
                contradicted = f"the rows contradict the shape {self.shapes_[name]!r} of {name!r}"
                warn_caller(
                    f"{type(self).__name__}: {contradicted}, without which the held-out log loss is lower by "
                    f"{cost:.2g}, with a standard error of {error:.1g}: look at the column, or leave the "
                    "shape out",
                    ShapeWarning,
                )

    @property
    def shape_costs_(self) -> Any:
        """A frame with one row per shape: column, shape, cost, standard_error."""
        check_is_fitted(self)
        columns = np.array([*self.shapes_], dtype=object)
        shapes = np.array([*self.shapes_.values()], dtype=object)
        return frame_like(None, {"column": columns, "shape": shapes, **self._shape_costs})


def obeying(columns: SmoothColumns, coefficients: Floats) -> Floats:
    """Return coefficients without the rounding by which they may leave the shapes of columns."""
    constraints = ShapeConstraints.of(columns, by_class(coefficients[:1]).shape[1])
    if not len(constraints):
        return coefficients
    gram = constraints.covariance(np.eye(len(constraints.positions)))
    return nearest_obeying(constraints, gram, coefficients)


def check_shapes(shapes: Any) -> None:
    """Refuse what is neither None nor a mapping of columns to shapes, a class beside them or not."""
    if shapes is None:
        return
    if not isinstance(shapes, Mapping):
        raise InputError(
            "shapes is None or a mapping of columns to shapes, such as {'age': 'increasing'}, got "
            f"{shapes!r}"
        )
    for column, given in shapes.items():
        kind, _ = _parts(given)
        if kind not in (*KINDS, NONE):
            raise InputError(
                f"the shape of {column!r} is one of {', '.join(map(repr, (*KINDS, NONE)))}, or a pair of one "
                f"of these and a class, got {given!r}"
            )


def check_smoothness(smoothness: Any) -> None:
    """Refuse what is neither None nor a mapping of columns to positive numbers."""
    if smoothness is None:
        return
    if not isinstance(smoothness, Mapping):
        raise InputError(
            "smoothness is None or a mapping of columns to what the ridge of their curves is multiplied by, "
            f"such as {{'age': 3}}, got {smoothness!r}"
        )
    for column, times in smoothness.items():
        if not is_number(times) or times <= 0:
            raise InputError(f"the smoothness of {column!r} is a number above 0, got {times!r}")


def _parts(given: Any) -> tuple[Any, Any]:
    """Return a shape and the class that it is about, or None without one."""
    if isinstance(given, tuple | list) and len(given) == 2:
        return given[0], given[1]
    return (NONE if given is None else given), None


def position_of(names: tuple[str, ...], entry: Any, parameter: str) -> int:
    """Return the position of a column, given by name or position."""
    if isinstance(entry, str) and entry in names:
        return names.index(entry)
    if is_whole(entry) and -len(names) <= entry < len(names):
        return int(entry) % len(names)
    raise InputError(f"{parameter} names {entry!r}, which is not a column: {list(names)}")


def shapes_of(given: Any, schema: Schema, classes: NDArray[Any]) -> dict[int, Shape]:
    """Return the shapes of columns by position; refuse what cannot be promised."""
    found: dict[int, Shape] = {}
    for column, shape in (given or {}).items():
        position = position_of(schema.names, column, "shapes")
        _refuse_category(schema, position, "shape")
        kind, named = _parts(shape)
        if kind != NONE:
            found[position] = _shape(column, kind, named, classes)
    return found


def smoothness_of(given: Any, schema: Schema) -> dict[int, float]:
    """Return the smoothness of columns by position."""
    found: dict[int, float] = {}
    for column, times in (given or {}).items():
        position = position_of(schema.names, column, "smoothness")
        _refuse_category(schema, position, "smoothness")
        found[position] = float(times)
    return found


def _refuse_category(schema: Schema, position: int, what: str) -> None:
    column = schema.columns[position]
    if isinstance(column, CategoricalColumn):
        raise InputError(
            f"{column.name!r} is a column of categories, which has no curve and no {what}: leave it out, or "
            "pass it as a column of numbers"
        )


def _shape(column: Any, kind: str, named: Any, classes: NDArray[Any]) -> Shape:
    """Return a shape that can be promised."""
    labels = classes.tolist()
    if kind == LINEAR:
        if named is not None:
            raise InputError(
                f"'linear' for {column!r} is about the scores of all classes: leave the class {named!r} out"
            )
        return Shape(kind)
    if named is not None and named not in labels:
        raise InputError(
            f"the shape of {column!r} names the class {named!r}, and the classes are "
            f"{', '.join(map(repr, labels))}"
        )
    if len(labels) > 2 and kind in BENT:
        raise InputError(
            f"{kind!r} for {column!r} is about the log odds of two classes, and there are {len(labels)}: an "
            "'increasing' or 'decreasing' score of one class can be promised, or 'linear' ones of all"
        )
    if len(labels) > 2 and named is None:
        raise InputError(
            f"with {len(labels)} classes a shape is about one of them: pass {column!r} as "
            f"({kind!r}, {labels[-1]!r}) or with another of the classes {', '.join(map(repr, labels))}"
        )
    return Shape(kind, labels.index(named) if named is not None else len(labels) - 1)
