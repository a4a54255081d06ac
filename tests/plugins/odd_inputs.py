"""Some hundred odd columns, names, tables, targets and weights, as tables of the world hold them."""

import array
import collections
import datetime as dt
import enum
import fractions
import ipaddress
import pathlib
import uuid
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp

N = 60
Y = np.arange(N) % 2
RNG = np.random.default_rng(0)
NUMBER = RNG.normal(Y, 1.0)


class Colour(enum.Enum):
    """Members of an enumeration, which are no text."""

    RED = 1
    BLUE = 2


class Point:
    """An object that says nothing of itself."""


Pair = collections.namedtuple("Pair", "a b")  # noqa: PYI024 - rows as people write them


def repeat(*values):
    """Return N cells that go round some values."""
    return [values[k % len(values)] for k in range(N)]


def objects(*values):
    """Return cells as an array of objects, also where they are sequences."""
    cells = np.empty(N, dtype=object)
    cells[:] = repeat(*values)
    return cells


def arrow(values, type_=None):
    """Return cells as a column of pandas that arrow holds."""
    return pd.Series(pa.array(repeat(*values), type_), dtype=pd.ArrowDtype(pa.array(values, type_).type))


DAY = dt.date(2024, 1, 31)
UTC = dt.timezone.utc  # noqa: UP017 - what users write
CELLS = {
    "decimals": (Decimal("1.5"), Decimal("2.5"), Decimal("3.5")),
    "decimals that are none": (Decimal("1.5"), Decimal("NaN"), Decimal(3)),
    "signalling decimals": (Decimal("1.5"), Decimal("sNaN"), Decimal(3)),
    "infinite decimals": (Decimal("1.5"), Decimal("Infinity"), Decimal(3)),
    "immense decimals": (Decimal("1e400"), Decimal(1), Decimal(2)),
    "decimals and text": (Decimal("1.5"), "x", Decimal("sNaN")),
    "decimals and numbers": (Decimal("1.5"), 2.5, 3),
    "fractions": (fractions.Fraction(1, 3), fractions.Fraction(2, 3)),
    "complex": (1 + 2j, 2 + 1j),
    "bytes": (b"a", b"b"),
    "bytes and text": (b"a", "a"),
    "bytearrays": (bytearray(b"a"), bytearray(b"b")),
    "times": (dt.time(1), dt.time(2)),
    "durations": (dt.timedelta(1), dt.timedelta(2)),
    "dates": (DAY, DAY + dt.timedelta(1), None),
    "dates and text": (DAY, "later"),
    "dates and numbers": (DAY, 3.0),
    "dates and moments": (DAY, dt.datetime(2024, 1, 1, 12)),  # noqa: DTZ001 - as users write
    "moments with and without zone": (dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, tzinfo=UTC)),  # noqa: DTZ001
    "first and last date": (dt.date.min, dt.date.max, DAY),
    "first and last moment": (dt.datetime.min, dt.datetime.max),  # noqa: DTZ901 - as users write
    "timestamps at the ends": (pd.Timestamp.min, pd.Timestamp.max),
    "no time": (pd.NaT,),
    "nothing": (None,),
    "no numbers": (np.nan,),
    "NA": (pd.NA, 1, 2),
    "NA and text": (pd.NA, "a", "b"),
    "numbers and text": (1, "a"),
    "booleans and text": (True, "True"),
    "booleans and numbers": (True, 0.5),
    "booleans and nothing": (True, False, None),
    "lists": ([1], [2]),
    "maps": ({}, {"a": 1}),
    "sets": ({1}, {2}),
    "tuples": ((1, 2), (3, 4)),
    "frozen sets": (frozenset({1}), frozenset()),
    "arrays": (np.arange(2), np.arange(3)),
    "arrays of one number": (np.array([1.0]), np.array([2.0])),
    "arrays without dimensions": (np.array(1.0), np.array(2.0)),
    "enumeration": (Colour.RED, Colour.BLUE),
    "identifiers": (uuid.UUID(int=1), uuid.UUID(int=2)),
    "paths": (pathlib.Path("a"), pathlib.Path("b")),
    "addresses": (ipaddress.ip_address("1.1.1.1"), ipaddress.ip_address("::1")),
    "ranges": (range(2), range(3)),
    "functions": (len, max),
    "types": (int, str),
    "objects": (Point(), Point()),
    "periods": (pd.Period("2024-01"), pd.Period("2024-02")),
    "intervals": (pd.Interval(0, 1), pd.Interval(1, 2)),
    "lone surrogates": ("\ud800", "b"),
    "null characters": ("\0", "a\0b"),
    "empty text": ("", " ", "a"),
    "long text": ("x" * 100_000, "y"),
    "emoji": ("👩‍👩‍👧", "é", "e\u0301"),
    "other digits": ("١٢", "٣٤", "五"),
    "digits of other scripts with a mark": ("١٢.٥", "٣٤.٥", "٥.١"),  # noqa: RUF001 - they are meant
    "superscripts": ("x²", "²", "³"),
    "right to left": ("\u202eabc", "abc"),
    "line ends": ("a\nb", "a\r\nb"),
    "formulas": ("=1+1", "@SUM(1)"),
    "numbers as text that overflow": ("1e999", "2.5", "3.5"),
    "long digits as text": ("9" * 39, "8" * 39, "1.5"),
    "infinity as text": ("inf", "-inf", "nan", "1.5"),
    "money": ("$1,200.50", "$3", "(4)"),
    "dates as text": ("2024-02-30", "2024-01-01", "9999-12-31"),
    "dates with wild zones": ("2024-01-01 00:00+99:99", "2024-01-02", "2024-01-03"),
    "immense integers": (10**400, 1),
    "integers beyond 64 bits": (2**70, -(2**70), 3),
    "integers at the ends": (2**63 - 1, -(2**63)),
    "large unsigned": (2**64 - 1, 0),
    "infinite": (np.inf, 1.0),
    "both infinities": (np.inf, -np.inf),
    "largest doubles": (1.7e308, -1.7e308),
    "large doubles": (1e80, -1e80, 3e79),
    "larger doubles": (1e139, -1e139, 2e100, 1.0),
    "smallest doubles": (5e-324, 1e-310),
    "small doubles": (1e-160, 2e-160, 3e-170),
    "large and small": (1e120, 1e-120),
    "zeros": (0.0, -0.0),
    "one value": (1.5,),
    "near the next double": (1.0, np.nextafter(1.0, 2)),
    "scalars of NumPy": (np.float16(1), np.int8(2), np.bool_(True)),
    "longdouble": (np.longdouble(1) / 3, np.longdouble(2)),
    "text of NumPy": (np.str_("a"), np.str_("b")),
    "dates of NumPy": (np.datetime64("2024-01-01"), np.datetime64("NaT"), np.datetime64("2024-01-03")),
    "durations of NumPy": (np.timedelta64(1, "D"), np.timedelta64(2, "D")),
}
TYPED = {
    "float16": lambda: NUMBER.astype(np.float16),
    "longdouble": lambda: NUMBER.astype(np.longdouble),
    "complex64": lambda: NUMBER.astype(np.complex64),
    "booleans": lambda: NUMBER > 0,
    "nullable integers": lambda: pd.array(repeat(1, None, 3), "Int64"),
    "nullable doubles": lambda: pd.array(repeat(1.5, None), "Float64"),
    "nullable booleans": lambda: pd.array(repeat(True, None), "boolean"),
    "nullable text": lambda: pd.array(repeat("a", None), "string"),
    "categories of numbers": lambda: pd.Categorical(repeat(1, 2, None)),
    "categories of doubles": lambda: pd.Categorical(repeat(1.5, np.inf)),
    "categories of booleans": lambda: pd.Categorical(repeat(True, False)),
    "categories of tuples": lambda: pd.Categorical(objects((1, 2), (3, 4))),
    "categories of intervals": lambda: pd.cut(NUMBER, 3),
    "categories of dates": lambda: pd.Categorical(pd.to_datetime(repeat("2024-01-01", "2024-01-02"))),
    "categories of periods": lambda: pd.Categorical(pd.PeriodIndex(repeat("2024-01", "2024-02"), freq="M")),
    "categories of durations": lambda: pd.Categorical(pd.to_timedelta(repeat(1, 2), "D")),
    "categories of decimals": lambda: pd.Categorical(objects(Decimal(1), Decimal("NaN"))),
    "mixed categories": lambda: pd.Categorical(objects(1, "a")),
    "ordered categories": lambda: pd.Categorical(repeat("a", "b"), ["b", "a", "c"], ordered=True),
    "no categories": lambda: pd.Categorical([None] * N),
    "period type": lambda: pd.array(pd.PeriodIndex(repeat("2024-01", "2024-02"), freq="M")),
    "interval type": lambda: pd.arrays.IntervalArray.from_breaks(np.arange(N + 1)),
    "durations": lambda: pd.to_timedelta(np.arange(N), "D"),
    "zoned moments": lambda: pd.date_range("2024-03-31", periods=N, freq="h", tz="Europe/Berlin"),
    "moments in seconds": lambda: np.arange(N).astype("M8[s]"),
    "moments in femtoseconds": lambda: np.arange(N).astype("M8[fs]"),
    "years far away": lambda: (np.arange(N) * 10_000).astype("M8[Y]"),
    "sparse numbers": lambda: pd.arrays.SparseArray(repeat(0.0, 1.0)),
    "sparse text": lambda: pd.arrays.SparseArray(objects("a", "b"), dtype=pd.SparseDtype(object)),
    "arrow lists": lambda: arrow([[1], [2]]),
    "arrow structs": lambda: arrow([{"a": 1}, {"a": 2}]),
    "arrow maps": lambda: arrow([[("a", 1)], []], pa.map_(pa.string(), pa.int64())),
    "arrow decimals": lambda: arrow([Decimal("1.5"), None], pa.decimal128(10, 2)),
    "arrow long decimals": lambda: arrow([Decimal("1.5"), None], pa.decimal256(60, 2)),
    "arrow days": lambda: arrow([DAY, None], pa.date64()),
    "arrow times": lambda: arrow([dt.time(1), None], pa.time64("us")),
    "arrow durations": lambda: arrow([dt.timedelta(1), None], pa.duration("us")),
    "arrow bytes": lambda: arrow([b"a", b"b"], pa.binary()),
    "arrow bytes of one width": lambda: arrow([b"a", b"b"], pa.binary(1)),
    "arrow long text": lambda: arrow(["a", None], pa.large_string()),
    "arrow text views": lambda: arrow(["a", None], pa.string_view()),
    "arrow nothing": lambda: arrow([None], pa.null()),
    "arrow halves": lambda: arrow([np.float16(1), np.float16(2)], pa.float16()),
    "arrow booleans": lambda: arrow([True, None, False], pa.bool_()),
    "arrow codes": lambda: pd.Series(
        pa.array(repeat("a", "b")).dictionary_encode(),
        dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string())),
    ),
    "arrow months": lambda: arrow([(1, 2, 3), None], pa.month_day_nano_interval()),
    "arrow moments": lambda: arrow([dt.datetime(2024, 1, 1), None], pa.timestamp("ns", tz="UTC")),  # noqa: DTZ001
}
FROM_ARROW = {
    "lists": lambda: pa.array(repeat([1], [2])),
    "lists of one size": lambda: pa.array(repeat([1], [2]), pa.list_(pa.int64(), 1)),
    "codes of decimals": lambda: pa.array(repeat(Decimal(1), Decimal(2))).dictionary_encode(),
    "codes of dates": lambda: pa.array(repeat(DAY, None)).dictionary_encode(),
    "codes of bytes": lambda: pa.array(repeat(b"a", b"b")).dictionary_encode(),
    "codes of lists": lambda: pa.DictionaryArray.from_arrays(pa.array(repeat(0, 1)), pa.array([[1], [2]])),
    "runs": lambda: pa.RunEndEncodedArray.from_arrays(pa.array([30, N]), pa.array(["a", "b"])),
    "runs of nothing": lambda: pa.RunEndEncodedArray.from_arrays(pa.array([N]), pa.array([None])),
    "union": lambda: pa.UnionArray.from_sparse(
        pa.array(repeat(0, 1), pa.int8()), [pa.array(np.arange(N)), pa.array(repeat("a"))]
    ),
    "identifiers": lambda: pa.array([uuid.UUID(int=k).bytes for k in range(N)], pa.uuid()),
    "months": lambda: pa.array(repeat((1, 2, 3), None), pa.month_day_nano_interval()),
    "times": lambda: pa.array(repeat(dt.time(1), None)),
    "long decimals": lambda: pa.array(repeat(Decimal("1.5"), None), pa.decimal256(60, 2)),
    "halves": lambda: pa.array(NUMBER.astype(np.float16)),
    "nothing": lambda: pa.nulls(N),
    "moments of long ago": lambda: pa.array([-(2**62)] * N, pa.timestamp("s")),
    "days of long ago": lambda: pa.array(repeat(-(2**31), 2**31 - 1), pa.date32()),
    "text views": lambda: pa.array(repeat("a", "b"), pa.string_view()),
    "list views": lambda: pa.array(repeat([1], [2]), pa.list_view(pa.int64())),
    "eight-bit codes": lambda: pa.DictionaryArray.from_arrays(
        pa.array(repeat(0, 1), pa.uint8()), pa.array(["a", "b"])
    ),
}
FROM_POLARS = {
    "objects": lambda: pl.Series(values=repeat(Point(), Point()), dtype=pl.Object),
    "lists": lambda: pl.Series(values=repeat([1], [2])),
    "arrays": lambda: pl.Series(values=repeat([1, 2], [2, 3]), dtype=pl.Array(pl.Int64, 2)),
    "structs": lambda: pl.Series(values=repeat({"a": 1}, {"a": 2})),
    "levels": lambda: pl.Series(values=repeat("a", "b"), dtype=pl.Enum(["b", "a", "c"])),
    "categories": lambda: pl.Series(values=repeat("a", None), dtype=pl.Categorical),
    "decimals": lambda: pl.Series(values=repeat(Decimal("1.5"), None)),
    "times": lambda: pl.Series(values=repeat(dt.time(1), None)),
    "durations": lambda: pl.Series(values=repeat(dt.timedelta(1), None)),
    "nothing": lambda: pl.Series(values=[None] * N),
    "immense integers": lambda: pl.Series(values=repeat(2**100, -(2**100)), dtype=pl.Int128),
    "bytes": lambda: pl.Series(values=repeat(b"a", b"b")),
    "booleans": lambda: pl.Series(values=repeat(True, None)),
    "zoned moments": lambda: pl.Series(values=repeat(dt.datetime(2024, 1, 1, tzinfo=UTC), None)),
}
NAMES = {
    "lone surrogate": "\ud800",
    "null character": "a\0b",
    "empty": "",
    "space": " ",
    "nothing": None,
    "no number": np.nan,
    "tuple": ("a", "b"),
    "number": 3,
    "double": 0.5,
    "bytes": b"a",
    "date": pd.Timestamp("2024-01-01"),
    "long": "x" * 100_000,
    "line end": "a\nb",
    "quotes": "a'b\"c`d",
    "reserved": "prior",
    "formula": "=1+1",
    "brackets": "[a] & (b)",
    "enumeration": Colour.RED,
    "boolean": True,
    "the other's": "number",
    "percent": "%s {x} \\1",
}


def _tables():
    numbers = np.column_stack([NUMBER, RNG.normal(size=N)])
    frame = pd.DataFrame(numbers, columns=["a", "b"])
    return {
        "nothing": lambda: None,
        "a number": lambda: 3,
        "text": lambda: "table.csv",
        "bytes": lambda: b"table",
        "a path": lambda: pathlib.Path("table.csv"),
        "a set": lambda: {1, 2},
        "a map of columns": lambda: {"a": list(NUMBER), "b": list(NUMBER)},
        "a generator": lambda: (row for row in numbers),
        "an iterator": lambda: iter(numbers.tolist()),
        "a function": lambda: len,
        "a type": lambda: pd.DataFrame,
        "a column": lambda: frame["a"],
        "an index": lambda: frame.index,
        "a polars column": lambda: pl.Series(NUMBER),
        "an arrow column": lambda: pa.array(NUMBER),
        "arrow chunks": lambda: pa.chunked_array([pa.array(NUMBER)]),
        "an arrow batch": lambda: pa.RecordBatch.from_pandas(frame),
        "an arrow reader": lambda: pa.Table.from_pandas(frame).to_reader(),
        "a lazy frame": lambda: pl.from_pandas(frame).lazy(),
        "groups": lambda: frame.groupby("a"),
        "a window": lambda: frame.rolling(3),
        "a styled frame": frame.to_records,
        "a structured array": lambda: np.array([(1, "a")] * N, dtype=[("x", int), ("y", "U1")]),
        "a masked array": lambda: np.ma.masked_array(numbers, numbers > 0),
        "a matrix": lambda: np.asmatrix(numbers),
        "three dimensions": lambda: numbers[:, :, None],
        "one dimension": lambda: NUMBER,
        "no dimension": lambda: np.array(1.0),
        "no rows": lambda: numbers[:0],
        "no columns": lambda: numbers[:, :0],
        "no rows in a frame": lambda: frame.iloc[:0],
        "no columns in a frame": lambda: frame[[]],
        "no columns in polars": pl.DataFrame,
        "an empty list": list,
        "an empty map": dict,
        "lists of nothing": lambda: [[]] * N,
        "lists of different lengths": lambda: [[1, 2]] * (N - 1) + [[1]],
        "a list of numbers": NUMBER.tolist,
        "a list of texts": lambda: ["ab"] * N,
        "a list of maps": lambda: frame.to_dict("records"),
        "a list of maps and lists": lambda: [{"a": 1}, [1]] * (N // 2),
        "a list of sets": lambda: [{1, 2}] * N,
        "a list of columns": lambda: [frame["a"], frame["b"]],
        "a list of rows of pandas": lambda: [row for _, row in frame.iterrows()],
        "a list of named tuples": lambda: [Pair(1, 2)] * N,
        "a list of generators": lambda: [(cell for cell in row) for row in numbers],
        "a list of nothing": lambda: [None] * N,
        "a deque": lambda: collections.deque(numbers.tolist()),
        "an array of the standard library": lambda: array.array("d", NUMBER),
        "a view of memory": lambda: memoryview(np.ascontiguousarray(numbers)),
        "nested lists": lambda: [[[1], [2]]] * N,
        "objects in an array": lambda: np.array([[Point()]] * N, dtype=object),
        "bytes in an array": lambda: np.array([[b"a"]] * N),
        "raw bytes": lambda: np.zeros((N, 2), "V4"),
        "complex numbers": lambda: numbers + 1j,
        "durations": lambda: np.ones((N, 2)).astype("m8[D]"),
        "foreign byte order": lambda: numbers.astype(">f8"),
        "text of any length": lambda: np.array([["a", "b"]] * N, dtype=np.dtypes.StringDType()),
        "duplicate names": lambda: pd.concat([frame, frame], axis=1),
        "names on two levels": lambda: pd.concat({"u": frame}, axis=1),
        "names alike as text": lambda: frame.set_axis(["1", 1], axis=1),
        "duplicate rows in the index": lambda: frame.set_index(np.zeros(N)),
        "sparse counts": lambda: sp.random(N, 5, 0.5, "csr", random_state=0),
        "sparse indicators": lambda: sp.csr_matrix(numbers > 0),
        "sparse by coordinates": lambda: sp.coo_array(numbers > 0),
        "sparse diagonals": lambda: sp.dia_array(np.eye(N)),
        "sparse blocks": lambda: sp.bsr_array((numbers > 0).astype(int)),
        "sparse without rows": lambda: sp.csr_array((0, 3)),
        "sparse complex": lambda: sp.csr_matrix(numbers + 1j),
        "sparse in one dimension": lambda: sp.coo_array(NUMBER > 0),
        "sparse with no number": lambda: sp.csr_matrix(np.where(numbers > 0, np.nan, 0)),
    }


def _targets():
    return {
        "nothing": lambda: None,
        "a scalar": lambda: 1,
        "a text": lambda: "ab" * (N // 2),
        "bytes": lambda: b"ab" * (N // 2),
        "a map": lambda: dict(enumerate(Y)),
        "a map to text": lambda: dict.fromkeys(range(N), "a"),
        "a set": lambda: set(range(N)),
        "a generator": lambda: (label for label in Y),
        "keys": lambda: dict.fromkeys(range(N)).keys(),
        "values": lambda: dict(enumerate(Y.tolist())).values(),
        "a function": lambda: len,
        "two columns": lambda: np.column_stack([Y, Y]),
        "one column": lambda: Y[:, None],
        "one row": lambda: Y[None],
        "three dimensions": lambda: Y[:, None, None],
        "no dimension": lambda: np.array(1),
        "a frame of one column": lambda: pd.DataFrame({"y": Y}),
        "a frame of two columns": lambda: pd.DataFrame({"y": Y, "z": Y}),
        "a polars frame": lambda: pl.DataFrame({"y": Y}),
        "an arrow table": lambda: pa.table({"y": Y}),
        "lists": lambda: [[label] for label in Y],
        "lists of different lengths": lambda: [[1], [1, 2]] * (N // 2),
        "empty": list,
        "too short": lambda: Y[:-1],
        "too long": lambda: np.append(Y, 1),
        "one class": lambda: np.zeros(N),
        "a class of one row": lambda: np.append(np.zeros(N - 1), 1),
        "a class per row": lambda: np.arange(N),
        "a name per row": lambda: [f"n{k}" for k in range(N)],
        "fractions": lambda: NUMBER,
        "missing": lambda: np.where(Y, 1.0, np.nan),
        "infinite": lambda: np.where(Y, 1.0, np.inf),
        "immense doubles": lambda: np.where(Y, 1e300, 0.0),
        "immense integers": lambda: repeat(10**400, 1),
        "integers beyond 64 bits": lambda: repeat(2**70, 1),
        "integers at the ends": lambda: np.array(repeat(2**63 - 1, -(2**63))),
        "large unsigned": lambda: np.array(repeat(2**64 - 1, 0), dtype=np.uint64),
        "large unsigned and negative": lambda: repeat(2**64 - 1, -1),
        "complex": lambda: Y + 1j,
        "dates": lambda: np.arange(N).astype("M8[D]"),
        "durations": lambda: np.arange(N).astype("m8[D]"),
        "mixed": lambda: repeat("a", 1),
        "text and nothing": lambda: repeat("a", "b", None),
        "nothing but nothing": lambda: [None] * N,
        "booleans and nothing": lambda: repeat(True, False, None),
        "booleans and numbers": lambda: repeat(True, 2),
        "tuples": lambda: objects((1,), (2,)),
        "lone surrogates": lambda: repeat("\ud800", "b"),
        "null characters": lambda: repeat("a\0", "a"),
        "null characters in an array": lambda: np.array(repeat("a\0b", "a")),
        "empty text": lambda: repeat("", "a"),
        "decimals": lambda: repeat(Decimal(0), Decimal(1)),
        "signalling decimals": lambda: repeat(Decimal(0), Decimal("sNaN")),
        "fractions of whole numbers": lambda: repeat(fractions.Fraction(1), fractions.Fraction(2)),
        "enumeration": lambda: repeat(Colour.RED, Colour.BLUE),
        "identifiers": lambda: repeat(uuid.UUID(int=1), uuid.UUID(int=2)),
        "timestamps": lambda: repeat(pd.Timestamp("2024-01-01"), pd.Timestamp("2024-01-02")),
        "periods": lambda: pd.Series(pd.PeriodIndex(repeat("2024-01", "2024-02"), freq="M")),
        "intervals": lambda: pd.cut(NUMBER, 2),
        "categories": lambda: pd.Categorical(repeat("a", "b"), ["c", "b", "a"]),
        "categories with nothing": lambda: pd.Categorical(repeat("a", "b", None)),
        "nullable": lambda: pd.array(repeat(1, 2), "Int64"),
        "nullable with nothing": lambda: pd.array(repeat(1, 2, None), "Int64"),
        "nullable booleans with nothing": lambda: pd.Series(pd.array(repeat(True, False, None), "boolean")),
        "nullable text with nothing": lambda: pd.Series(pd.array(repeat("a", "b", None), "string")),
        "a masked array": lambda: np.ma.masked_array(Y, Y == 1),
        "sparse": lambda: sp.csr_matrix(Y),
        "a sparse column": lambda: pd.arrays.SparseArray(Y),
        "a range": lambda: range(N),
        "raw bytes": lambda: np.zeros(N, "V4"),
        "structured": lambda: np.array([(1, "a")] * N, dtype=[("x", int), ("y", "U1")]),
        "a view of memory": lambda: memoryview(Y),
        "a deque": lambda: collections.deque(Y.tolist()),
        "an index": lambda: pd.Index(Y),
        "two levels": lambda: pd.MultiIndex.from_arrays([Y, Y]),
        "a lazy frame": lambda: pl.LazyFrame({"y": Y}),
        "halves": lambda: Y.astype(np.float16),
        "foreign byte order": lambda: Y.astype(">i4"),
        **{f"arrow {name}": make for name, make in FROM_ARROW.items()},
        **{f"polars {name}": make for name, make in FROM_POLARS.items()},
        "arrow scalar": lambda: pa.scalar(1),
        "arrow text": lambda: pa.array(repeat("a", "b")),
        "arrow chunks": lambda: pa.chunked_array(
            [pa.array(repeat("a", "b"))[:5], pa.array(repeat("a", "b"))[5:]]
        ),
        "arrow integers": lambda: pa.array(Y),
        "arrow decimals": lambda: pa.array(repeat(Decimal(0), Decimal(1))),
        "arrow dates": lambda: pa.array(repeat(DAY, DAY + dt.timedelta(1))),
        "arrow bytes": lambda: pa.array(repeat(b"a", b"b")),
        **{f"pandas {name}": make for name, make in TYPED.items() if name.startswith("arrow")},
    }


def _weights():
    return {
        "a number": lambda: 2.0,
        "text": lambda: ["many"] * N,
        "a text": lambda: "many",
        "numbers as text": lambda: ["1"] * N,
        "a map": lambda: dict.fromkeys(range(N), 1.0),
        "a set": lambda: {1.0},
        "a generator": lambda: (1.0 for _ in range(N)),
        "two columns": lambda: np.ones((N, 2)),
        "one column": lambda: np.ones((N, 1)),
        "too short": lambda: np.ones(N - 1),
        "negative": lambda: -np.ones(N),
        "zero": lambda: np.zeros(N),
        "zero for a class": lambda: Y.astype(float),
        "infinite": lambda: np.full(N, np.inf),
        "no number": lambda: np.full(N, np.nan),
        "nothing in some": lambda: repeat(1.0, None),
        "immense": lambda: np.full(N, 1e308),
        "vanishing": lambda: np.full(N, 1e-320),
        "immense integers": lambda: [10**400] * N,
        "decimals": lambda: repeat(Decimal(1), Decimal("sNaN")),
        "complex": lambda: np.ones(N) + 1j,
        "dates": lambda: np.arange(N).astype("M8[D]"),
        "booleans": lambda: Y == 1,
        "a frame": lambda: pd.DataFrame({"w": np.ones(N)}),
        "categories": lambda: pd.Categorical(np.ones(N)),
        "nullable with nothing": lambda: pd.array(repeat(1.0, None), "Float64"),
        "polars with nothing": lambda: pl.Series(values=repeat(1.0, None)),
        "arrow with nothing": lambda: pa.array(repeat(1.0, None)),
        "a masked array": lambda: np.ma.masked_array(np.ones(N), Y == 1),
        "sparse": lambda: sp.csr_matrix(np.ones(N)),
        "dates in objects": lambda: repeat(DAY),
    }


def odd_inputs():
    """Return functions that make a table, a target and weights, by what is odd about them."""
    plain = pd.DataFrame({"number": NUMBER})
    found = {}
    for name, cells in CELLS.items():
        found[f"cells: {name}"] = lambda cells=cells: (
            plain.assign(odd=pd.Series(objects(*cells), dtype=object)),
            Y,
            None,
        )
        found[f"array: {name}"] = lambda cells=cells: (
            np.column_stack([objects(*cells), NUMBER.astype(object)]),
            Y,
            None,
        )
        found[f"rows: {name}"] = lambda cells=cells: (
            [[cell, float(x)] for cell, x in zip(objects(*cells), NUMBER, strict=True)],
            Y,
            None,
        )
        if name != "lone surrogates":  # of which pandas makes no column
            found[f"inferred: {name}"] = lambda cells=cells: (
                pd.DataFrame({"odd": repeat(*cells), "number": NUMBER}),
                Y,
                None,
            )
        found[f"alone: {name}"] = lambda cells=cells: (
            pd.DataFrame({"odd": pd.Series(objects(*cells), dtype=object)}),
            Y,
            None,
        )
    for name, make in TYPED.items():
        found[f"column: {name}"] = lambda make=make: (plain.assign(odd=make()), Y, None)
    for name, make in FROM_ARROW.items():
        found[f"arrow: {name}"] = lambda make=make: (pa.table({"odd": make(), "number": NUMBER}), Y, None)
    for name, make in FROM_POLARS.items():
        found[f"polars: {name}"] = lambda make=make: (
            pl.DataFrame({"odd": make(), "number": NUMBER}),
            Y,
            None,
        )
    for name, label in NAMES.items():
        found[f"name: {name}"] = lambda label=label: (
            pd.concat([plain, pd.Series(RNG.normal(size=N)), pd.Series(repeat("a", "b"))], axis=1).set_axis(
                pd.Index(["number", label, "kind"], dtype=object, tupleize_cols=False), axis=1
            ),
            Y,
            None,
        )
        found[f"target called: {name}"] = lambda label=label: (
            plain,
            pd.Series(Y, name=label if isinstance(label, (str, int, tuple)) else "y"),
            None,
        )
    for name, make in _tables().items():
        found[f"table: {name}"] = lambda make=make: (make(), Y, None)
    for name, make in _targets().items():
        found[f"target: {name}"] = lambda make=make: (plain, make(), None)
    for name, make in _weights().items():
        found[f"weights: {name}"] = lambda make=make: (plain, Y, make())
    return found
