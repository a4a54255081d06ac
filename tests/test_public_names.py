"""What is public is on the reference pages, and what the pages show is public."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest
from sklearn.base import is_classifier

import seminaive

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "reference"
PAGES = [*REFERENCE.glob("*.md"), *(ROOT / "packages").glob("*/docs/reference/*.md")]
PUBLIC = sorted(
    set(
        re.findall(
            r"`(seminaive(?:_experiments|\.\w+)?)`",
            (REFERENCE / "public.md").read_text().split("## Deprecation")[0],
        )
    )
)
DIRECTIVE = re.compile(r"^\.\. auto(module|class):: ([\w.]+)\n((?:   :.*\n)*)", re.MULTILINE)


def shown():
    """Return what autodoc shows of the public rooms: their members less those left out, and lone classes."""
    names = set()
    for page in PAGES:
        for kind, name, options in DIRECTIVE.findall(page.read_text(encoding="utf-8")):
            if kind == "class":
                names.add(name)
            if kind == "class" or name not in PUBLIC:
                continue
            left_out = re.search(r":exclude-members: (.*)", options)
            omitted = set(left_out.group(1).split(", ")) if left_out else set()
            names |= {f"{name}.{member}" for member in import_module(name).__all__ if member not in omitted}
    return names


def test_the_page_names_the_rooms_that_are_public():
    rooms = ["edits", "errors", "evaluate", "explain", "export", "models", "scale", "structure"]
    assert ["seminaive", *(f"seminaive.{room}" for room in rooms), "seminaive_experiments"] == PUBLIC


@pytest.mark.parametrize("room", PUBLIC)
def test_every_public_name_exists_and_says_what_it_is(room):
    module = import_module(room)
    assert sorted(set(module.__all__)) == sorted(module.__all__)
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isroutine(value):
            # autodoc leaves out what has no docstring.
            assert (value.__doc__ or "").strip(), f"{room}.{name}"


@pytest.mark.parametrize("room", PUBLIC)
def test_every_public_name_is_on_a_reference_page(room):
    on_pages = {name.rpartition(".")[2] for name in shown()}
    from_elsewhere = {"ConvergenceWarning", "NotFittedError"}  # scikit-learn's, on scikit-learn's pages
    assert set(import_module(room).__all__) - on_pages - from_elsewhere == set()


def test_nothing_is_on_two_pages():
    last = [name.rpartition(".")[2] for name in shown()]
    assert sorted(name for name in set(last) if last.count(name) > 1) == []


# What can be called on an estimator; all else that completion offers is a parameter or was learned.
METHODS = {
    *("coefficient_covariance", "coefficients_at", "column_effects", "completions", "contributions"),
    *("decision_function", "draw_missing_cells", "fit", "fit_transform", "get_feature_names_out"),
    *("get_metadata_routing", "get_params", "get_support", "inverse_transform", "kept_terms", "partial_fit"),
    *("path_curves", "predict", "predict_interval", "predict_log_proba", "predict_proba", "probabilities"),
    *("sample", "score", "set_fit_request", "set_output", "set_params", "set_partial_fit_request"),
    *("set_score_request", "to_networkx", "transform"),
}


@pytest.mark.parametrize("name", [name for name in seminaive.__all__ if name[0].isupper()])
def test_completion_offers_parameters_learned_attributes_and_public_methods(name):
    estimator = getattr(seminaive, name)()
    if is_classifier(estimator) and name != "SparseBayesianNetwork":
        estimator.fit([["a", 1.0], ["b", 2.0]] * 20, [0, 1] * 20)
    offered = {word for word in dir(estimator) if not word.startswith("_")}
    learned = {word for word in offered if word.endswith("_")}
    assert offered - learned - set(estimator.get_params()) <= METHODS
    for method in offered & METHODS:
        assert callable(getattr(type(estimator), method))
