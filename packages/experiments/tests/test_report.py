import io
import json
import re
import shutil
import subprocess
import sys
from html import escape
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from seminaive.errors import InputError
from seminaive.evaluate.progress import progress_bar
from seminaive_experiments.experiment import Experiment
from seminaive_experiments.report import Report
from seminaive_experiments.resampling import Prequential, RepeatedKFold
from seminaive_experiments.results_file import ExperimentResults

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
MODELS = {
    "naive Bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=2),
    "prior": DummyClassifier(),
}
VOID = {"meta", "link"}


class FailsOnWine(GaussianNB):
    def fit(self, X, y):
        if X.shape[1] == 13:
            raise ValueError("no <wine> & no more")
        return super().fit(X, y)


class Balanced(HTMLParser):
    """Checks that every element that is opened is closed, in order."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_startendtag(self, tag, attrs):
        """An element of SVG that is opened and closed at once."""

    def handle_starttag(self, tag, attrs):  # noqa: ARG002 - the parser's signature
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


@pytest.fixture(scope="module")
def results():
    models = {**MODELS, "fragile": FailsOnWine()}
    return Experiment(models, ["iris", "wine", "breast-cancer"], RepeatedKFold(3, 2)).run()


@pytest.fixture(scope="module")
def curve():
    return Experiment(MODELS, ["iris", "wine"], Prequential(20, 2.0, 2)).run()


def test_the_page_shows_every_picture_of_the_results(results, curve):
    page = Report(results).html()
    for heading in ("0-1 loss", "Average ranks", "Win / draw / loss", "Spread over the folds", "ROC"):
        assert heading in page
    for heading in ("Bias against variance", "Time against loss", "The same in log loss"):
        assert heading in page
    assert "Learning curves" not in page
    assert "Learning curves</h" in Report(curve).html()


def test_the_page_says_first_which_model_is_best_and_what_ties_with_it(results):
    outcome = Experiment(MODELS, ["iris"], RepeatedKFold(5)).run()
    page = Report(outcome).html()
    body = page[page.index("<body>") :]
    verdict = "naive Bayes has the lowest 0-1 loss, "
    beginning = f"<body><h1>Comparison of classifiers</h1><section><p class=verdict>{verdict}"
    assert body.replace(">\n<", "><").startswith(beginning)
    sentence = re.search(r"<p class=verdict>(.*?)</p>", body).group(1)
    assert sentence.endswith("tree cannot be told apart from it, the other is worse beyond chance.")
    assert "best average rank in 0-1 loss" in Report(results).html()
    console = Console(width=200, file=io.StringIO())
    console.print(Report(outcome).terminal())
    assert console.file.getvalue().startswith(verdict)


def test_one_table_of_models_is_open_and_everything_else_is_folded(results):
    page = Report(results).html()
    folded = re.sub(r"<details>.*?</details>", "", page, flags=re.DOTALL)
    rows = re.findall(r"<tr><th scope=row>.*?</tr>", folded[: folded.index("<section class=failed>")])
    names = [re.sub(r"<.*?>", "", row.split("</th>")[0]).split(" ", 1)[1] for row in rows]
    assert names == Report(results).summary().order()
    for heading in ("Pairs of models", "Win / draw / loss", "Spread over the folds", "Bias against"):
        assert heading in page
        assert heading not in folded


def test_tables_with_different_models_are_not_pooled():
    both = {"dataset": ["easy", "easy", "hard", "hard"], "model": ["a", "b", "a", "c"]}
    folds = pd.DataFrame({**both, "loss": [0.1, 0.2, 0.8, 0.9]})
    empty = pd.DataFrame(columns=["dataset", "model", "bias", "variance"])
    report = Report(ExperimentResults(folds, empty, ("loss",)), notes={"hard": "It is <hard>."})
    page = report.html()
    assert "<h2>easy</h2>" in page
    assert "<h2>hard</h2>" in page
    assert "0.4500" not in page  # the mean of a over both
    assert "no finished fold" not in page
    assert "<p>It is &lt;hard&gt;.</p>" in page
    console = Console(width=200, file=io.StringIO())
    console.print(report.terminal())
    assert "0.4500" not in console.file.getvalue()


def test_a_standard_error_is_explained_only_where_there_is_one():
    folds = pd.DataFrame(
        {"dataset": "t", "model": ["a", "b"] * 3, "log_loss": [0.1, 0.3, 0.2, 0.3, 0.2, 0.4]}
    )
    for shown, one_fold in ((folds, False), (folds.head(2), True)):
        page = Report.of_frame(shown, ("log_loss",)).html()
        assert ("one fold gives no standard error" in page) == one_fold
        assert ("±: standard error of log loss" in page) != one_fold


def test_failures_are_shown_and_escaped(results):
    page = Report(results).html()
    assert "no &lt;wine&gt; &amp; no more" in page
    assert "<wine>" not in page
    assert "6 of 6" in page


def test_the_page_is_well_formed_and_asks_nothing_of_a_network(results, curve):
    for outcome in (results, curve):
        page = Report(outcome).html()
        checker = Balanced()
        checker.feed(page)
        assert checker.open == []
        assert not re.search(r"https?:|src=|@import|url\(|<script", page)
        outside = [address for address in re.findall(r'href="(.*?)"', page) if not address.startswith("#")]
        assert outside == ["data:,"]


def test_the_same_results_give_the_same_page(results):
    assert Report(results).html() == Report(results).html()


def test_pictures_follow_the_page_from_light_to_dark(results):
    page = Report(results).html()
    for picture in re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL):
        colours = set(re.findall(r"(?:fill|stroke): ([^;\"]+)", picture)) - {"none"}
        assert colours
        assert all(re.fullmatch(r"var\(--\w+\)", colour) for colour in colours)
        assert all(f"--{name}:" in page for name in re.findall(r"--(\w+)", picture))


def test_a_model_has_one_colour_in_all_pictures(results):
    page = Report(results).html()
    names = Report(results).summary().order()
    keys = re.findall(r"background:var\(--m(\d+)\)\"></span>(\d+) ([^<]*)", page)
    assert {(int(colour), int(number) - 1, name) for colour, number, name in keys} == {
        (number, number, name) for number, name in enumerate(names)
    }
    ranks = page[page.index("Average ranks") :]
    drawn = re.findall(r"--m(\d+)", ranks[: ranks.index("</svg>")])
    assert [int(number) for number in drawn] == list(range(len(names)))  # the best is at the top


def test_without_matplotlib_the_page_has_its_tables_and_says_what_is_missing(results, curve, monkeypatch):
    whole = Report(results).html()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = Report(results).html()
    assert "<svg" not in page
    assert page.count("seminaive[plot]") == 1
    assert "seminaive[plot]" not in whole
    tables = [re.findall(r"<table>.*?</table>", text, flags=re.DOTALL) for text in (page, whole)]
    assert tables[0] == tables[1]
    assert "Iman and Davenport" in page
    for heading in ("Spread over the folds", "Bias against", "Time against", "ROC curves of"):
        assert heading not in page
    assert "Learning curves</h" not in Report(curve).html()


def test_names_in_pictures_are_shown_as_they_are():
    names = ["costs $5 to $6", "表", "a & b", "#0b66b5"]
    folds = pd.DataFrame({"dataset": "t", "model": names, "loss": [0.1, 0.2, 0.3, 0.4]})
    page = Report.of_frame(folds, ("loss",)).html()
    drawn = re.findall(r"<text[^>]*>\d (.*?)</text>", page)
    assert drawn == [escape(name) for name in names]


def test_names_with_markup_do_no_harm():
    frame = pd.DataFrame({"dataset": ["<b>", "&"] * 2, "model": ["<script>", "<script>", "x", "x"]})
    page = Report.of_frame(frame.assign(loss=[0.1, 0.2, 0.3, 0.4]), ("loss",), "a < b").html()
    assert "<script" not in page
    assert "<b>" not in page
    assert "<title>a &lt; b</title>" in page


def test_losses_from_elsewhere_are_enough_for_a_page(tmp_path):
    frame = pd.DataFrame(
        {"dataset": np.repeat(["a", "b", "c"], 2), "model": ["p", "q"] * 3, "error": [1, 2, 3, 4, 5, 7.0]}
    )
    report = Report.of_frame(frame, ("error",))
    assert "3/0/0" in report.html()
    report.write_csv(tmp_path / "folds.csv")
    assert pd.read_csv(tmp_path / "folds.csv")["error"].tolist() == frame["error"].tolist()
    with pytest.raises(InputError, match="no 'loss'"):
        Report.of_frame(frame, ("loss",))
    with pytest.raises(InputError, match="name the columns"):
        Report.of_frame(frame, ())


def test_the_terminal_shows_means_ranks_and_failures(results):
    console = Console(width=160, file=io.StringIO())
    console.print(Report(results).terminal())
    text = console.file.getvalue()
    mean = results.folds.query("model == 'tree' and dataset == 'iris'")["zero_one"].mean()
    assert f"{mean:.4f}" in text
    assert "rank" in text
    assert "fragile failed in 6 of 6 folds of wine: ValueError" in text


def test_one_table_has_tests_of_its_pairs():
    outcome = Experiment(MODELS, ["iris"], RepeatedKFold(5)).run()
    page = Report(outcome).html()
    assert "Pairs of models" in page
    assert "naive Bayes before prior" in page


def test_one_model_on_one_table_has_a_page_too():
    outcome = Experiment({"nb": GaussianNB()}, ["iris"], RepeatedKFold(2)).run()
    page = Report(outcome).html()
    assert "Average ranks" not in page
    Console(file=io.StringIO()).print(Report(outcome).terminal())


# A window cannot be as narrow as a phone, a frame can: the page is shown in one and measured from outside.
HOST = """<!doctype html><html style="color-scheme:light dark"><body>
<iframe id="frame" style="width:WIDTHpx;height:900px;border:0" srcdoc="PAGE"></iframe><script>
frame.onload = () => {
    const inside = frame.contentDocument, view = frame.contentWindow;
    const text = [...inside.querySelectorAll("svg text")].filter(t => t.getClientRects().length);
    const fetched = view.performance.getEntriesByType("resource").filter(r => !r.name.startsWith("data:"));
    document.body.innerHTML = "<pre>" + JSON.stringify({
        width: view.innerWidth,
        overflow: inside.documentElement.scrollWidth - view.innerWidth,
        requests: fetched.length,
        paper: view.getComputedStyle(inside.body).backgroundColor,
        smallest: Math.min(...text.map(t => parseFloat(view.getComputedStyle(t).fontSize)
            * t.ownerSVGElement.getBoundingClientRect().width / 360)),
        cut: [...inside.querySelectorAll(".main .wide")].map(w => w.scrollWidth - w.clientWidth)
            .reduce((a, b) => Math.max(a, b)),
        pictures: inside.querySelectorAll("svg").length,
    }) + "</pre>";
};</script></body></html>"""


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here to open the page in")
@pytest.mark.parametrize(("width", "dark"), [(375, True), (375, False), (1280, True), (1280, False)])
def test_a_real_browser_shows_the_page_on_phone_and_desktop_in_light_and_dark(
    tmp_path, results, curve, width, dark
):
    page = Report(curve if width == 375 else results).html()
    host = tmp_path / "host.html"
    shown = HOST.replace("WIDTH", str(width)).replace("PAGE", escape(page, quote=True))
    host.write_text(shown, encoding="utf-8")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", host.as_uri()]
    command += [f"--blink-settings=preferredColorScheme={int(not dark)}"]
    dump = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    seen = json.loads(re.search(r"<pre>(.*?)</pre>", dump).group(1))
    assert seen["width"] == width
    assert seen["overflow"] <= 0
    assert seen["cut"] <= 0
    assert seen["requests"] == 0
    assert seen["pictures"] >= 5
    assert seen["smallest"] >= 9  # CSS pixels: the size of small print
    assert seen["paper"] == ("rgb(20, 23, 28)" if dark else "rgb(255, 255, 255)")


def test_brackets_in_names_messages_and_losses_are_shown_as_they_are():
    rows = {"dataset": ["t[/x]", "t[/x]", "[a]", "[a]"], "model": ["nb[/red]", "[bold]"] * 2}
    outcomes = {"status": ["ok", "failed", "ok", "ok"], "message": ["", "shape [/b] and [red]", "", ""]}
    folds = pd.DataFrame({**rows, **outcomes, "loss[/i]": [0.1, np.nan, 0.2, 0.3]})
    console = Console(file=io.StringIO(), width=200)
    console.print(Report.of_frame(folds, ("loss[/i]",)).terminal())
    shown = console.file.getvalue()
    for text in ("t[/x]", "nb[/red]", "[bold]", "[a]", "shape [/b] and [red]", "loss[/i]"):
        assert text in shown


def test_the_bar_shows_names_with_brackets(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    with progress_bar(shown=True) as bar:
        assert not bar.disable
        bar.add_task("model[/x]", total=1)
        bar.refresh()


PLAIN = {"dataset": ["t"] * 4, "model": [1, 2] * 2, "loss": [0.1, 0.2, 0.3, 0.4], "fold": [0, 0, 1, 1]}


def test_models_that_are_named_by_numbers_have_learning_curves_too():
    folds = pd.DataFrame({**PLAIN, "step": PLAIN["fold"], "n_train": [10, 10, 20, 20], "n_test": 5})
    assert "Learning curves</h" in Report.of_frame(folds, ("loss",)).html()


def test_a_failure_without_a_message_is_still_shown():
    folds = pd.DataFrame({**PLAIN, "status": ["ok", "failed", "ok", "ok"]})
    report = Report.of_frame(folds, ("loss",))
    console = Console(file=io.StringIO(), width=200)
    console.print(report.terminal())
    assert "2 failed in 1 of 2 folds of t: no message" in console.file.getvalue()
    assert "no message" in report.html()


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        (pd.DataFrame(PLAIN).iloc[:0], "no row"),
        (pd.DataFrame({**PLAIN, "loss": [np.inf, 0.1, 0.2, -np.inf]}), "2 values of loss are infinite"),
        (pd.DataFrame({**PLAIN, "loss": "x"}), "must hold numbers"),
    ],
)
def test_results_that_cannot_be_compared_are_refused(folds, message):
    with pytest.raises(InputError, match=message):
        Report.of_frame(folds, ("loss",))


@pytest.mark.parametrize("write", ["write_html", "write_csv"])
def test_a_page_or_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch, results, write):
    path = tmp_path / "old"
    path.write_text("the old one")

    def full_disk(target, *_, **__):
        target.write_bytes(b"half")
        raise OSError("no space left")

    monkeypatch.setattr("pathlib.Path.write_text", full_disk)
    monkeypatch.setattr("pandas.DataFrame.to_csv", lambda _, part, **__: full_disk(part))
    with pytest.raises(OSError, match="no space left"):
        getattr(Report(results), write)(path)
    assert path.read_text() == "the old one"
    assert [entry.name for entry in tmp_path.iterdir()] == ["old"]
