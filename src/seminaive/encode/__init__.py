"""From a table of any kind to codes, numbers and a schema."""

from seminaive.encode.column_notes import probable_mistakes
from seminaive.encode.column_types import CategoricalColumn, EmptyColumn, IdentifierColumn, NumericColumn
from seminaive.encode.columns_report import ColumnReading, merge_readings, read_columns, report_columns
from seminaive.encode.cuts import EqualFrequencyCuts, TreeCuts, mdl_cuts
from seminaive.encode.date_parts import DateParts
from seminaive.encode.encoded_table import EncodedTable, TableEncoder
from seminaive.encode.equal_frequency_discretizer import EqualFrequencyDiscretizer
from seminaive.encode.frame_parts import frame_like, keep_columns, keep_rows, take_column, training_columns
from seminaive.encode.frames import open_table
from seminaive.encode.mdl_discretizer import MDLDiscretizer
from seminaive.encode.recut import recut
from seminaive.encode.schema import Schema
from seminaive.encode.spreadsheets import without_formulas
from seminaive.encode.table_files import read_table, write_table
from seminaive.encode.target import EncodedTarget, counts_of, encode_target, encode_weights, weigh_classes
from seminaive.encode.target_notes import question_target, question_weights
from seminaive.encode.written_dates import DateFormat
from seminaive.encode.written_numbers import NumberFormat

__all__ = [
    "CategoricalColumn",
    "ColumnReading",
    "DateFormat",
    "DateParts",
    "EmptyColumn",
    "EncodedTable",
    "EncodedTarget",
    "EqualFrequencyCuts",
    "EqualFrequencyDiscretizer",
    "IdentifierColumn",
    "MDLDiscretizer",
    "NumberFormat",
    "NumericColumn",
    "Schema",
    "TableEncoder",
    "TreeCuts",
    "counts_of",
    "encode_target",
    "encode_weights",
    "frame_like",
    "keep_columns",
    "keep_rows",
    "mdl_cuts",
    "merge_readings",
    "open_table",
    "probable_mistakes",
    "question_target",
    "question_weights",
    "read_columns",
    "read_table",
    "recut",
    "report_columns",
    "take_column",
    "training_columns",
    "weigh_classes",
    "without_formulas",
    "write_table",
]
