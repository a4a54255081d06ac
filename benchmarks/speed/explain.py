"""Reading and exporting: seconds of effects, sizes and updates of calculators, one row of ONNX, rows of SQL.

Then, on ten tables, how far exports are from `predict_proba` on test rows, and what a scorecard loses. Needs
SEMINAIVE_DATA; Chromium, node, LibreOffice, duckdb and onnxruntime are used where they are installed.
"""

import json
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import warnings
from html import unescape
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from seminaive import HigherOrderLogisticRegression, SemiNaive, explain, export
from seminaive.explain.reading import effects_of
from seminaive.export.programs import script_json
from seminaive_experiments import load_dataset

sys.path.insert(0, str(Path(__file__).parent.parent))
from race import Ratio, best_time, report

# Two and more classes, missing cells, text and numbers.
TABLES = [
    "adult", "australian-credit", "bank-marketing-small", "cmc", "credit-approval", "german-credit",
    "heart-cleveland", "hepatitis", "nursery", "pima-diabetes",
]  # fmt: skip
# The tables of two classes on which scorecards are judged.
CARDS = [
    "adult", "australian-credit", "bank-marketing-small", "breast-cancer-wisconsin", "credit-approval",
    "german-credit", "heart-cleveland", "hepatitis", "ilpd", "pima-diabetes",
]  # fmt: skip
CALLS, UPDATES, SQL_ROWS, TEST_ROWS, WORKBOOK_ROWS = 500, 200, 100_000, 1000, 100
TIMED = """const began = performance.now();
for (let k = 0; k < %d; k++) update();
document.body.dataset.milliseconds = String((performance.now() - began) / %d);"""


def bar(question, ours, most, unit):
    return Ratio(question, f"{most:g} {unit}", ours, most, 1, unit, smaller=True)


def order_two(max_iter=100):
    return HigherOrderLogisticRegression(order=2, hierarchical=True, tol=1e-2, max_iter=max_iter)


def effects_questions(adult):
    yield bar("effects of adult, order 2", best_time(lambda: effects_of(adult), 3), 1, "s")
    table = load_dataset("covertype")
    covertype = order_two(max_iter=2).fit(table.X, table.y)
    seconds = best_time(lambda: effects_of(covertype), 1)
    yield bar("effects of covertype, order 2, two iterations", seconds, 30, "s")


def opened(page, script, name):
    """Return what a script left in an attribute of the body of a page, without its policy, in Chromium."""
    text = re.sub(r"<meta http-equiv=[^>]*>", "", page.read_text(encoding="utf-8"))
    copy = page.with_suffix(".opened.html")
    copy.write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    command = [shutil.which("chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    dumped = subprocess.run([*command, copy.as_uri()], capture_output=True, text=True, check=True).stdout
    return re.search(rf'<body[^>]* data-{name}="([^"]*)"', dumped).group(1)


def calculator_questions(models):
    for (name, most), model in models.items():
        with tempfile.TemporaryDirectory() as folder:
            page = export.calculator(model, Path(folder) / "page.html")
            yield bar(f"calculator of adult, {name}", page.stat().st_size / 1000, most, "KB")
            if shutil.which("chromium"):
                yield bar(
                    f"update of the calculator of adult, {name}",
                    float(opened(page, TIMED % (UPDATES, UPDATES), "milliseconds")),
                    5,
                    "ms",
                )


def feeds(session, X):
    """Return the inputs of an ONNX session."""
    made = {}
    for tensor in session.get_inputs():
        column = X[tensor.name]
        if tensor.type == "tensor(string)":
            made[tensor.name] = column.astype(object).where(column.notna(), "nan").to_numpy(object)
        else:
            made[tensor.name] = column.to_numpy(float, na_value=np.nan)
        made[tensor.name] = made[tensor.name].reshape(-1, 1)
    return made


def onnx_session(model):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    graph = export.to_onnx(model).SerializeToString()
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def onnx_questions(models, X):
    for (name, _), model in models.items():
        session = onnx_session(model)
        row = feeds(session, X.iloc[[0]])

        def calls(session=session, row=row):
            for _ in range(CALLS):
                session.run(["probabilities"], row)

        yield bar(f"ONNX, one row of adult, {name}", best_time(calls, 3) / CALLS * 1e3, 0.1, "ms")


def duckdb_probabilities(model, X, threads=1):
    import duckdb

    connection = duckdb.connect(config={"threads": threads})
    connection.register("rows", X.assign(row_key=range(len(X))))
    statement = export.to_sql(model, keep=["row_key"])
    return lambda: connection.execute(statement).df().sort_values("row_key").iloc[:, 2:].to_numpy(float)


def sql_questions(adult, X):
    rows = X.iloc[np.arange(SQL_ROWS) % len(X)].reset_index(drop=True)
    seconds = best_time(duckdb_probabilities(adult, rows), 2)
    yield bar(f"DuckDB, {SQL_ROWS:,} rows of adult, order 2", seconds, 3, "s")


# Agreement


def plain_rows(X):
    rows = X.astype(object).to_dict("records")
    return [{k: None if v is None or v != v else getattr(v, "item", lambda v=v: v)() for k, v in row.items()}
            for row in rows]  # fmt: skip


def exported(model, X):
    """Yield the probabilities of each export that can be run here."""
    space = {}
    exec(export.to_python(model), space)  # noqa: S102 - the source is the export
    yield "python", np.array([list(space["predict_proba"](row).values()) for row in plain_rows(X)])
    connection = sqlite3.connect(":memory:")
    connection.create_function("exp", 1, np.exp)
    X.to_sql("rows", connection, index=False)
    yield "sqlite", np.array(connection.execute(export.to_sql(model, dialect="sqlite")).fetchall())[:, 1:]
    if find_spec("duckdb"):
        yield "duckdb", duckdb_probabilities(model, X)()
    if find_spec("onnxruntime"):
        session = onnx_session(model)
        yield "onnx", session.run(["probabilities"], feeds(session, X))[0]
    if shutil.which("node"):
        program = (
            f"{export.to_javascript(model)};\nconst rows = JSON.parse(require('fs').readFileSync(0));"
            "console.log(JSON.stringify(rows.map(seminaive.predictProba)));"
        )
        with tempfile.NamedTemporaryFile("w", suffix=".js", encoding="utf-8") as file:
            file.write(program)
            file.flush()
            done = subprocess.run(
                [shutil.which("node"), file.name], input=json.dumps(plain_rows(X)),
                capture_output=True, text=True, check=True,
            )  # fmt: skip
        yield "javascript", np.array(json.loads(done.stdout))
    if shutil.which("chromium"):
        yield "calculator", by_calculator(model, X)
    if shutil.which("soffice") and find_spec("openpyxl"):
        yield "workbook", by_workbook(model, X.iloc[:WORKBOOK_ROWS])


TYPED = """const rows = %s, typed = (f, v) => v === null ? "" : f.c.kind === "number" ? String(v)
  : f.c.categories.includes(v) ? String(f.c.categories.indexOf(v)) : "other";
document.body.dataset.answer = JSON.stringify(rows.map(row => {
  for (const f of fields) f.input.value = typed(f, row[f.i]);
  fields[0].input.dispatchEvent(new Event("input"));
  return [...document.querySelectorAll("[data-probability]")].map(td => Number(td.dataset.probability));
}));"""


def by_calculator(model, X):
    """Return the probabilities that the form of the calculator shows in Chromium."""
    rows = [list(row.values()) for row in plain_rows(X)]
    with tempfile.TemporaryDirectory() as folder:
        page = export.calculator(model, Path(folder) / "page.html")
        return np.array(json.loads(unescape(opened(page, TYPED % script_json(rows), "answer"))))


def by_workbook(model, X):
    """Return the probabilities that LibreOffice calculates in the workbook."""
    import openpyxl

    with tempfile.TemporaryDirectory() as folder:
        path = export.to_xlsx(model, Path(folder) / "model.xlsx", rows=len(X))
        book = openpyxl.load_workbook(path)
        names = [cell.value for cell in book["predict"][1]]
        for r, row in enumerate(plain_rows(X)):
            for k, name in enumerate(names[: names.index("prediction")]):
                cell = book["predict"].cell(r + 2, k + 1)
                cell.value = row[name]
                cell.data_type = "s" if isinstance(row[name], str) else cell.data_type
        book.save(path)
        made = Path(folder) / "calculated"
        profile = f"-env:UserInstallation={(Path(folder) / 'profile').as_uri()}"
        command = [shutil.which("soffice"), profile, "--headless", "--convert-to"]
        command += ["xlsx:Calc MS Excel 2007 XML", "--outdir", made, path]
        subprocess.run(command, capture_output=True, check=True)
        book = openpyxl.load_workbook(made / path.name, data_only=True)
        lines = list(book["predict"].iter_rows(min_row=2, values_only=True))
    return np.array([line[names.index("prediction") + 1 :] for line in lines], dtype=float)


def agreement_questions():
    for name in TABLES:
        data = load_dataset(name)
        X, test, y, y_test = train_test_split(data.X, data.y, test_size=0.3, stratify=data.y, random_state=0)
        model = order_two().fit(X, y)
        test, y_test = test.iloc[:TEST_ROWS].reset_index(drop=True), y_test[:TEST_ROWS]
        expected = model.predict_proba(test)
        loss = log_loss(y_test, expected, labels=model.classes_)
        worst, names = 0.0, []
        for form, found in exported(model, test):
            names.append(form)
            worst = max(worst, float(np.abs(found.astype(float) - expected[: len(found)]).max()))
        question = f"{name}, {len(test)} test rows, log loss {loss:.3f}: {', '.join(names)}"
        yield bar(f"largest difference of a probability, {question}", worst, 1e-12, "")


def scorecard_questions():
    for name in CARDS:
        data = load_dataset(name)
        model = HigherOrderLogisticRegression(order=1, hierarchical=True).fit(data.X, data.y)
        effects = effects_of(model)
        scores = effects.breakdown(model.encode(data.X))[:, : 1 + len(effects.features)].sum(axis=1)
        features = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
        loss_of_features = log_loss(data.y, features)
        for how, options in (
            ("8 bands", {}),
            ("8 bands found on the rows", {"X": data.X}),
            ("16 bands", {"bands": 16}),
        ):
            card = explain.scorecard(model, **options)
            lost = log_loss(data.y, card.predict_proba(data.X)) - loss_of_features
            yield bar(f"log loss that a scorecard of {name} adds, {how}", lost, 0.003, "")


def questions():
    adult = load_dataset("adult")
    order = order_two().fit(adult.X, adult.y)
    semi = SemiNaive().fit(adult.X, adult.y)
    models = {("order 2", 150): order, ("SemiNaive", 400): semi}
    yield from effects_questions(order)
    yield from calculator_questions(models)
    if find_spec("onnxruntime"):
        yield from onnx_questions(models, adult.X)
    if find_spec("duckdb"):
        yield from sql_questions(order, adult.X)
    yield from agreement_questions()
    yield from scorecard_questions()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    report("explain", list(questions()), ["scikit-learn"])
