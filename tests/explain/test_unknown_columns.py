"""What documents say about unknown cells is checked like the rest of them."""

import json

import numpy as np
import pytest

from seminaive import HigherOrderLogisticRegression
from seminaive.errors import ModelFileError
from seminaive.explain.unknown import UnknownColumns
from seminaive.export import from_json, to_json


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = rng.choice(["p", "q", "r"], (200, 3))
    return HigherOrderLogisticRegression(2).fit(X, (X[:, 0] == "p") ^ (X[:, 1] == "q"))


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("columns", [0, 1, 1]),
        ("columns", [0, 1, 7]),
        ("columns", [0, 1, "2"]),
        ("covariance", [[1.0]]),
        ("covariance", [[1.0, 0, 0], [0, "1", 0], [0, 0, 1]]),
        ("lack", [0.0, 1.0]),
        ("most_lost", 1.5),
        ("most_lost", -0.5),
        ("per_variance", 1.0),
    ],
)
def test_a_document_whose_unknown_cells_do_not_fit_is_refused(model, part, value):
    document = json.loads(to_json(model))
    assert from_json(json.dumps(document)).scores_.attenuation is not None
    document["unknown"][part] = value
    with pytest.raises(ModelFileError, match="the document is no model"):
        from_json(json.dumps(document))


def test_columns_that_cannot_be_unknown_or_do_not_matter_are_left_out():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.choice(["p", "q"], 300), rng.choice(["u"], 300), rng.choice(["s", "t"], 300)])
    model = HigherOrderLogisticRegression(1).fit(X, X[:, 0] == "p")
    found = UnknownColumns.of(model.scores_.attenuation, model.schema_)
    assert 1 not in found.positions
    assert 0 in found.positions
