"""Additions of four doubles at a time, the operations that a pass over the rows consists of.

A loop over a handful of classes is not vectorised by the compiler, which must assume that the arrays
overlap; so these are spelled out as vector instructions.
"""

from typing import Any

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

LANES = 4
_BYTES = 8  # a double's alignment: rows start at any double


def _four(context: Any, builder: Any, kind: Any, array: Any, row: Any, column: Any) -> Any:
    """Return the address of array[row, column:column + 4] as a pointer to a vector."""
    view = context.make_array(kind)(context, builder, array)
    position = builder.add(builder.mul(row, builder.extract_value(view.shape, 1)), column)
    address = builder.gep(view.data, [position])
    return builder.bitcast(address, ir.VectorType(ir.DoubleType(), LANES).as_pointer())


def _load(context: Any, builder: Any, kind: Any, array: Any, row: Any, column: Any) -> Any:
    """Return array[row, column:column + 4] as a vector."""
    return builder.load(_four(context, builder, kind, array, row, column), align=_BYTES)


def _add(context: Any, builder: Any, kind: Any, array: Any, row: Any, column: Any, summand: Any) -> None:
    """Add a vector to array[row, column:column + 4]."""
    address = _four(context, builder, kind, array, row, column)
    builder.store(builder.fadd(builder.load(address, align=_BYTES), summand), address, align=_BYTES)


def _everywhere(builder: Any, x: Any) -> Any:
    """Return x in all four places of a vector."""
    vector = ir.VectorType(ir.DoubleType(), LANES)
    places = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), x, ir.IntType(32)(0))
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), places)


def _shares(builder: Any, x: Any) -> tuple[Any, Any]:
    """Return 1 - x and x, each in all four places of a vector."""
    rest = builder.fsub(ir.Constant(ir.DoubleType(), 1.0), x)
    return _everywhere(builder, rest), _everywhere(builder, x)


def _void(context: Any) -> Any:
    return context.get_dummy_value()


@intrinsic
def sum_rows(
    typing: Any, target: Any, i: Any, base: Any, j: Any, source: Any, a: Any, b: Any, c: Any, d: Any, k: Any
) -> Any:
    """Set target[i] to base[j] + source[a] + source[b] + source[c] + source[d], in columns k to k + 3.

    base, source and target are row-major (rows, columns) float64; base may be target.
    """
    del typing, i, j, a, b, c, d, k
    whole = types.int64
    signature = types.void(target, whole, base, whole, source, whole, whole, whole, whole, whole)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, i, base, j, source, *rows, k = arguments
        total = _load(context, builder, signature.args[2], base, j, k)
        for row in rows:
            total = builder.fadd(total, _load(context, builder, signature.args[4], source, row, k))
        builder.store(total, _four(context, builder, signature.args[0], target, i, k), align=_BYTES)
        return _void(context)

    return signature, generate


@intrinsic
def add_row(typing: Any, target: Any, i: Any, source: Any, a: Any, k: Any) -> Any:
    """Add source[a] to target[i], in columns k to k + 3.

    source and target are row-major (rows, columns) float64.
    """
    del typing, i, a, k
    signature = types.void(target, types.int64, source, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, i, source, a, k = arguments
        row_values = _load(context, builder, signature.args[2], source, a, k)
        _add(context, builder, signature.args[0], target, i, k, row_values)
        return _void(context)

    return signature, generate


@intrinsic
def set_row(typing: Any, target: Any, i: Any, base: Any, j: Any, source: Any, a: Any, k: Any) -> Any:
    """Set target[i] to base[j] + source[a], in columns k to k + 3.

    base, source and target are row-major (rows, columns) float64; base may be target.
    """
    del typing, i, j, a, k
    whole = types.int64
    signature = types.void(target, whole, base, whole, source, whole, whole)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, i, base, j, source, a, k = arguments
        before = _load(context, builder, signature.args[2], base, j, k)
        row_values = _load(context, builder, signature.args[4], source, a, k)
        address = _four(context, builder, signature.args[0], target, i, k)
        builder.store(builder.fadd(before, row_values), address, align=_BYTES)
        return _void(context)

    return signature, generate


@intrinsic
def add_scaled(typing: Any, target: Any, i: Any, source: Any, a: Any, x: Any, k: Any) -> Any:
    """Add x source[a] to target[i], in columns k to k + 3.

    source and target are row-major (rows, columns) float64, x is float64.
    """
    del typing, i, a, x, k
    whole = types.int64
    signature = types.void(target, whole, source, whole, types.float64, whole)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, i, source, a, x, k = arguments
        values = _load(context, builder, signature.args[2], source, a, k)
        scaled = builder.fmul(_everywhere(builder, x), values)
        _add(context, builder, signature.args[0], target, i, k, scaled)
        return _void(context)

    return signature, generate


@intrinsic
def add_between(typing: Any, target: Any, i: Any, source: Any, a: Any, x: Any, k: Any) -> Any:
    """Add (1 - x) source[a] + x source[a + 1] to target[i], in columns k to k + 3.

    source and target are row-major (rows, columns) float64, x is float64.
    """
    del typing, i, a, x, k
    whole = types.int64
    signature = types.void(target, whole, source, whole, types.float64, whole)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, i, source, a, x, k = arguments
        following = builder.add(a, ir.IntType(64)(1))
        parts = [
            builder.fmul(share, _load(context, builder, signature.args[2], source, row, k))
            for share, row in zip(_shares(builder, x), (a, following), strict=True)
        ]
        _add(context, builder, signature.args[0], target, i, k, builder.fadd(*parts))
        return _void(context)

    return signature, generate


@intrinsic
def spread_between(typing: Any, target: Any, a: Any, x: Any, source: Any, i: Any, k: Any) -> Any:
    """Add (1 - x) source[i] to target[a] and x source[i] to target[a + 1], in columns k to k + 3.

    source and target are row-major (rows, columns) float64, x is float64.
    """
    del typing, a, x, i, k
    whole = types.int64
    signature = types.void(target, whole, types.float64, source, whole, whole)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, a, x, source, i, k = arguments
        values = _load(context, builder, signature.args[3], source, i, k)
        following = builder.add(a, ir.IntType(64)(1))
        for share, row in zip(_shares(builder, x), (a, following), strict=True):
            _add(context, builder, signature.args[0], target, row, k, builder.fmul(share, values))
        return _void(context)

    return signature, generate


if config.DISABLE_JIT:  # plain Python has no vector instructions

    def sum_rows(target, i, base, j, source, a, b, c, d, k):  # noqa: D103 - as above
        lanes = slice(k, k + LANES)
        total = base[j, lanes] + source[a, lanes] + source[b, lanes]
        target[i, lanes] = total + source[c, lanes] + source[d, lanes]

    def add_row(target, i, source, a, k):  # noqa: D103 - as above
        target[i, k : k + LANES] += source[a, k : k + LANES]

    def set_row(target, i, base, j, source, a, k):  # noqa: D103 - as above
        target[i, k : k + LANES] = base[j, k : k + LANES] + source[a, k : k + LANES]

    def add_scaled(target, i, source, a, x, k):  # noqa: D103 - as above
        target[i, k : k + LANES] += x * source[a, k : k + LANES]

    def add_between(target, i, source, a, x, k):  # noqa: D103 - as above
        lanes = slice(k, k + LANES)
        target[i, lanes] += (1.0 - x) * source[a, lanes] + x * source[a + 1, lanes]

    def spread_between(target, a, x, source, i, k):  # noqa: D103 - as above
        lanes = slice(k, k + LANES)
        target[a, lanes] += (1.0 - x) * source[i, lanes]
        target[a + 1, lanes] += x * source[i, lanes]
