"""Loads and uses thousands of hostile model files; run as a script in a child process of its test.

For every kind of model, every leaf of its saved document is replaced in turn by values of a wrong shape,
type, sign, order and size. Prints how many files were tried, refused and accepted, and what went wrong.
"""

import copy
import io
import itertools
import json
import os
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

import seminaive
from seminaive import edits
from seminaive.design import coefficients
from seminaive.edits import refit_around
from seminaive.errors import ModelFileError, SeminaiveError
from seminaive.scores import additive_scores as additive
from seminaive.scores.kind import TermKind

N = 60
SCALARS = [
    None,
    True,
    -1,
    0,
    7,
    2**62,
    2**64,
    -1e300,
    1e300,
    float("nan"),
    float("inf"),
    "",
    "x",
    [],
    {},
    [[0]],
]


def table():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, N)
    X = pd.DataFrame(
        {
            "sky": np.array(["dry", "wet", "snow"], object)[(y + rng.integers(0, 2, N)) % 3],
            "wind": rng.choice(["low", "high"], N),
            "temperature": rng.normal(3.0 * y, 2.0),
            "humidity": rng.integers(20, 100, N).astype(float),
        }
    )
    X.loc[::7, "sky"] = None
    X.loc[::9, "temperature"] = np.nan
    return X, np.array(["sun", "rain", "hail"])[y]


def models():
    """Yield a name and a fitted model for every kind of saved state."""
    X, y = table()
    for name in seminaive.__all__:
        made = getattr(seminaive, name)
        if not hasattr(made, "predict"):
            continue
        few = {"strengths": 5, "cv": 3} if "strengths" in made().get_params() else {}
        yield name, made(**few).fit(X, y)
        yield f"{name}, two classes", made(**few, class_weight={True: 2.0}).fit(X, y == "sun")
        if hasattr(made, "partial_fit"):
            more = {"hierarchical": True} if "hierarchical" in made().get_params() else {}
            yield f"{name}, stream", made(**more).partial_fit(X, y, classes=["hail", "rain", "sun"])
    edited = edits.edit(seminaive.NaiveBayes().fit(X, y), "sky", edits.Clip(-1, 1), why="a test")
    edited = edits.edit(edited, "humidity", edits.Points((20, 90), (0.0, 0.5)), why="a test")
    yield "edited", refit_around(edited, X, y, why="a test")
    yield "class variances", seminaive.NaiveBayes(variances="class", missing="neutral").fit(X, y)
    dense = coefficients.MOST_DENSE_BYTES
    coefficients.MOST_DENSE_BYTES = 0
    yield "observed terms", seminaive.HigherOrderLogisticRegression(hierarchical=True).fit(X, y)
    coefficients.MOST_DENSE_BYTES = dense


def leaves(node, path=()):
    """Yield the path of every leaf: arrays, empty containers and plain values; and of lists as wholes."""
    if isinstance(node, dict) and list(node) != ["array"] and node:
        for key, part in node.items():
            yield from leaves(part, (*path, key))
        yield path
    elif isinstance(node, list) and node:
        for key, part in enumerate(node):
            yield from leaves(part, (*path, key))
        yield path
    else:
        yield path


def at(document, path):
    for key in path:
        document = document[key]
    return document


def hostile_values(node, arrays):
    """Yield replacements of a node; arrays are written behind the others."""
    if isinstance(node, dict) and list(node) == ["array"]:
        dtype, shape, start = node["array"]
        array = np.frombuffer(arrays, dtype, int(np.prod(shape)), start).reshape(shape)
        yield from hostile_arrays(array)
        yield {"array": [dtype, [2**40, *shape[1:]], start]}
        yield {"array": [dtype, [-1, *shape[1:]], start]}
        yield {"array": [dtype, shape, 2**40]}
        yield {"array": ["|O", shape, start]}
        yield {"array": ["<U9", shape, start]}
        yield None
        yield "x"
    elif isinstance(node, dict):
        for key in node:
            yield {name: part for name, part in node.items() if name != key}
        yield {**node, "offsets": [10**10]}
        yield {**node, "_check_consistent": None}
    elif isinstance(node, list):
        yield []
        yield node[:-1]
        yield node[::-1]
        yield [*node, *node[-1:], *node[:1]]
        yield [node]
    else:
        yield from (value for value in SCALARS if value is not node)
        if isinstance(node, str):
            yield node + "x"
        if isinstance(node, int | float) and not isinstance(node, bool):
            yield node + 1
            yield -node


def hostile_arrays(array):
    yield array[:-1]
    yield np.concatenate([array, array[-1:]])
    yield array[None]
    yield array.T if array.ndim > 1 else array[:, None]
    yield array[:0]
    yield array[::-1]
    yield -array if array.dtype.kind == "f" else array[::-1]
    for kind in ("<i8", "|u1", "<f8", "|b1"):
        if array.dtype != kind:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield array.astype(kind)
    values = [np.nan, np.inf, -np.inf, 1e300, -1e300, -5.0] if array.dtype.kind == "f" else [-1, 2**62, 10**6]
    for value, position in itertools.product(values, (0, -1)):
        if array.size and np.can_cast(type(value), array.dtype, "same_kind"):
            changed = array.copy()
            changed.flat[position] = value
            yield changed
    if array.dtype.kind == "f":
        yield np.full_like(array, np.nan)
        yield np.full_like(array, 1e200)


def archive(text, arrays):
    """Return the content of a file: the document, as text, and the arrays."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as written:
        written.writestr("seminaive.json", text)
        written.writestr("arrays", bytes(arrays))
    return buffer.getvalue()


def hostile_files(path):
    """Yield a description and the content of every hostile file of one saved model."""
    with zipfile.ZipFile(path) as written:
        document = json.loads(written.read("seminaive.json"))
        arrays = written.read("arrays")
    for place in leaves(document):
        if not place:
            continue
        for value in hostile_values(at(document, place), arrays):
            changed, block = copy.deepcopy(document), bytearray(arrays)
            node = value
            if isinstance(value, np.ndarray):
                node = {"array": [value.dtype.str, list(value.shape), len(block)]}
                block += np.ascontiguousarray(value).tobytes()
            at(changed, place[:-1])[place[-1]] = node
            yield f"{place}: {value!r}"[:300], archive(json.dumps(changed), block)


def use(content, folder, X, y):
    """Load a file and use the model in every way; return "refused" or "accepted"."""
    path = Path(folder) / "hostile"
    path.write_bytes(content)
    try:
        model = seminaive.load_model(path, max_bytes=1 << 26)
    except ModelFileError:
        return "refused"
    try:
        for rows in (X, X[:1]):
            proba = model.predict_proba(rows)
            if not np.isfinite(proba).all() or np.abs(proba.sum(axis=1) - 1).max() > 1e-6:
                raise AssertionError(f"probabilities {proba[:2]}")
            if not np.isfinite(model.decision_function(rows)).all():
                raise AssertionError("decisions are not finite")
            model.predict(rows)
        if hasattr(model, "contributions"):
            model.contributions(X)
        if hasattr(model, "partial_fit") and "NUMBA_DISABLE_JIT" not in os.environ:
            model.partial_fit(X, y[: len(X)])
            if not np.isfinite(model.predict_proba(X)).all():
                raise AssertionError("probabilities after another chunk are not finite")
    except (SeminaiveError, ValueError) as refusal:
        # Columns and labels that the file has changed are not those of the table.
        if not isinstance(refusal, SeminaiveError) and "feature names" not in str(refusal):
            raise
    return "accepted"


def save(folder):
    """Write one file for every kind of model."""
    warnings.simplefilter("ignore")
    for name, model in models():
        seminaive.save_model(model, Path(folder) / name)


def attack(folder, first, step):
    """Use every ``step``-th hostile file of each model, from the ``first`` on."""
    warnings.simplefilter("ignore")
    # The loops that trust their indices, for few rows too.
    TermKind.compiles = lambda *_: True
    additive.COMPILED_GATHERS = 0
    X, y = table()
    tally, wrong, tried = {"refused": 0, "accepted": 0}, [], 0
    with tempfile.TemporaryDirectory() as scratch:
        for path in sorted(Path(folder).iterdir()):
            labels = y if len(seminaive.load_model(path).classes_) == 3 else y == "sun"
            for what, content in itertools.islice(hostile_files(path), first, None, step):
                tried += 1
                try:
                    tally[use(content, scratch, X, labels)] += 1
                except Exception as error:  # noqa: BLE001 - that is what is looked for
                    wrong.append(f"{path.name}, {what}: {type(error).__name__}: {error}"[:500])
    print(json.dumps({"tried": tried, **tally, "wrong": wrong}))  # noqa: T201


if __name__ == "__main__":
    if sys.argv[1] == "save":
        save(sys.argv[2])
    else:
        attack(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
