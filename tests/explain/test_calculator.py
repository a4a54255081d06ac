"""The page calculates the probabilities of the model, in a real browser, and runs no other script."""

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
from html import escape, unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seminaive import AveragedDependenceEstimators, HigherOrderLogisticRegression, NaiveBayes, SemiNaive
from seminaive.errors import InputError
from seminaive.explain.reading import effects_of
from seminaive.export import calculator, page
from seminaive.export.calculator import usual_range
from seminaive.export.programs import script_json
from seminaive_experiments import load_dataset

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
HOSTILE = "</script><img src=x onerror=document.title='broken'>"


def with_script(opened, script):
    """Return a copy of a page that runs one more script, which the policy of the page would forbid."""
    text = re.sub(r"<meta http-equiv=[^>]*>", "", opened.read_text(encoding="utf-8"))
    copy = opened.with_name(f"{opened.stem}-measured.html")
    copy.write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    return copy


def in_frame(opened, width):
    """Return a page that shows another one in a frame: windows of Chromium are at least 500 pixels wide."""
    outer = opened.with_name(f"{opened.stem}-framed.html")
    inner = escape(opened.read_text(encoding="utf-8"))
    frame = f'<iframe style="border:0;width:{width}px;height:800px" srcdoc="{inner}"></iframe>'
    outer.write_text(f"<!doctype html><body>{frame}</body>", encoding="utf-8")
    return outer


def answer(document):
    """Return what such a script left in the attribute ``data-answer`` of the outermost body."""
    return json.loads(unescape(re.search(r'<body[^>]* data-answer="([^"]*)"', document).group(1)))


ANSWER = "const answer = value => { parent.document.body.dataset.answer = JSON.stringify(value); };"


def probabilities(document):
    return [float(text) for text in re.findall(r'data-probability="([^"]*)"', document)]


def self_test(document):
    return unescape(re.search(r'<p id="test"[^>]*>([^<]*)<', document).group(1))


@pytest.fixture(scope="module")
def hostile():
    """Return a model of three classes with pairs whose names are markup, and its rows."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    X = pd.DataFrame(
        {
            HOSTILE: np.array(["a", HOSTILE, "c & d"], object)[(y + rng.integers(0, 2, 400)) % 3],
            "x\"'": rng.normal(2.0 * y, 3.0),
            "flag": rng.random(400) < 0.3,
            "level": rng.integers(0, 4, 400),
        }
    )
    X.loc[rng.random(400) < 0.1, HOSTILE] = None
    model = HigherOrderLogisticRegression(order=2, hierarchical=True, categorical_features=[0, 2, 3])
    return model.fit(X, np.array([HOSTILE, "v", "w"], object)[y]), X


def test_without_a_title_the_heading_lists_the_classes(tmp_path):
    model = NaiveBayes().fit([["wet"], ["dry"]], ["yes", "no"])
    page = Path(calculator(model, tmp_path / "page.html")).read_text(encoding="utf-8")
    assert "<h1>Probability of each class: no, yes</h1>" in page


def test_a_link_fills_the_form_and_hostile_names_run_nothing(hostile, browser, tmp_path):
    model, _ = hostile
    opened = calculator(model, tmp_path / "page.html", title=HOSTILE, note=HOSTILE, labels={"flag": HOSTILE})
    rows = [
        {HOSTILE: HOSTILE, "x\"'": "1.5", "flag": "true", "level": "2"},
        {HOSTILE: "never seen", "flag": "false"},
    ]
    cells = {"true": True, "false": False}
    for row in rows:
        given = pd.DataFrame(
            {
                HOSTILE: pd.Series([row.get(HOSTILE)], dtype=object),
                "x\"'": [float(row.get("x\"'", "nan"))],
                "flag": pd.Series([cells.get(row.get("flag"))], dtype=object),
                "level": pd.Series([float(row["level"]) if "level" in row else np.nan]),
            }
        )
        document = browser(opened, row)
        np.testing.assert_allclose(probabilities(document), model.predict_proba(given)[0], atol=1e-12)
        assert self_test(document).startswith("Self-test passed: 20 rows")
        assert "<title>broken" not in document
        assert "onerror=" not in re.sub(r"<script>.*?</script>", "", document, flags=re.DOTALL).replace(
            "&lt;img src=x onerror=", ""
        )


def test_a_thousand_rows_typed_into_the_form_give_the_probabilities_of_the_model(hostile, browser, tmp_path):
    model, X = hostile
    rng = np.random.default_rng(1)
    rows = X.iloc[rng.integers(0, len(X), 1000)].reset_index(drop=True).astype(object)
    rows["x\"'"] = rng.normal(2.0, 8.0, 1000)
    for name, unseen in ((HOSTILE, "never seen"), ("x\"'", None), ("flag", None), ("level", 77)):
        rows.loc[rng.random(1000) < 0.1, name] = unseen
        rows.loc[rng.random(1000) < 0.1, name] = None
    typed = [[None if v is None or v != v else v for v in row] for row in rows.to_numpy(object).tolist()]
    script = f"""{ANSWER}
    const rows = {script_json(typed)};
    const typed = (f, v) => v === null ? "" : f.c.kind === "number" ? String(v)
      : f.c.categories.includes(v) ? String(f.c.categories.indexOf(v)) : "other";
    answer(rows.map(row => {{
      for (const f of fields) f.input.value = typed(f, row[f.i]);
      fields[0].input.dispatchEvent(new Event("input"));
      return [...document.querySelectorAll("[data-probability]")].map(td => Number(td.dataset.probability));
    }}));"""
    found = answer(browser(with_script(calculator(model, tmp_path / "page.html"), script)))
    expected = model.predict_proba(rows.astype({"x\"'": float}))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_number_that_cannot_be_read_is_not_a_missing_one(hostile, browser, tmp_path):
    model, _ = hostile
    opened = calculator(model, tmp_path / "page.html")
    document = browser(opened, {"x\"'": "1,5"})
    assert probabilities(document) == []
    assert "This is not a number" in document
    outside = browser(opened, {"x\"'": "500"})
    assert re.search(r"Unusual: 99 % of training rows lie within -?\d", outside)
    assert len(probabilities(outside)) == 3


def test_a_page_that_disagrees_with_its_model_shows_nothing(hostile, browser, tmp_path):
    model, _ = hostile
    opened = calculator(model, tmp_path / "page.html")
    text = opened.read_text(encoding="utf-8")
    intercept = re.search(r'"intercept":\[([^,]*),', text).group(1)
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL).group(1)
    changed = script.replace(f'"intercept":[{intercept},', '"intercept":[9.0,')
    # With the hash of the changed script, or the browser would not run it at all.
    text = text.replace(script, changed).replace(sha(script), sha(changed))
    opened.write_text(text, encoding="utf-8")
    document = browser(opened)
    assert self_test(document).startswith("Self-test failed")
    assert probabilities(document) == []


def sha(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_a_changed_script_does_not_run(hostile, browser, tmp_path):
    model, _ = hostile
    opened = calculator(model, tmp_path / "page.html")
    text = opened.read_text(encoding="utf-8")
    opened.write_text(text.replace("const fields = [];", "const fields = [] ;"), encoding="utf-8")
    assert self_test(browser(opened)) == "Self-test not run."


def test_the_policy_names_the_hashes_of_script_and_style_and_forbids_all_else(hostile, tmp_path):
    model, _ = hostile
    text = calculator(model, tmp_path / "page.html").read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)
    assert policy.startswith("default-src 'none'; ")
    for tag in ("script", "style"):
        inside = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL).group(1)
        assert f"{tag}-src '{sha(inside)}'" in policy
    assert "http://" not in text
    assert "https://" not in text


@pytest.fixture(scope="module")
def written(hostile, tmp_path_factory):
    """Return the calculator of a model with hostile names, and the page with its pictures."""
    folder = tmp_path_factory.mktemp("pages")
    model, _ = hostile
    return [calculator(model, folder / "calculator.html", title=HOSTILE), page(model, folder / "all.html")]


def test_a_phone_shows_the_page_without_sideways_scrolling_and_without_requests(written, browser):
    script = (
        f"{ANSWER} addEventListener('load', () => answer([innerWidth, document.documentElement.scrollWidth,"
        "performance.getEntriesByType('resource').map(own => own.name)"
        ".filter(own => !own.startsWith('data:'))]));"
    )
    for part in written:
        inner, needed, requests = answer(browser(in_frame(with_script(part, script), 390)))
        assert inner == 390
        assert needed <= 390
        assert requests == []


def test_axe_finds_no_violation(written, browser):
    axe = os.environ.get("SEMINAIVE_AXE")
    if not axe:
        pytest.skip("SEMINAIVE_AXE does not point to axe.min.js of axe-core: accessibility is not checked")
    script = f"""{Path(axe).read_text(encoding="utf-8")}
    {ANSWER} axe.run().then(found => answer({{
      violations: found.violations.map(own => own.id + ": " + own.nodes.map(n => n.html).join(" ")),
      passes: found.passes.length}}));"""
    for part in written:
        for opened in (with_script(part, script), in_frame(with_script(part, script), 390)):
            found = answer(browser(opened))
            assert found["violations"] == []
            assert found["passes"] > 20


@pytest.mark.real_data
def test_the_page_of_all_pairs_of_adult_has_at_most_160_kilobytes(real_data, monkeypatch, tmp_path):
    monkeypatch.setenv("SEMINAIVE_DATA", str(real_data))
    adult = load_dataset("adult")
    model = HigherOrderLogisticRegression(order=2, hierarchical=True, tol=1e-2).fit(adult.X, adult.y)
    assert calculator(model, tmp_path / "page.html").stat().st_size <= 160_000


def test_what_cannot_be_a_page_is_refused(weather, tmp_path):
    with pytest.raises(InputError, match="is not additive"):
        calculator(AveragedDependenceEstimators().fit(*weather), tmp_path / "page.html")
    model = NaiveBayes().fit(*weather)
    with pytest.raises(InputError, match="units names 'moon'"):
        calculator(model, tmp_path / "page.html", units={"moon": "km"})
    assert not (tmp_path / "page.html").exists()


def test_the_page_counts_all_empty_fields_and_those_that_it_averages_over(browser, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    y = X["a"] + X["b"] + X["c"] + rng.normal(size=200) > 0
    opened = calculator(SemiNaive(interactions=0).fit(X, y), tmp_path / "page.html")
    averages = "not known; the probabilities are averages over what"
    assert f"3 fields are {averages} they could be." in browser(opened)
    assert f"1 field is {averages} it could be." in browser(opened, {"a": "0.5", "b": "0.5"})
    X.loc[:40, "c"] = np.nan  # a value like any other
    opened = calculator(SemiNaive(interactions=0).fit(X, y), tmp_path / "page.html")
    assert f"3 fields are {averages} 2 of them could be." in browser(opened)


# What is where: at the widths of a desk, a tablet and a phone, and on paper


@pytest.fixture(scope="module")
def answers():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "days": rng.integers(3, 400, 500),
            "amount": rng.normal(12.9, 0.5, 500),
            **{f"answer {k}": rng.choice([1.0, 2.0], 500) for k in range(10)},
        }
    )
    y = (X["days"] / 200 + X["amount"] + rng.normal(size=500) > 14).astype(float)
    names = [name for name in X if name.startswith("answer")]
    return HigherOrderLogisticRegression(order=2, hierarchical=True, categorical_features=names).fit(X, y)


@pytest.fixture(scope="module")
def opened(answers, tmp_path_factory):
    """Return the page of a model of questions with its folded part open, and its calculator."""
    folder = tmp_path_factory.mktemp("pages")
    whole = page(answers, folder / "page.html")
    whole.write_text(
        whole.read_text(encoding="utf-8").replace("<details>", "<details open>"), encoding="utf-8"
    )
    return whole, calculator(answers, folder / "calculator.html")


@pytest.mark.parametrize("width", [1280, 768, 390])
def test_no_picture_is_cut_and_the_page_does_not_scroll_sideways(opened, browser, width):
    script = (
        f"{ANSWER} addEventListener('load', () => answer([document.documentElement.scrollWidth,"
        "document.querySelector('.whole .wide').clientWidth,"
        "document.querySelector('.whole img').getBoundingClientRect().width]));"
    )
    needed, room, nomogram = answer(browser(in_frame(with_script(opened[0], script), width)))
    assert needed <= width
    if width == 390:
        assert nomogram >= 650  # legible, and scrolled within its frame
    else:
        assert 0.55 * width < nomogram <= room


def test_the_result_stays_in_view_on_a_phone_and_its_bar_has_a_track(opened, browser):
    script = f"""{ANSWER} addEventListener('load', () => {{
      const fields = document.querySelectorAll('.field'), last = fields[fields.length - 1];
      last.scrollIntoView({{block: 'center'}});
      const box = document.getElementById('result').getBoundingClientRect();
      const track = document.querySelector('.track'), bar = track.firstChild;
      const share = Number(document.querySelector('[data-probability]').dataset.probability);
      bar.style.width = '100%';
      answer([box.top, box.bottom, innerHeight, scrollY, share,
              bar.getBoundingClientRect().width, track.clientWidth]);
    }});"""
    top, bottom, height, scrolled, _, bar, track = answer(
        browser(in_frame(with_script(opened[1], script), 390))
    )
    assert scrolled > 0
    assert top >= -1
    assert bottom < height / 2
    assert bar == pytest.approx(track, abs=1)  # in pixels, which are whole for one of them


def test_hints_are_in_units_of_the_data_and_labels_are_whole(answers, opened, browser):
    text = browser(opened[1])
    days = next(effect for effect in effects_of(answers).features if effect.name == "days")
    low, high = usual_range(days)
    assert low == round(low)
    assert high == round(high)
    assert f"99 % of training rows: {low:.0f} to {high:.0f}" in text
    assert re.findall(r"<option[^>]*>([^<]*)</option>", text)[:3] == ["not known", "1", "2"]
    assert "Probability of each class: 0, 1" in text
    for number in (low, high):
        assert not re.search(r"lie within \d", browser(opened[1], {"days": str(number)}))


@pytest.mark.parametrize(("language", "readable"), [("de-DE", True), ("en-US", False)])
def test_a_decimal_comma_is_read_where_the_language_writes_one(opened, language, readable):
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no Chromium is installed: the calculator is not opened")
    link = f'{opened[1].as_uri()}#{{"amount":"12,5"}}'
    command = [found, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000",
               f"--accept-lang={language}", "--dump-dom", link]  # fmt: skip
    text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    assert bool(probabilities(text)) == readable


def test_on_paper_the_nomogram_has_a_page(opened, tmp_path):
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    reader = shutil.which("pdftotext")
    if found is None or reader is None:
        pytest.skip("no Chromium or no pdftotext is installed: nothing is printed")
    printed_to = f"--print-to-pdf={tmp_path / 'page.pdf'}"
    command = [found, "--headless", "--no-sandbox", "--disable-gpu", printed_to, opened[0].as_uri()]
    subprocess.run(command, capture_output=True, check=True, timeout=120)
    text = subprocess.run(
        [reader, "-bbox", str(tmp_path / "page.pdf"), "-"], capture_output=True, text=True, check=True
    ).stdout
    printed = next(part for part in text.split("<page ")[1:] if ">Nomogram:<" in part)
    assert ">sheet<" in printed  # its heading is on the same page
