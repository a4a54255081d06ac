"""
From a CSV to a judged model in ten minutes
===========================================

A table of customers, some cells empty, some columns text; who will leave? We fit a model, read it,
and find out honestly how good it is and whether it is better than another.
"""

# %%
# A table
# -------
#
# Any CSV will do. This one is made up, so that everybody has it: 600 customers, a number and three
# words each, and a few holes.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import rich
from sklearn.model_selection import cross_val_predict

from seminaive import NaiveBayes
from seminaive.evaluate import (
    Dataset,
    Experiment,
    RepeatedKFold,
    Report,
    calibration_curve,
    corrected_resampled_t_test,
)
from seminaive.evaluate.rivals import RIVALS

rng = np.random.default_rng(7)
n = 600
months = rng.gamma(2.0, 12.0, n).round()
plan = rng.choice(["basic", "family", "business"], n, p=[0.5, 0.3, 0.2])
payment = rng.choice(["card", "invoice", "transfer"], n)
calls = rng.choice(["none", "some", "many"], n, p=[0.6, 0.3, 0.1])
score = 0.8 - 0.06 * months + 1.2 * (calls == "many")
score += 0.6 * (plan == "basic") - 0.5 * (payment == "card")
left = np.where(rng.uniform(size=n) < 1 / (1 + np.exp(-score)), "yes", "no")

customers = pd.DataFrame({"months": months, "plan": plan, "payment": payment, "calls": calls, "left": left})
customers.loc[rng.choice(n, 40, replace=False), "months"] = np.nan
customers.loc[rng.choice(n, 60, replace=False), "payment"] = None

folder = Path(tempfile.mkdtemp())
customers.to_csv(folder / "customers.csv", index=False)
customers.head()

# %%
# A model
# -------
#
# Text and numbers go in as they are. A missing number is no evidence; a missing word is a value of
# its own.

table = pd.read_csv(folder / "customers.csv")
X, y = table.drop(columns="left"), table["left"]
model = NaiveBayes().fit(X, y)
pd.DataFrame(model.predict_proba(X.head()), columns=model.classes_).round(2)

# %%
# Reading it
# ----------
#
# The model is a sum: a prior and one contribution per feature, here in log odds of leaving. The first
# customer's prediction can be taken apart completely.

model.contributions(X.head()).round(2)

# %%
# A judgement
# -----------
#
# Predictions on the rows that it learned from say nothing. An experiment splits the rows again and
# again, fits every model on the same parts, and judges it on the rest. The class shares alone are the
# bar that any model has to clear.

experiment = Experiment(
    {
        "naive Bayes": NaiveBayes(),
        "logistic regression": RIVALS["sklearn-logistic-regression"](),
        "class shares": RIVALS["class-shares"](),
    },
    [Dataset("customers", X, y.to_numpy())],
    RepeatedKFold(n_splits=5, n_repeats=4),
    metrics=("zero_one", "log_loss", "calibration_error"),
)
results = experiment.run(progress=False)
report = Report(results, "Who will leave?")
rich.print(report.terminal())

# %%
# Is the difference real?
# -----------------------
#
# Folds of one table share training rows, so an ordinary t test finds differences that are not there.
# The corrected one allows for that.

losses = results.folds.pivot_table(index=["repetition", "fold"], columns="model", values="log_loss")
corrected_resampled_t_test(losses["naive Bayes"], losses["logistic regression"], n_train=480, n_test=120)

# %%
# Can the probabilities be believed?
# ----------------------------------
#
# Among customers of whom a model says 30 %, three in ten should leave.

truth = np.searchsorted(model.classes_, y)
figure, axes = plt.subplots(figsize=(4.5, 4.5))
axes.plot([0, 1], [0, 1], color="grey", linewidth=1)
for name in ("naive Bayes", "logistic regression"):
    probabilities = cross_val_predict(experiment.models[name], X, y, cv=5, method="predict_proba")
    curve = calibration_curve(truth, probabilities, n_bins=5)
    axes.plot(curve.probability, curve.frequency, marker="o", label=name)
axes.set(xlabel="probability that the model gave", ylabel="share that left")
axes.legend()
figure.tight_layout()

# %%
# A page to send around
# ---------------------
#
# One file with every table and picture, which opens anywhere without a network (`an example
# <../example-report.html>`_):

report.write_html(folder / "customers.html")
sorted(path.name for path in folder.iterdir())

# %%
# The same without Python::
#
#     seminaive compare customers.csv --target left --models naive-bayes,sklearn-logistic-regression \
#         --report customers.html
