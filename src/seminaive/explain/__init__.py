"""Fitted models as frames, pictures, scorecards and programs: they read models and fit nothing."""

from seminaive.explain.calculator import calculator
from seminaive.explain.documents import from_json
from seminaive.explain.edit import edit, history
from seminaive.explain.effect_display import EffectDisplay
from seminaive.explain.importance_display import ImportanceDisplay
from seminaive.explain.model_page import page
from seminaive.explain.nomogram_display import NomogramDisplay
from seminaive.explain.onnx_converter import register_onnx_converters
from seminaive.explain.onnx_graph import to_onnx
from seminaive.explain.pair_display import PairDisplay
from seminaive.explain.path_display import PathDisplay
from seminaive.explain.portable import to_json
from seminaive.explain.programs import to_javascript, to_python
from seminaive.explain.reasons import Reasons, reasons
from seminaive.explain.row_influence import influence
from seminaive.explain.scorecard import Scorecard, scorecard
from seminaive.explain.shift import Shift, shift
from seminaive.explain.shift_display import ColumnShiftDisplay, ShiftDisplay
from seminaive.explain.shift_page import shift_page
from seminaive.explain.smallest_change import CellChange, SmallestChange, smallest_change
from seminaive.explain.sql import to_sql
from seminaive.explain.structure_display import StructureDisplay
from seminaive.explain.tables import effects_table, odds_ratios, summary
from seminaive.explain.waterfall_display import WaterfallDisplay
from seminaive.explain.workbook import to_xlsx
from seminaive.scores import Clip, Edit, EffectChange, Flatten, Monotone, Points, Record, Refit, SetTo

__all__ = [
    "CellChange",
    "Clip",
    "ColumnShiftDisplay",
    "Edit",
    "EffectChange",
    "EffectDisplay",
    "Flatten",
    "ImportanceDisplay",
    "Monotone",
    "NomogramDisplay",
    "PairDisplay",
    "PathDisplay",
    "Points",
    "Reasons",
    "Record",
    "Refit",
    "Scorecard",
    "SetTo",
    "Shift",
    "ShiftDisplay",
    "SmallestChange",
    "StructureDisplay",
    "WaterfallDisplay",
    "calculator",
    "edit",
    "effects_table",
    "from_json",
    "history",
    "influence",
    "odds_ratios",
    "page",
    "reasons",
    "register_onnx_converters",
    "scorecard",
    "shift",
    "shift_page",
    "smallest_change",
    "summary",
    "to_javascript",
    "to_json",
    "to_onnx",
    "to_python",
    "to_sql",
    "to_xlsx",
]
