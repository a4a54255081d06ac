"""Rows with unknown cells get the same answers from fits out of core and in memory."""

import numpy as np
import pytest

from seminaive import HigherOrderLogisticRegression, NaiveBayesLogisticRegression, scale


@pytest.mark.parametrize(
    "model",
    [NaiveBayesLogisticRegression(missing="neutral"), HigherOrderLogisticRegression(2, missing="neutral")],
    ids=lambda model: type(model).__name__,
)
def test_unknown_cells_are_answered_as_by_a_fit_in_memory(model, mixed_rows, write_parts, tmp_path):
    frame = mixed_rows(600)
    folder = write_parts(frame, tmp_path / "parts", 4, np.random.default_rng(0))
    X, y = frame.drop(columns="outcome"), frame["outcome"].to_numpy()
    rows = X.astype(object).mask(np.random.default_rng(1).random(X.shape) < 0.4).iloc[:50]
    rows = rows.astype({"height": float, "age": float})
    expected = model.fit(X, y).predict_proba(rows)
    covariance = model.scores_.attenuation.covariance
    scale.fit(model, scale.from_parquet(folder, target="outcome"))
    # Solved by passes over blocks, to the tolerance of the solvers.
    np.testing.assert_allclose(model.scores_.attenuation.covariance, covariance, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(model.predict_proba(rows), expected, atol=1e-3)
    nothing = rows.iloc[:1].assign(sky=None, place=None, flag=None, height=np.nan, age=np.nan)
    shares = [(y == label).mean() for label in model.classes_]
    np.testing.assert_allclose(model.predict_proba(nothing)[0], shares, atol=1e-9)
