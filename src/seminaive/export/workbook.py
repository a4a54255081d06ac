"""A fitted model as a workbook whose formulas give the probabilities of the rows that are filled in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode import CategoricalColumn
from seminaive.errors import InputError, MissingExtraError, TooLargeError
from seminaive.explain.portable import Portable, warn_of_text
from seminaive.explain.reading import code_labels, interval_labels
from seminaive.export.workbook_sheets import MOST_COLUMNS, MOST_ROWS, LineSheet
from seminaive.files import whole_file
from seminaive.scores.attenuation import PER_VARIANCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.encode.column_types import Column
    from seminaive.explain.unknown import UnknownColumns
    from seminaive.scores import FeatureCurve

# Formulas begin below the line of headings.
FIRST_ROW = 2
# How the empty text is written where it is a category: an empty cell is a missing one.
EMPTY = "(empty)"
# Beyond -700 the exponential function underflows, which some spreadsheets refuse.
LEAST_EXPONENT = -700


def to_xlsx(model: Any, path: str | Path, *, rows: int = 100) -> Path:
    """Write a fitted additive model as an Excel workbook that calculates probabilities.

    Rows are filled into the sheet ``predict``, one column each, typed or pasted; formulas beside them give
    the prediction and the probability of each class. An empty cell is missing, a value that training never
    had carries no evidence, text in a column of numbers is an error, and a row without any cell stays empty.
    A category that is the empty text is written ``(empty)``. Capitals matter, unlike in most formulas of
    Excel. The other sheets hold the tables of the model and the steps between: codes, the contribution of
    each term, and scores. Needs ``seminaive[xlsx]``.

    Parameters
    ----------
    model : a fitted additive model
    path : path
        Where to write, whole or not at all.
    rows : int, default=100
        How many rows have formulas; more are made by copying the last one of ``predict`` and of ``steps``
        down.

    Returns
    -------
    Path
    """
    try:
        import openpyxl
    except ImportError as error:
        raise MissingExtraError("workbooks need openpyxl: pip install 'seminaive[xlsx]'") from error
    if not 1 <= rows < MOST_ROWS:
        raise InputError(f"rows is at least 1 and below {MOST_ROWS:,}, got {rows!r}")
    portable = Portable.of(model)
    warn_of_text(portable, "the workbook")
    book = _Workbook(openpyxl, portable)
    book.write(rows)
    path = Path(path)
    with whole_file(path) as part:
        book.book.save(part)
    return path


class _Workbook:
    """The sheets of a model; formulas are templates in which ``{r}`` is the number of the row."""

    def __init__(self, openpyxl: Any, portable: Portable) -> None:
        from openpyxl.styles import Font, PatternFill
        from openpyxl.utils import get_column_letter
        from openpyxl.worksheet.datavalidation import DataValidation

        self.portable = portable
        self.book = openpyxl.Workbook()
        self.book.remove(self.book.active)
        self.bold, self.fill = Font(bold=True), PatternFill("solid", fgColor="FFF7D6")
        self.letter, self.validation = get_column_letter, DataValidation
        self.steps: list[tuple[str, str]] = []  # headings and formulas
        self.terms: list[list[tuple[str, str]]] = [[] for _ in range(portable.n_outputs)]
        self.codes: dict[int, str] = {}
        self.nodes: dict[int, str] = {}
        self.shares: dict[int, str] = {}
        self.used = sorted({*portable.coded, *portable.curves})
        self.inputs = {
            position: f"predict!${self.letter(k + 1)}{{r}}" for k, position in enumerate(self.used)
        }
        self.choices: dict[int, str] = {}
        binary = len(portable.classes) == 2
        self.outputs = [f"log odds of {portable.classes[1]}"] if binary else list(map(str, portable.classes))

    def write(self, rows: int) -> None:
        """Fill all sheets."""
        portable = self.portable
        names = [portable.schema.columns[position].name for position in self.used]
        probabilities = [f"probability of {label}" for label in portable.classes]
        predict = LineSheet(self, "predict", [*names, "prediction", *probabilities])
        steps = LineSheet(self, "steps", [])
        self._add_tables()
        self._add_curves()
        self._add_tuples()
        weights = self._add_scores()
        if len(self.steps) > MOST_COLUMNS:
            raise TooLargeError(
                f"the sheet steps would have {len(self.steps):,} columns, there is room for "
                f"{MOST_COLUMNS:,}: keep fewer pairs or a lower order"
            )
        for k, (heading, formula) in enumerate(self.steps):
            steps.set(1, k + 1, heading)
            steps.sheet.cell(1, k + 1).font = self.bold
            for r in range(FIRST_ROW, FIRST_ROW + rows):
                steps.sheet.cell(r, k + 1, formula.replace("{r}", str(r)))
        self._add_answers(predict, weights, rows)

    def step(self, heading: str, formula: str) -> str:
        """Add a column of the sheet ``steps``, and return the reference of its cell in the same row."""
        self.steps.append((heading, formula))
        return f"steps!${self.letter(len(self.steps))}{{r}}"

    def _add_tables(self) -> None:
        """Add categories with their effects, cut points of numbers that are in tuples, and the codes."""
        portable, schema = self.portable, self.portable.schema
        if not portable.coded:
            return
        sheet = LineSheet(self, "tables", ["column", "value", "code", *self.outputs])
        for position in portable.coded:
            column, cell = schema.columns[position], self.inputs[position]
            add = self._add_categories if isinstance(column, CategoricalColumn) else self._add_cuts
            known = add(sheet, position)
            formula = f'=IF({cell}="",{column.n_present},{known})'
            self.codes[position] = self.step(f"code of {column.name}", formula)
            if position in self.nodes:
                self._add_share(position)
            if position in portable.tables:
                lines = (sheet.n_rows - len(portable.tables[position]) + 1, sheet.n_rows)
                for k in range(portable.n_outputs):
                    found = f"=INDEX({sheet.range(4 + k, lines)},{self.codes[position]}+1)"
                    self.terms[k].append((column.name, found))

    def _add_categories(self, sheet: LineSheet, position: int) -> str:
        """Add the categories of a column and their effects; return the code of a cell that is not empty."""
        schema = self.portable.schema
        column, unseen = schema.columns[position], schema.n_values(schema.columns[position])
        assert isinstance(column, CategoricalColumn)  # noqa: S101 - narrows the type
        values: list[Any] = [_typed(category, column.categories) for category in column.categories]
        values += code_labels(schema, position)[column.n_present :]
        effects = self.portable.tables.get(position, np.zeros((len(values), 0)))
        lines = sheet.block(
            [
                [column.name, value, code, *row]
                for code, (value, row) in enumerate(zip(values, effects, strict=True))
            ]
        )
        if not column.n_present:
            return str(unseen)
        present = (lines[0], lines[0] + column.n_present - 1)
        self.choices[position] = sheet.range(2, present)
        number = self._number_of(column, self.inputs[position], sheet, present)
        return f"IF({number}=0,{unseen},{number}-1)"

    def _add_cuts(self, sheet: LineSheet, position: int) -> str:
        """Add the bins of a number, or the nodes; return the code of a cell that is not empty."""
        column = self.portable.schema.columns[position]
        nodes = self.portable.nodes(position)
        listed = list(column.cuts or () if nodes is None else nodes)  # type: ignore[union-attr]
        lines = sheet.block(
            [
                [f"{column.name}: {label}", listed[code] if code < len(listed) else None, code]
                for code, label in enumerate(code_labels(self.portable.schema, position))
            ]
        )
        ends, x = sheet.range(2, (lines[0], lines[0] + len(listed) - 1)), f"({self.inputs[position]}+0)"
        if nodes is None:
            return _below(ends, x) if listed else "0"
        self.nodes[position] = ends
        return f"MAX(SUMPRODUCT(--({ends}<={x}))-1,0)"

    def _add_share(self, position: int) -> None:
        """Add how far a number is on the way from the node below to the next one."""
        cell, code, nodes = self.inputs[position], self.codes[position], self.nodes[position]
        n_nodes, name = len(self.portable.nodes(position) or ()), self.portable.schema.columns[position].name
        below, above = f"INDEX({nodes},{code}+1)", f"INDEX({nodes},MIN({code}+2,{n_nodes}))"
        inside = f"IF(OR({code}+1>={n_nodes},{cell}+0<={below}),0,({cell}-{below})/({above}-{below}))"
        self.shares[position] = self.step(f"share of {name}", f'=IF({cell}="",0,{inside})')

    def _corners(self, positions: tuple[int, ...]) -> list[tuple[str, str]]:
        """Return the numbers of the cells from which a tuple is read, and the share of each."""
        corners = [("", "1")]
        for position, size in zip(positions, self.portable.shape(positions), strict=True):
            code = self.codes[position]
            sides = [(code, "1")]
            if position in self.shares:
                share = self.shares[position]
                sides = [(code, f"(1-{share})"), (f"({code}+({share}>0))", share)]
            corners = [
                (f"({cell}*{size}+{side})" if cell else side, f"{share}*{part}")
                for cell, share in corners
                for side, part in sides
            ]
        return corners

    @staticmethod
    def _number_of(column: CategoricalColumn, cell: str, sheet: LineSheet, lines: tuple[int, int]) -> str:
        """Return the number of a cell's category, counted from 1, 0 where it is none of them.

        Not by MATCH, to which capitals are small letters and * is any text.
        """
        values = sheet.range(2, lines)
        number = f"(ROW({values})-{lines[0] - 1})"
        as_text = f"SUMPRODUCT(EXACT({cell},{values})*{number})"
        if column.is_text:
            return as_text
        # N makes 1 of TRUE; two minus signs do so for a whole range.
        as_number = f"SUMPRODUCT((--{values}=N({cell}))*{number})"
        if column.is_text is None:
            as_text = f"SUMPRODUCT(EXACT({cell},{values})*ISTEXT({values})*{number})"
            as_number = f"SUMPRODUCT(({values}=N({cell}))*{number})"
            return f"IF(ISTEXT({cell}),{as_text},{as_number})"
        return f"IF(ISTEXT({cell}),0,{as_number})"

    def _add_curves(self) -> None:
        """Add curves: a line per piece with the polynomial in ``z = (x - anchor) * scale``."""
        portable = self.portable
        if not portable.curves:
            return
        parts = [f"{name}{power}" for name in self.outputs for power in (" constant", " × z", " × z²")]
        sheet = LineSheet(self, "curves", ["column", "value", "up to", "anchor", "scale", *parts])
        for position, curve in portable.curves.items():
            name = portable.schema.columns[position].name
            lines = sheet.block(self._pieces(portable.schema.columns[position], curve))
            sheet.add(
                [name, "missing", None, None, None, *(v for m in curve.missing for v in (m, None, None))]
            )
            x = self.step(name, f'=IF({self.inputs[position]}="","",{self.inputs[position]}+0)')
            edges = sheet.range(3, (lines[0], lines[1] - 1))
            piece = _below(edges, x) if len(curve.edges) else "0"
            piece = self.step(f"piece of {name}", f'=IF({x}="","",{piece}+1)')
            anchor = f"INDEX({sheet.range(4, lines)},{piece})"
            z = self.step(f"z of {name}", f'=IF({x}="","",({x}-{anchor})*{float(curve.scale)!r})')
            for k in range(portable.n_outputs):
                a, b, c = (f"INDEX({sheet.range(6 + 3 * k + power, lines)},{piece})" for power in range(3))
                absent = sheet.range(6 + 3 * k, (lines[1] + 1, lines[1] + 1))
                self.terms[k].append((name, f'=IF({x}="",{absent},{a}+{z}*({b}+{z}*{c}))'))

    @staticmethod
    def _pieces(column: Column, curve: FeatureCurve) -> list[list[Any]]:
        labels = interval_labels(curve.edges.tolist(), column=column)
        ends = [*curve.edges.tolist(), None]
        by_output = curve.coefficients.transpose(0, 2, 1).reshape(curve.n_pieces, -1)
        return [
            [column.name, label, end, anchor, curve.scale, *row]
            for label, end, anchor, row in zip(labels, ends, curve.anchors, by_output, strict=True)
        ]

    def _add_tuples(self) -> None:
        """Add the cells of tuples that are not zero, by their number in mixed radix."""
        portable, schema = self.portable, self.portable.schema
        if not any(len(cells) for _, cells, _ in portable.tuples):
            return
        sheet = LineSheet(self, "tuples", ["columns", "values", "cell", *self.outputs])
        for positions, cells, values in portable.tuples:
            if not len(cells):
                continue
            name = " × ".join(schema.columns[position].name for position in positions)
            axes = [code_labels(schema, position) for position in positions]
            combinations = zip(*np.unravel_index(cells, portable.shape(positions)), strict=True)
            labels = [
                " × ".join(axis[code] for axis, code in zip(axes, codes, strict=True))
                for codes in combinations
            ]
            lines = sheet.block(
                [
                    [name, label, int(cell), *row]
                    for label, cell, row in zip(labels, cells, values, strict=True)
                ]
            )
            found: list[list[str]] = [[] for _ in range(portable.n_outputs)]
            for number, share in self._corners(positions):
                line = self.step(f"line of {name}", f"=IFERROR(MATCH({number},{sheet.range(3, lines)},0),0)")
                for k, parts in enumerate(found):
                    value = f"INDEX({sheet.range(4 + k, lines)},MAX({line},1))"
                    parts.append(f"IF({line}=0,0,{share}*{value})")
            for k, parts in enumerate(found):
                self.terms[k].append((name, f"={'+'.join(parts)}"))

    def _add_scores(self) -> list[str]:
        """Add the sum of all terms of each output, and the weight of each class."""
        scores = []
        for k, terms in enumerate(self.terms):
            cells = [self.step(f"{name}: {self.outputs[k]}", formula) for name, formula in terms]
            total = f"={float(self.portable.intercept[k])!r}"
            total += f"+SUM({cells[0]}:{cells[-1].removeprefix('steps!')})" if cells else ""
            scores.append(self.step(f"score: {self.outputs[k]}", total))
        if self.portable.unknown is not None:
            scores = self._add_attenuation(self.portable.unknown, scores)
        if len(scores) == 1:
            scores.insert(0, self.step("score of the other class", "=0"))
        every = f"{scores[0]},{scores[1]}" if len(self.portable.classes) == 2 else ",".join(scores)
        highest = self.step("highest score", f"=MAX({every})")
        return [
            self.step(f"weight of {label}", f"=EXP(MAX({score}-{highest},{LEAST_EXPONENT}))")
            for label, score in zip(self.portable.classes, scores, strict=True)
        ]

    def _add_attenuation(self, unknown: UnknownColumns, scores: list[str]) -> list[str]:
        """Add which cells are unknown, and the scores of rows that have some; return the scores."""
        schema = self.portable.schema
        names = [schema.columns[position].name for position in unknown.positions]
        sheet = LineSheet(self, "unknown", ["covariance", *names])
        lines = sheet.block([[name, *row] for name, row in zip(names, unknown.covariance, strict=True)])
        cells = []
        for position, name in zip(unknown.positions, names, strict=True):
            condition = f'{self.inputs[position]}=""'
            if isinstance(schema.columns[position], CategoricalColumn):
                condition = f"{self.codes[position]}={schema.n_values(schema.columns[position])}"
            cells.append(self.step(f"{name} is unknown", f"=IF({condition},1,0)"))
        every = f"{cells[0]}:{cells[-1].removeprefix('steps!')}"
        parts = [
            f"{cell}*SUMPRODUCT({every},{sheet.range(2, (line, line), len(names))})"
            for cell, line in zip(cells, range(lines[0], lines[1] + 1), strict=True)
        ]
        spreads = [
            self.step(f"variance by {name}", f"={part}") for name, part in zip(names, parts, strict=True)
        ]
        total = f"MAX(SUM({spreads[0]}:{spreads[-1].removeprefix('steps!')}),0)"
        factor = self.step("factor of scores", f"=1/SQRT(1+{float(PER_VARIANCE)!r}*{total})")
        share = self.step("share of the class shares", f"=MIN((1-{factor})/{float(unknown.most_lost)!r},1)")
        return [
            self.step(f"answered score: {name}", f"={factor}*{score}+{share}*{float(lack)!r}")
            for name, score, lack in zip(self.outputs, scores, unknown.lack, strict=True)
        ]

    def _add_answers(self, predict: LineSheet, weights: list[str], rows: int) -> None:
        """Add prediction and probabilities beside the inputs, and lists to choose categories from."""
        classes = LineSheet(self, "classes", ["class"])
        lines = classes.block([[_plain(label)] for label in self.portable.classes])
        n_inputs = len(self.used)
        every = f"{weights[0]}:{weights[-1].removeprefix('steps!')}"
        best = f"INDEX({classes.range(1, lines)},MATCH(MAX({every}),{every},0))"
        answers = [best, *(f"{weight}/SUM({every})" for weight in weights)]
        for r in range(FIRST_ROW, FIRST_ROW + rows):
            filled = f"COUNTA($A{r}:${self.letter(max(n_inputs, 1))}{r})=0"
            for k, answer in enumerate(answers):
                cell = predict.sheet.cell(r, n_inputs + k + 1)
                formula = answer.replace("{r}", str(r))
                cell.value = f'=IF({filled},"",{formula})' if n_inputs else f"={formula}"
                if k:
                    cell.number_format = "0.0%"
            for k in range(n_inputs):
                predict.sheet.cell(r, k + 1).fill = self.fill
        for k, position in enumerate(self.used):
            letter = self.letter(k + 1)
            if position in self.choices:
                choice = self.validation("list", formula1=self.choices[position], allow_blank=True)
                choice.showErrorMessage = False  # a value that training never had may be typed
                choice.add(f"{letter}{FIRST_ROW}:{letter}{FIRST_ROW + rows - 1}")
                predict.sheet.add_data_validation(choice)
        for k in range(n_inputs + len(answers)):
            title = str(predict.sheet.cell(1, k + 1).value)
            predict.sheet.column_dimensions[self.letter(k + 1)].width = min(max(len(title) + 2, 10), 40)


def _below(edges: str, x: str) -> str:
    """Return how many edges are below x; by comparing, since MATCH counts those that are equal, too."""
    return f"SUMPRODUCT(--({edges}<{x}))"


def _typed(category: Any, every: Sequence[Any]) -> Any:
    """Return a category as it is typed into a cell."""
    if category != "":
        return category
    name = EMPTY
    while name in every:
        name = f"({name})"
    return name


def _plain(label: Any) -> Any:
    return label if isinstance(label, (str, bool, int, float)) else str(label)
