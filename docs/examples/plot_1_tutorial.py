"""
From a table to a model that you can read
=========================================

Ten minutes. A table of customers, with text, numbers and empty cells: who will leave? We fit a model, check
how it read the columns, read what it learned, find out how good it is on new rows, and keep it.
"""

# %%
# A table
# -------
#
# Any CSV file will do. This one is made up, so that everybody has it, and so that we know the
# truth: customers leave soon after they came or after about three years, people with many calls
# leave, and a business plan protects from leaving, but not those with many calls.

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import rich

from seminaive import NaiveBayes, SemiNaive, explain, export, load_model, save_model
from seminaive_experiments import Dataset, Experiment, RepeatedKFold, Report, corrected_resampled_t_test
from seminaive_experiments.rivals import RIVALS

rng = np.random.default_rng(7)
n = 800
months = rng.uniform(0, 60, n).round()
plan = rng.choice(["basic", "family", "business"], n, p=[0.5, 0.3, 0.2])
payment = rng.choice(["card", "invoice", "transfer"], n)
calls = rng.choice(["none", "some", "many"], n, p=[0.5, 0.3, 0.2])
log_odds = -1.2 + 2.0 * np.exp(-months / 6) + 1.5 * np.exp(-(((months - 36) / 6) ** 2))
log_odds += 1.6 * (calls == "many") + 0.5 * (calls == "some")
log_odds -= 2.0 * ((plan == "business") & (calls != "many"))
left = np.where(rng.random(n) < 1 / (1 + np.exp(-log_odds)), "yes", "no")

customers = pd.DataFrame({"months": months, "plan": plan, "payment": payment, "calls": calls, "left": left})
customers.loc[rng.choice(n, 50, replace=False), "months"] = np.nan
customers.loc[rng.choice(n, 80, replace=False), "payment"] = None

folder = Path(tempfile.mkdtemp())
customers.to_csv(folder / "customers.csv", index=False)
customers.head()

# %%
# A model
# -------
#
# Text, numbers and empty cells go in as they are.

table = pd.read_csv(folder / "customers.csv")
X, y = table.drop(columns="left"), table["left"]
model = SemiNaive().fit(X, y)
pd.DataFrame(model.predict_proba(X.head()), columns=model.classes_).round(2)

# %%
# ``SemiNaive`` chooses its own place between naive Bayes and logistic regression with interactions:
# cross-validation inside of ``fit`` finds how strongly slopes, curves and pairs of columns are held
# back.
#
# First of all, how were the columns read? (:doc:`What to do </guide/columns>` where this is not
# what you meant.)

model.columns_report_

# %%
# Reading it
# ----------
#
# The model is a sum: one contribution per column and per pair of columns, in log odds of leaving. A
# contribution of 0.7 doubles the odds. Which columns move the odds most?

explain.summary(model).round(2)

# %%
# The importance is the standard deviation of a contribution over the training rows. How you pay
# does not matter, and the model noticed. What the number of months says is a curve, with the two
# dangerous times:

explain.EffectDisplay.from_estimator(model, "months")

# %%
# Pairs of columns, the most important first. The interaction that we put in is on top:

model.interactions_.head(3).round(2)

# %%
# What this pair says *beyond* what its two columns say alone. Red raises the odds of leaving, blue
# lowers them: with many calls, a business plan protects less than it does otherwise.

explain.PairDisplay.from_estimator(model, ("plan", "calls"))

# %%
# Why did the third customer get this probability? The bars add up, from the average customer to
# this one:

explain.WaterfallDisplay.from_estimator(model, X.iloc[[2]])

# %%
# The same as numbers, for the first customers. ``prior`` and contributions sum to the log odds:

model.contributions(X.head(3)).round(2)

# %%
# How good is it?
# ---------------
#
# Predictions on the rows that the model learned from prove nothing. An experiment splits the rows
# again and again, fits every model on the same parts, and judges it on the rest. The shares of the
# classes alone are the bar that any model has to clear.

experiment = Experiment(
    {
        "SemiNaive": SemiNaive(),
        "naive Bayes": NaiveBayes(),
        "logistic regression": RIVALS["sklearn-logistic-regression"](),
        "class shares": RIVALS["class-shares"](),
    },
    [Dataset("customers", X, y.to_numpy())],
    RepeatedKFold(n_splits=5, n_repeats=2),
    metrics=("log_loss", "zero_one", "calibration_error"),
)
results = experiment.run(progress=False)
report = Report(results, "Who will leave?")
rich.print(report.terminal())

# %%
# Is the difference real? The folds of one table share training rows, so that an ordinary t test
# finds differences that are not there. The corrected test allows for that:

losses = results.folds.pivot_table(index=["repetition", "fold"], columns="model", values="log_loss")
corrected_resampled_t_test(losses["SemiNaive"], losses["logistic regression"], n_train=640, n_test=160)

# %%
# One page with all tables and pictures, to be sent around; it opens without a network (`an example
# <../example-report.html>`_):

report.write_html(folder / "customers.html")

# %%
# Keep it
# -------
#
# A saved model is plain data: :doc:`loading one runs no code of it </guide/saving>`.

save_model(model, folder / "customers.model")
load_model(folder / "customers.model").predict_proba(X.head(3)).round(2)

# %%
# A calculator for colleagues without Python, as one file for the browser (:doc:`and other ways out
# </how-to/put-to-work>`):

export.calculator(model, folder / "calculator.html", title="Will this customer leave?")
sorted(path.name for path in folder.iterdir())

# %%
# The same on the command line::
#
#     seminaive fit customers.csv --target left --out customers.model
#     seminaive explain customers.model
#     seminaive predict customers.model new-customers.csv --out answers.csv
#     seminaive compare customers.csv --target left --report customers.html
#     seminaive validate customers.csv --target left --page customers-validation.html
#
# Where to go next: :doc:`which model </start/which-model>` for another purpose, :doc:`rare classes,
# weights and thresholds </guide/imbalance>`, :doc:`all ways to read a model <plot_4_read_a_model>`.
#
# And how sure is all this? Every probability of the model has an interval:

lower, upper = model.predict_interval(X.head(3))
upper - lower

# %%
# :doc:`How sure is it? </how-to/how-sure>` goes on from here: intervals of effects, validation that repeats
# everything, stability, and whether more rows would help.
