"""Converters for skl2onnx, so that a pipeline with one of our models becomes one ONNX graph."""

from __future__ import annotations

from typing import Any

from seminaive import models
from seminaive.encode import CategoricalColumn
from seminaive.errors import InputError, MissingExtraError
from seminaive.export.onnx_graph import to_onnx
from seminaive.models.additive_classifier import AdditiveClassifier

# The version of LabelEncoder, the only operator outside of the default domain.
LABEL_ENCODER = 2


def register_onnx_converters() -> None:
    """Teach skl2onnx every additive model of this package, for pipelines.

    Afterwards ``skl2onnx.to_onnx`` and ``convert_sklearn`` take pipelines that end with such a model. Its
    outputs are ``label`` and ``probabilities``, in double precision and never as a list of dicts. Inputs may
    be one tensor with all columns, as scalers and encoders give, or one per column. Scalers calculate in the
    precision of the inputs: declare ``DoubleTensorType`` to have the probabilities of the pipeline to 1e-12.
    Needs ``seminaive[onnx]``.
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError as error:
        raise MissingExtraError("pipelines need skl2onnx: pip install 'seminaive[onnx]'") from error
    import seminaive

    for name in sorted({*dir(seminaive), *dir(models)}):
        model = getattr(seminaive if name in dir(seminaive) else models, name)
        if isinstance(model, type) and issubclass(model, AdditiveClassifier):
            update_registered_converter(model, f"Seminaive{name}", _shapes, _convert, parser=_parse)


def _parse(scope: Any, model: Any, inputs: Any, **_: Any) -> Any:
    """Declare an operator with its two outputs."""
    from skl2onnx.common.data_types import DoubleTensorType, Int64TensorType, StringTensorType

    operator = scope.declare_local_operator(f"Seminaive{type(model).__name__}", model)
    operator.inputs = inputs
    kind = StringTensorType if isinstance(model.classes_.tolist()[0], str) else Int64TensorType
    for name, type_ in (("label", kind()), ("probabilities", DoubleTensorType())):
        operator.outputs.append(scope.declare_local_variable(name, type_))
    return operator.outputs


def _shapes(operator: Any) -> None:
    rows = operator.inputs[0].get_first_dimension()
    operator.outputs[0].type.shape = [rows]
    operator.outputs[1].type.shape = [rows, len(operator.raw_operator.classes_)]


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the graph of a model, under names that are new in the graph of the pipeline."""
    from onnx import helper, numpy_helper

    graph = to_onnx(operator.raw_operator).graph
    names: dict[str, str] = {
        "label": operator.outputs[0].full_name,
        "probabilities": operator.outputs[1].full_name,
    }
    names |= _columns(scope, operator, container, [tensor.name for tensor in graph.input])

    def renamed(name: str) -> str:
        if name not in names:
            names[name] = scope.get_unique_variable_name("seminaive")
        return names[name]

    for constant in graph.initializer:
        content = numpy_helper.to_array(constant).ravel()
        container.add_initializer(renamed(constant.name), constant.data_type, constant.dims, content)
    for node in graph.node:
        attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        container.add_node(
            node.op_type,
            [renamed(name) for name in node.input],
            [renamed(name) for name in node.output],
            op_domain=node.domain,
            op_version=LABEL_ENCODER if node.domain else None,
            name=scope.get_unique_operator_name("Seminaive"),
            **attributes,
        )


def _columns(scope: Any, operator: Any, container: Any, used: list[str]) -> dict[str, str]:
    """Return for each column that the model looks at the name of a tensor of shape (n_rows, 1)."""
    from onnx import TensorProto
    from skl2onnx.common.data_types import StringTensorType

    columns = operator.raw_operator.schema_.columns
    cells = [(tensor, k) for tensor in operator.inputs for k in range(tensor.get_second_dimension() or 1)]
    if len(cells) != len(columns):
        raise InputError(f"fitted on {len(columns)} columns, the inputs have {len(cells)}")
    found = {}
    for column, (tensor, k) in zip(columns, cells, strict=True):
        if column.name not in used:
            continue
        is_text = isinstance(column, CategoricalColumn) and bool(column.is_text)
        if is_text != isinstance(tensor.type, StringTensorType):
            raise InputError(
                f"column {column.name!r} holds {'text' if is_text else 'numbers'}, the input "
                f"{tensor.raw_name!r} is declared as {type(tensor.type).__name__}"
            )
        position = scope.get_unique_variable_name("column")
        container.add_initializer(position, TensorProto.INT64, [1], [k])
        found[column.name] = scope.get_unique_variable_name("column")
        taken = found[column.name] if is_text else scope.get_unique_variable_name("column")
        container.add_node(
            "Gather",
            [tensor.full_name, position],
            [taken],
            axis=1,
            name=scope.get_unique_operator_name("Gather"),
        )
        if not is_text:
            container.add_node(
                "Cast", [taken], [found[column.name]], to=TensorProto.DOUBLE,
                name=scope.get_unique_operator_name("Cast"),
            )  # fmt: skip
    return found
