"""Every fit, and every stream, keeps a summary of its training table; or none where it is not wanted."""

import numpy as np
import pytest

import seminaive

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_a_fit_keeps_the_weights_of_its_cells(classifier, weather):
    X, y = weather
    model = classifier().fit(X, y)
    summary = model.summary_
    classes, counts = np.unique(y, return_counts=True)
    assert (model.classes_ == classes).all()
    np.testing.assert_array_equal(summary.class_weight, counts)
    for column in range(len(model.schema_.coded)):
        np.testing.assert_allclose(summary.cell_weights(column).sum(axis=0), counts)
    assert not hasattr(classifier(keep_summary=False).fit(X, y), "summary_")


def test_a_stream_summarises_all_its_chunks(streaming_classifier, weather):
    X, y = weather
    model = streaming_classifier()
    for start in range(0, len(y), 90):
        model.partial_fit(X.iloc[start : start + 90], y[start : start + 90], classes=np.unique(y))
    np.testing.assert_array_equal(model.summary_.class_weight, np.unique(y, return_counts=True)[1])
    whole = seminaive.NaiveBayes().fit(X, y).summary_
    assert [sketch.weight for sketch in model.summary_.numbers] == [sketch.weight for sketch in whole.numbers]
