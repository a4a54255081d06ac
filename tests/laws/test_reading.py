"""Every additive model can be read and exported, after a fit and after a stream; others refuse."""

import numpy as np
import pytest

from seminaive import export
from seminaive.errors import InputError
from seminaive.explain.reading import effects_of

NOT_ADDITIVE = {"AveragedDependenceEstimators", "SparseBayesianNetwork"}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def check(model, X):
    """Compare effects with the scores, and the exported program with the probabilities."""
    said, sums = effects_of(model).joint_log_scores(model.encode(X)), model.scores_.sums(model.encode(X))
    np.testing.assert_allclose(said, sums - sums.mean(axis=1, keepdims=True), atol=1e-10)
    space = {}
    exec(export.to_python(model), space)  # noqa: S102 - the source is the export
    rows = [[None if cell != cell else cell for cell in row] for row in X.astype(object).to_numpy().tolist()]
    found = [list(space["predict_proba"](row).values()) for row in rows]
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_effects_and_exports_agree_with_every_additive_model(classifier, n_classes, weather):
    X, y = weather
    model = classifier().fit(X, y if n_classes == 3 else np.where(y == "sun", "sun", "wet"))
    if classifier.__name__ in NOT_ADDITIVE:
        with pytest.raises(InputError, match="is not additive"):
            effects_of(model)
        return
    rows = X.iloc[:60].copy()
    rows.loc[rows.index[:5], "sky"] = "fog"
    rows.loc[rows.index[5:9], "wind"] = None
    check(model, rows)


def test_effects_and_exports_agree_with_every_stream(streaming_classifier, weather):
    X, y = weather
    if streaming_classifier.__name__ in NOT_ADDITIVE:
        pytest.skip("not additive")
    model = streaming_classifier()
    # The last chunk brings a category that the others lack.
    X = X.copy()
    X.loc[X.index[:300], "sky"] = X["sky"].iloc[:300].replace("snow", "wet")
    for start in range(0, len(y), 100):
        model.partial_fit(X.iloc[start : start + 100], y[start : start + 100], classes=np.unique(y))
    check(model, X.iloc[::7])
