"""Names say what a thing is: the words that say nothing, and one name for two classes, are refused."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

import seminaive

ROOT = Path(seminaive.__file__).parent

EMPTY_WORDS = frozenset({"own", "told", "asked", "so_many", "HOPELESS", "VAIN", "WORTH", "FLAT"})
RIDDLES = re.compile(r"\bso\s+many\b|\bas asked\b", re.IGNORECASE)

FILES = {path.relative_to(ROOT).as_posix(): path for path in sorted(ROOT.rglob("*.py"))}


def identifiers(tree):
    """Yield every name, argument, attribute, keyword, function and class of a module, with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name):
                yield name, node.lineno
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.keyword(arg=str(name)):
                yield name, node.lineno


def empty_words(source):
    return [(line, name) for name, line in identifiers(ast.parse(source)) if name in EMPTY_WORDS]


def classes(source):
    return [node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef)]


@pytest.mark.parametrize(
    "source",
    [
        "own = 1",
        "def own(): pass",
        "def f(*, told=1): pass",
        "f(asked=1)",
        "x.own.weight",
        "lambda own: 1",
        "[0 for own in x]",
        "VAIN, y = 3, 4",
    ],
)
def test_empty_words_are_found_wherever_they_name_something(source):
    assert len(empty_words(source)) == 1


def test_empty_words_within_longer_names_and_texts_are_no_names():
    assert not empty_words('known, ownership = "own", "told"')


def test_names_say_what_the_thing_is():
    found = [
        f"{name}:{line} {word}"
        for name, path in FILES.items()
        for line, word in empty_words(path.read_text(encoding="utf-8"))
    ]
    assert not found


def test_sentences_name_the_number():
    found = [name for name, path in FILES.items() if RIDDLES.search(path.read_text(encoding="utf-8"))]
    assert not found


def test_no_two_classes_have_the_same_name():
    files = defaultdict(list)
    for name, path in FILES.items():
        for of_class in classes(path.read_text(encoding="utf-8")):
            files[of_class].append(name)
    assert not {of_class: names for of_class, names in files.items() if len(names) > 1}


def test_names_in_tests_say_what_the_thing_is():
    found = [
        f"{path.name}:{line} {word}"
        for path in sorted(Path(__file__).parent.rglob("*.py"))
        for line, word in empty_words(path.read_text(encoding="utf-8"))
    ]
    assert not found
