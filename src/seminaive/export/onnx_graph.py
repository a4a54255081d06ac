"""A fitted model as an ONNX graph of standard operators in double precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode import CategoricalColumn
from seminaive.errors import InputError, MissingExtraError
from seminaive.explain.portable import Portable, warn_of_text
from seminaive.scores.attenuation import PER_VARIANCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Text that stands for a missing cell in runtimes without missing text, unless it is a category.
MISSING_TEXTS = ("", "None", "nan", "NaN", "<NA>")
OPSET, ML_OPSET, IR_VERSION = 18, 3, 9


def to_onnx(model: Any) -> Any:
    """Return a fitted additive model as an ONNX model, with one input per column.

    Inputs are named like the columns and have the shape (n_rows, 1): text for categories that are text,
    doubles for everything else, booleans being 0 and 1. NaN is missing; so are the texts "", "None", "nan",
    "NaN" and "<NA>", unless they are categories. Outputs are ``label`` and ``probabilities``, of shape
    (n_rows, n_classes). Columns that the model does not look at are no inputs. Needs ``seminaive[onnx]``.

    Parameters
    ----------
    model : a fitted additive model

    Returns
    -------
    onnx.ModelProto
    """
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError("ONNX models need onnx: pip install 'seminaive[onnx]'") from error
    portable = Portable.of(model)
    warn_of_text(portable, "ONNX")
    graph = _Graph(onnx, portable)
    return graph.build()


class _Graph:
    """Nodes and constants of a graph, added one by one."""

    def __init__(self, onnx: Any, portable: Portable) -> None:
        self.helper, self.numpy_helper, self.onnx = onnx.helper, onnx.numpy_helper, onnx
        self.portable = portable
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []

    def constant(self, values: Any, kind: Any = np.float64) -> str:
        name = f"constant_{len(self.constants)}"
        array: NDArray[Any] = np.asarray(values, dtype=kind)
        self.constants.append(self.numpy_helper.from_array(array, name))
        return name

    def node(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(operator, list(inputs), [name], domain=domain, **attributes))
        return name

    def whole(self, value: Any) -> str:
        return self.constant(value, np.int64)

    def build(self) -> Any:
        codes = self.read_columns()
        if not self.inputs:
            raise InputError("the model looks at no column: there is nothing to export")
        outputs = self.answer(self.total(codes))
        graph = self.helper.make_graph(self.nodes, self.portable.model, self.inputs, outputs, self.constants)
        opsets = [self.helper.make_opsetid("", OPSET), self.helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        made = self.helper.make_model(
            graph, opset_imports=opsets, producer_name="seminaive", ir_version=IR_VERSION
        )
        self.onnx.checker.check_model(made)
        return made

    def read_columns(self) -> dict[int, str]:
        """Make an input of every column that the model looks at; return the codes of those with tables."""
        portable, tensor = self.portable, self.onnx.TensorProto
        codes = {}
        for position in sorted({*portable.coded, *portable.curves}):
            column = portable.schema.columns[position]
            text = isinstance(column, CategoricalColumn) and column.is_text
            if isinstance(column, CategoricalColumn) and column.is_text is None:
                raise InputError(
                    f"column {column.name!r} holds text and numbers, an input of ONNX has one type: make it "
                    "text and fit again"
                )
            kind = tensor.STRING if text else tensor.DOUBLE
            self.inputs.append(self.helper.make_tensor_value_info(column.name, kind, ["n_rows", 1]))
            if position in portable.coded and portable.nodes(position) is None:
                codes[position] = self.code(position, None if text else self.node("IsNaN", column.name))
        return codes

    def total(self, codes: dict[int, str]) -> str:
        """Return the scores of all classes, (n_rows, n_classes)."""
        portable = self.portable
        total = self.constant(portable.intercept[None])
        for looked_up in self.look_up(codes):
            total = self.node("Add", total, looked_up)
        if portable.curves:
            total = self.node("Add", total, self.curves())
        if portable.unknown is not None:
            total = self.attenuated(total, codes)
        if len(portable.classes) == 2:
            zero = self.node("Mul", total, self.constant(0.0))
            total = self.node("Concat", zero, total, axis=1)
        return total

    def attenuated(self, total: str, codes: dict[int, str]) -> str:
        """Return the scores, those of rows with unknown cells drawn toward the class shares."""
        attenuation, schema, tensor = self.portable.unknown, self.portable.schema, self.onnx.TensorProto
        assert attenuation is not None  # noqa: S101 - narrows the type
        found = [
            self.node("Equal", codes[position], self.whole(schema.n_values(schema.columns[position])))
            if isinstance(schema.columns[position], CategoricalColumn)
            else self.node("IsNaN", schema.columns[position].name)
            for position in attenuation.positions
        ]
        every = self.node("Concat", *found, axis=1) if len(found) > 1 else found[0]
        unknown = self.node("Cast", every, to=tensor.DOUBLE)
        with_others = self.node("MatMul", unknown, self.constant(attenuation.covariance))
        spread = self.node("Mul", with_others, unknown)
        variance = self.node("Max", self._sum(spread), self.constant(0.0))
        scaled = self.node("Mul", variance, self.constant(PER_VARIANCE))
        one = self.constant(1.0)
        factor = self.node("Div", one, self.node("Sqrt", self.node("Add", scaled, one)))
        lost = self.node("Div", self.node("Sub", one, factor), self.constant(attenuation.most_lost))
        pulled = self.node("Mul", self.node("Min", lost, one), self.constant(attenuation.lack[None]))
        return self.node("Add", self.node("Mul", total, factor), pulled)

    def answer(self, total: str) -> list[Any]:
        """Add the nodes of the label and the probabilities, and return these outputs."""
        classes, tensor = self.portable.classes, self.onnx.TensorProto
        probabilities = self.node("Softmax", total, axis=1)
        best = self.node("ArgMax", probabilities, axis=1, keepdims=0)
        text = isinstance(classes[0], str)
        labels = self.constant(classes, object if text else np.int64)
        label = self.node("Gather", labels, best)
        self.nodes.append(self.helper.make_node("Identity", [probabilities], ["probabilities"]))
        self.nodes.append(self.helper.make_node("Identity", [label], ["label"]))
        kind = tensor.STRING if text else tensor.INT64
        return [
            self.helper.make_tensor_value_info("label", kind, ["n_rows"]),
            self.helper.make_tensor_value_info("probabilities", tensor.DOUBLE, ["n_rows", len(classes)]),
        ]

    def code(self, position: int, absent: str | None) -> str:
        """Return the codes of a column, (n_rows, 1)."""
        column = self.portable.schema.columns[position]
        missing, unseen = column.n_present, self.portable.schema.n_values(column)
        if absent is None:
            assert isinstance(column, CategoricalColumn)  # noqa: S101 - narrows the type
            keys = [str(category) for category in column.categories]
            values = list(range(len(keys)))
            for text in MISSING_TEXTS:
                if text not in keys[: column.n_present]:
                    keys.append(text)
                    values.append(missing)
            return self.node(
                "LabelEncoder", column.name, domain="ai.onnx.ml",
                keys_strings=keys, values_int64s=values, default_int64=unseen,
            )  # fmt: skip
        if isinstance(column, CategoricalColumn):
            categories = np.array([[float(category) for category in column.categories]])
            equal = self.node("Equal", column.name, self.constant(categories))
            # Less the code of unseen, so that nothing found gives it.
            shifted = self.whole([np.arange(column.n_present) - unseen])
            found = self.node("Mul", self.node("Cast", equal, to=self.onnx.TensorProto.INT64), shifted)
            known = self.node("Add", self._sum(found), self.whole(unseen))
        else:
            known = self.below(column.name, column.cuts or ())  # type: ignore[union-attr]
        return self.node("Where", absent, self.whole(missing), known)

    def below(self, x: str, edges: Any) -> str:
        """Return how many edges are below each number, (n_rows, 1)."""
        if not len(edges):
            zero = self.node("Cast", self.node("IsNaN", x), to=self.onnx.TensorProto.INT64)
            return self.node("Mul", zero, self.whole(0))
        above = self.node("Less", self.constant([list(edges)]), x)
        return self._sum(self.node("Cast", above, to=self.onnx.TensorProto.INT64))

    def _sum(self, values: str) -> str:
        return self.node("ReduceSum", values, self.whole([1]), keepdims=1)

    def look_up(self, codes: dict[int, str]) -> list[str]:
        """Return sums of all tables: of those that are read by codes, and between nodes of one and of two."""
        portable = self.portable
        tables = [
            *(((position,), values) for position, values in portable.tables.items()),
            *portable.dense_tuples,
        ]
        if not tables:
            return []
        numbers = [position for position in portable.coded if portable.nodes(position) is not None]
        names, along = list(codes.values()), ""
        if numbers:
            below, along = self.nodes_below(numbers)
            names.append(below)
        every = self.node("Concat", *names, axis=1) if len(names) > 1 else names[0]
        columns = {position: k for k, position in enumerate([*codes, *numbers])}
        by_axes: dict[int, list[tuple[tuple[int, ...], Any]]] = {}
        for positions, values in tables:
            n_axes = sum(position in numbers for position in positions)
            by_axes.setdefault(n_axes, []).append((positions, values))
        return [self.gathered(group, every, along, columns, numbers) for group in by_axes.values()]

    def nodes_below(self, positions: list[int]) -> tuple[str, str]:
        """Return the nodes below numbers, and how far they are on the way to the next, (n_rows, n)."""
        schema, tensor = self.portable.schema, self.onnx.TensorProto
        every = [np.array(self.portable.nodes(position)) for position in positions]
        names = [schema.columns[position].name for position in positions]
        x = self.node("Concat", *names, axis=1) if len(names) > 1 else names[0]
        padded = np.full((1, len(every), max(map(len, every))), np.inf)
        for k, nodes in enumerate(every):
            padded[0, k, : len(nodes)] = nodes
        reached = self.node("LessOrEqual", self.constant(padded), self.node("Unsqueeze", x, self.whole([2])))
        count = self.node(
            "ReduceSum", self.node("Cast", reached, to=tensor.INT64), self.whole([2]), keepdims=0
        )
        below = self.node("Max", self.node("Sub", count, self.whole(1)), self.whole(0))
        flat = self.node("Add", below, self.whole(np.cumsum([0, *map(len, every[:-1])])))
        # Beyond the last node nothing follows: the share of an infinite way is 0.
        gaps = np.concatenate([np.append(np.diff(nodes), np.inf) for nodes in every])
        from_node = self.node("Sub", x, self.node("Gather", self.constant(np.concatenate(every)), flat))
        share = self.node("Div", from_node, self.node("Gather", self.constant(gaps), flat))
        absent = self.node("IsNaN", x)
        along = self.node("Where", absent, self.constant(0.0), self.node("Max", share, self.constant(0.0)))
        missing = self.whole([[schema.columns[position].n_present for position in positions]])
        return self.node("Where", absent, missing, below), along

    def gathered(
        self, tables: list[Any], every: str, along: str, columns: dict[int, int], numbers: list[int]
    ) -> str:
        """Return the sum of tables with equally many axes between nodes: a gather for each corner.

        Parameters
        ----------
        tables : list of (positions, values)
        every, along : str
            The codes of all columns, and the shares of the way of numbers.
        columns : dict of int to int
            The place of each position in ``every``.
        numbers : list of int
            The positions of ``along``.
        """
        n_axes = sum(position in numbers for position in tables[0][0])
        strides = np.zeros((len(columns), len(tables)), dtype=np.int64)
        moves = np.zeros((n_axes, len(numbers), len(tables)), dtype=np.int64)
        for term, (positions, _) in enumerate(tables):
            stride, axis = 1, 0
            for position, size in zip(positions[::-1], self.portable.shape(positions)[::-1], strict=True):
                strides[columns[position], term] = stride
                if position in numbers:
                    moves[axis, numbers.index(position), term] = stride
                    axis += 1
                stride *= size
        offsets = np.cumsum([0, *(len(values) for _, values in tables[:-1])])
        cells = self.node("Add", self.node("MatMul", every, self.whole(strides)), self.whole(offsets))
        shares = ""
        for axis in range(n_axes):
            steps = np.tile(moves[axis], (1, 1 << axis))
            cells, shares = self.both_sides(cells, shares, along, steps)
        block = self.constant(np.concatenate([values for _, values in tables]))
        found = self.node("Gather", block, cells)
        if shares:
            found = self.node("Mul", found, self.node("Unsqueeze", shares, self.whole([2])))
        return self.node("ReduceSum", found, self.whole([1]), keepdims=0)

    def both_sides(self, cells: str, shares: str, along: str, moves: Any) -> tuple[str, str]:
        """Return cells at the nodes below and above along one axis, and the shares of both."""
        tensor = self.onnx.TensorProto
        between = self.node("Cast", self.node("Greater", along, self.constant(0.0)), to=tensor.INT64)
        above = self.node("Add", cells, self.node("MatMul", between, self.whole(moves)))
        share = self.node("MatMul", along, self.constant(moves > 0))
        rest = self.node("Sub", self.constant(1.0), share)
        if shares:
            rest, share = self.node("Mul", shares, rest), self.node("Mul", shares, share)
        return self.node("Concat", cells, above, axis=1), self.node("Concat", rest, share, axis=1)

    def curves(self) -> str:
        """Return the sum of all curves, (n_rows, n_outputs): all numbers side by side, edges padded."""
        portable = self.portable
        curves = list(portable.curves.values())
        names = [portable.schema.columns[position].name for position in portable.curves]
        x = self.node("Concat", *names, axis=1) if len(names) > 1 else names[0]
        wide = self.node("Unsqueeze", x, self.whole([2]))
        edges = np.full((1, len(curves), max(1, *(len(curve.edges) for curve in curves))), np.inf)
        for k, curve in enumerate(curves):
            edges[0, k, : len(curve.edges)] = curve.edges
        above = self.node("Less", self.constant(edges), wide)
        below = self.node("Cast", above, to=self.onnx.TensorProto.INT64)
        n_below = self.node("ReduceSum", below, self.whole([2]), keepdims=0)
        offsets = np.cumsum([0, *(curve.n_pieces for curve in curves[:-1])])
        piece = self.node("Add", n_below, self.whole(offsets))
        anchors = np.concatenate([curve.anchors for curve in curves])[:, None]
        scales = np.array([[[curve.scale] for curve in curves]])
        from_anchor = self.node("Sub", wide, self.node("Gather", self.constant(anchors), piece))
        z = self.node("Mul", from_anchor, self.constant(scales))
        coefficients = np.concatenate([curve.coefficients for curve in curves])
        constant, linear, quadratic = (
            self.node("Gather", self.constant(coefficients[:, power]), piece) for power in range(3)
        )
        inner = self.node("Add", linear, self.node("Mul", z, quadratic))
        value = self.node("Add", constant, self.node("Mul", z, inner))
        missing = self.constant([[curve.missing for curve in curves]])
        known = self.node("Where", self.node("IsNaN", wide), missing, value)
        return self.node("ReduceSum", known, self.whole([1]), keepdims=0)
