"""The page of a model has a picture of everything that the model has, and stays one file without requests."""

import base64
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from seminaive import (
    AveragedDependenceEstimators,
    HigherOrderLogisticRegression,
    HybridLogisticNaiveBayes,
    NaiveBayes,
    NaiveBayesLogisticRegressionCV,
)
from seminaive.errors import InputError
from seminaive.export import page

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def captions(text):
    return re.findall(r"<figcaption>(.*?)</figcaption>", text)


def test_every_feature_and_pair_has_a_picture_that_is_valid_svg(weather, tmp_path):
    X, y = weather
    X = X[["sky", "temperature", "humidity"]]
    model = HigherOrderLogisticRegression(order=2, hierarchical=True).fit(X, y)
    text = page(model, tmp_path / "page.html", row=X.iloc[[0]]).read_text(encoding="utf-8")
    shown = captions(text)
    assert {f"Effect of {name}" for name in X} <= set(shown)
    assert "Effect of sky × temperature" in shown
    assert "From the average of training to this row" in shown
    assert shown[-1].startswith("Nomogram")
    pictures = re.findall(r'<img src="data:image/svg\+xml;base64,([^"]*)" alt="([^"]+)">', text)
    assert len(pictures) == len(shown) == text.count("<img ")
    for content, _ in pictures:
        assert ET.fromstring(base64.b64decode(content)).tag.endswith("svg")  # noqa: S314 - drawn above


def test_the_same_model_gives_the_same_page(weather, tmp_path):
    model = NaiveBayes().fit(*weather)
    first, second = (page(model, tmp_path / name).read_bytes() for name in ("a.html", "b.html"))
    assert first == second


def test_nothing_is_loaded_and_names_are_text(weather, tmp_path):
    X, y = weather
    hostile = "<img src=x onerror=alert(1)> $x$"
    model = NaiveBayes().fit(X.rename(columns={"sky": hostile}), np.where(y == "sun", hostile, y))
    text = page(model, tmp_path / "page.html", title=hostile, note=hostile).read_text(encoding="utf-8")
    outside = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert "<img src=x" not in outside
    assert "img-src data:; " in text
    assert not re.search(r'(src|href)="(?!data:)', outside)


def test_paths_test_losses_and_graphs_are_drawn_where_a_model_has_them(weather, tmp_path):
    X, y = weather
    found = NaiveBayesLogisticRegressionCV(strengths=5, cv=3).fit(X, y == "sun")
    shown = captions(page(found, tmp_path / "page.html").read_text(encoding="utf-8"))
    assert {"Path of models", "Cross-validation along the path"} <= set(shown)
    hybrid = HybridLogisticNaiveBayes(cv=3).fit(X, y)
    shown = captions(page(hybrid, tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "The model as a graph" in shown


def test_more_classes_than_a_nomogram_has_room_for_leave_it_out(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 9, 500)
    model = NaiveBayes().fit(np.stack([y + rng.normal(size=500), rng.normal(size=500)], axis=1), y)
    shown = captions(page(model, tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "Effect of x0" in shown
    assert not any("Nomogram" in caption for caption in shown)


def test_a_model_that_is_not_additive_has_no_page(weather, tmp_path):
    with pytest.raises(InputError, match="is not additive"):
        page(AveragedDependenceEstimators().fit(*weather), tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()
