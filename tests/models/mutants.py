"""Loads and uses model files that were changed at random; run as a script in a child process of its test.

Two mutators. ``text`` changes characters of the document and bits of the arrays, knowing nothing of what they
mean, and exchanges values of the document. ``structure`` knows nodes and arrays: it reshapes, permutes, cuts
and repeats arrays, drops and repeats entries, and puts parts of one model into another. Prints, as JSON, how
many files were tried, refused and accepted, and what went wrong; a file is repeated by the seed that is
printed with it.
"""

import copy
import json
import os
import sys
import tempfile
import warnings
import zipfile
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import pandas as pd
from hostile_files import archive, at, leaves, save

import seminaive
from seminaive.encode import CategoricalColumn, NumericColumn
from seminaive.errors import ModelFileError, SeminaiveError
from seminaive.scores import additive_scores as additive
from seminaive.scores.kind import TermKind

NUMBERS = [0, 1, -1, 2, 3, 7, 255, 2**31, 2**53 + 1, 0.5, -0.0, 1e-320, 1e140, 1e291, 1e308, float("nan")]
CHARACTERS = '0123456789-+.e"{}[],: \\utrnfalsx'
NUMBER_TYPES = ("<f8", "<i8", "|u1", "<u2", "<u4", "<u8", "|i1", "<i2", "<i4", "|b1")


# The first mutator: characters, bits and values


def changed_characters(rng, document, arrays):
    """Replace, drop, insert or repeat a few characters of the document."""
    text = json.dumps(document)
    for _ in range(rng.integers(1, 4)):
        place, length = int(rng.integers(len(text))), int(rng.integers(1, 4))
        new = "".join(rng.choice(list(CHARACTERS), rng.integers(0, 4)))
        if rng.random() < 0.3:
            new = text[place : place + length] * 2
        text = text[:place] + new + text[place + length :]
    return text, arrays


def changed_digits(rng, document, arrays):
    """Replace one digit of the document: the text stays JSON, a count or a place changes."""
    text = list(json.dumps(document))
    digits = [place for place, character in enumerate(text) if character.isdigit()]
    text[digits[rng.integers(len(digits))]] = str(rng.integers(10))
    return "".join(text), arrays


def changed_bits(rng, document, arrays):
    """Flip a few bits of the arrays."""
    block = bytearray(arrays)
    for _ in range(rng.integers(1, 9)):
        if block:
            block[rng.integers(len(block))] ^= 1 << int(rng.integers(8))
    return json.dumps(document), block


def changed_values(rng, document, arrays):
    """Give one plain value of the document another value, or that of another place."""
    document = copy.deepcopy(document)
    places = [
        place for place in leaves(document) if place and not isinstance(at(document, place), dict | list)
    ]
    one, two = (places[k] for k in rng.integers(len(places), size=2))
    new = at(document, two) if rng.random() < 0.5 else NUMBERS[rng.integers(len(NUMBERS))]
    at(document, one[:-1])[one[-1]] = new
    return json.dumps(document), arrays


def mutated_text(rng, document, arrays, _others):
    """Return a changed document, as text, and changed arrays."""
    kinds = (changed_characters, changed_digits, changed_bits, changed_values)
    return kinds[rng.integers(len(kinds))](rng, document, arrays)


# The second mutator: nodes and arrays


def is_array(node):
    return isinstance(node, dict) and list(node) == ["array"]


def read_array(node, arrays):
    dtype, shape, start = node["array"]
    return np.frombuffer(bytes(arrays), dtype, int(np.prod(shape)), start).reshape(shape)


def write_array(array, block):
    node = {"array": [array.dtype.str, list(array.shape), len(block)]}
    block += np.ascontiguousarray(array).tobytes()
    return node


def reshaped(rng, array):
    """Return an array of another shape."""
    axis = int(rng.integers(max(array.ndim, 1)))
    if not array.ndim or not array.size:
        return np.zeros((1,) * int(rng.integers(4)), array.dtype)
    size = array.shape[axis]
    changes = [
        lambda: np.delete(array, rng.integers(size), axis),
        lambda: np.repeat(array, np.where(np.arange(size) == rng.integers(size), 2, 1), axis),
        lambda: np.take(array, [], axis),
        lambda: array.T,
        array.ravel,
        lambda: np.expand_dims(array, axis),
        lambda: array.reshape(-1, 1),
        lambda: array.ravel()[:1].reshape(()),
    ]
    return changes[rng.integers(len(changes))]()


def revalued(rng, array):
    """Return an array of the same shape with other values, another order or another type."""
    if not array.size:
        return array
    flat = array.ravel().copy()
    place = int(rng.integers(len(flat)))
    changes = [
        lambda: rng.permutation(flat),
        lambda: np.sort(flat)[::-1],
        lambda: np.where(np.arange(len(flat)) == place, flat[rng.integers(len(flat))], flat),
        lambda: np.where(np.arange(len(flat)) == place, NUMBERS[rng.integers(len(NUMBERS))], flat),
        lambda: flat - flat.dtype.type(1) if flat.dtype.kind != "b" else ~flat,
        lambda: flat * flat.dtype.type(3),
        lambda: np.zeros_like(flat),
    ]
    made = changes[rng.integers(len(changes))]()
    dtype = array.dtype if rng.random() < 0.9 else NUMBER_TYPES[rng.integers(len(NUMBER_TYPES))]
    return np.asarray(made).astype(dtype).reshape(array.shape)


def changed_array(rng, document, block):
    """Change the shape or the values of one array."""
    places = [place for place in leaves(document) if place and is_array(at(document, place))]
    place = places[rng.integers(len(places))]
    array = read_array(at(document, place), block)
    made = (reshaped if rng.random() < 0.5 else revalued)(rng, array)
    at(document, place[:-1])[place[-1]] = write_array(made, block)


def narrowed_axis(rng, document, block):
    """Drop one position of every axis of one length: consistently one class, column or cell less."""
    places = [place for place in leaves(document) if place and is_array(at(document, place))]
    lengths = {n for place in places for n in at(document, place)["array"][1] if n}
    if not lengths:
        return
    length = sorted(lengths)[rng.integers(len(lengths))]
    gone = int(rng.integers(length))
    for place in places:
        array = read_array(at(document, place), block)
        for axis in [axis for axis, size in enumerate(array.shape) if size == length]:
            array = np.delete(array, gone, axis)
        at(document, place[:-1])[place[-1]] = write_array(array, block)
    classes = document.get("classes")  # an earlier change may have put anything there
    names = classes.get("values") if isinstance(classes, dict) else None
    if rng.random() < 0.5 and isinstance(names, list) and len(names) == length:
        del names[gone]


def changed_list(rng, document, _block):
    """Drop, repeat, exchange or reverse the entries of one list or map."""
    places = [place for place in leaves(document) if place and isinstance(at(document, place), list)]
    entries = at(document, places[rng.integers(len(places))])
    if not entries:
        return
    one, two = (int(k) for k in rng.integers(len(entries), size=2))
    changes = [
        lambda: entries.pop(one),
        lambda: entries.insert(one, copy.deepcopy(entries[two])),
        entries.reverse,
        lambda: entries.__setitem__(one, copy.deepcopy(entries[two])),
    ]
    changes[rng.integers(len(changes))]()


def transplanted(rng, document, block, others):
    """Put the node at some place of another model into the same or another place of this one."""
    other, other_arrays = others[rng.integers(len(others))]
    theirs = [place for place in leaves(other) if place]
    source = theirs[rng.integers(len(theirs))]
    ours = [place for place in leaves(document) if place and place[-1] == source[-1]]
    if not ours:
        return
    target = ours[rng.integers(len(ours))]
    at(document, target[:-1])[target[-1]] = moved(copy.deepcopy(at(other, source)), other_arrays, block)


def moved(node, arrays, block):
    """Return a node of another file, its arrays written into this file's block."""
    if is_array(node):
        return write_array(read_array(node, arrays), block)
    if isinstance(node, dict):
        return {key: moved(part, arrays, block) for key, part in node.items()}
    return [moved(part, arrays, block) for part in node] if isinstance(node, list) else node


def mutated_structure(rng, document, arrays, others):
    """Return a document with one to three changes, as text, and its arrays."""
    document, block = copy.deepcopy(document), bytearray(arrays)
    kinds = (changed_array, changed_array, narrowed_axis, changed_list)
    for _ in range(rng.integers(1, 4)):
        if rng.random() < 0.25:
            transplanted(rng, document, block, others)
        else:
            kinds[rng.integers(len(kinds))](rng, document, block)
    return json.dumps(document), block


MUTATORS = {"text": mutated_text, "structure": mutated_structure}


# What a file that is accepted must do


def rows_for(model, n_rows=8):
    """Return rows that a model's schema knows, with unseen, missing and far values among them."""
    columns = {}
    for column in model.schema_.columns:
        if isinstance(column, CategoricalColumn):
            values = [*column.categories[: n_rows - 2], None]
            if all(isinstance(value, str) for value in column.categories):
                values.append("never seen")
        elif isinstance(column, NumericColumn):
            values = [0.0, 1.0, None, -3.5, 60.0, 1e140, -1e140, 1e-300]
        else:
            values = [None]
        columns[column.name] = list(islice(cycle(values), n_rows))
    named = "feature_names_in_" in vars(model)
    return (
        pd.DataFrame(columns, dtype=object) if named else list(map(list, zip(*columns.values(), strict=True)))
    )


def check_answers(model, rows):
    """Refuse answers that are no probabilities."""
    proba = model.predict_proba(rows)
    if proba.shape != (len(rows), len(model.classes_)) or not np.isfinite(proba).all():
        raise AssertionError(f"probabilities {proba[:2]}")
    if np.abs(proba.sum(axis=1) - 1).max() > 1e-6:
        raise AssertionError(f"probabilities {proba[:2]} do not sum to one")
    if not np.isfinite(model.decision_function(rows)).all():
        raise AssertionError("decisions are not finite")
    if not set(model.predict(rows).tolist()) <= set(model.classes_.tolist()):
        raise AssertionError("a prediction is no class")


def read_attributes(model):
    """Read every attribute that is derived from what the file holds."""
    for name in dir(type(model)):
        if isinstance(getattr(type(model), name), property) and not name.startswith("_"):
            try:
                getattr(model, name)
            except AttributeError:  # what this fit does not have
                continue


def use(path):
    """Load a file; whatever is accepted answers, explains itself and learns from further rows."""
    try:
        model = seminaive.load_model(path, max_bytes=1 << 26)
    except ModelFileError:
        return "refused"
    rows = rows_for(model)
    check_answers(model, rows)
    check_answers(model, rows[:1])
    read_attributes(model)
    if hasattr(model, "contributions"):
        model.contributions(rows)
    if (
        hasattr(model, "partial_fit")
        and hasattr(model, "statistics_")
        and "NUMBA_DISABLE_JIT" not in os.environ
    ):
        labels = list(islice(cycle(model.classes_.tolist()), len(rows)))
        try:
            model.partial_fit(rows, labels)
        except SeminaiveError:
            return "accepted"  # numbers of 1e140 in a column of categories, for instance
        check_answers(model, rows)
    return "accepted"


def attack(folder, mutator, seed, n_files):
    """Use a number of changed files, of each saved model in turn."""
    warnings.simplefilter("ignore")
    # The loops that trust their indices, for few rows too.
    TermKind.compiles = lambda *_: True
    additive.COMPILED_GATHERS = 0
    saved = []
    paths = sorted(Path(folder).iterdir())
    for path in paths:
        with zipfile.ZipFile(path) as written:
            saved.append((json.loads(written.read("seminaive.json")), written.read("arrays")))
    tally, wrong = {"refused": 0, "accepted": 0}, []
    with tempfile.TemporaryDirectory() as scratch:
        changed = Path(scratch) / "mutant"
        for number in range(n_files):
            rng = np.random.default_rng([seed, number])
            document, arrays = saved[number % len(saved)]
            changed.write_bytes(archive(*MUTATORS[mutator](rng, document, arrays, saved)))
            try:
                tally[use(changed)] += 1
            except Exception as error:  # noqa: BLE001 - that is what is looked for
                name = paths[number % len(paths)].name
                wrong.append(f"{name}, seed [{seed}, {number}]: {type(error).__name__}: {error}"[:500])
    print(json.dumps({"tried": n_files, **tally, "wrong": wrong}))  # noqa: T201


if __name__ == "__main__":
    if sys.argv[1] == "save":
        save(sys.argv[2])
    else:
        attack(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
