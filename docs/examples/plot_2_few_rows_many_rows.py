"""
Few rows, many rows
===================

Naive Bayes is ahead while rows are few and logistic regression when they are many. A learning curve
shows where they cross on a table.
"""

import matplotlib.pyplot as plt

from seminaive import NaiveBayes
from seminaive.evaluate import Experiment, Prequential
from seminaive.evaluate.rivals import RIVALS

experiment = Experiment(
    {"naive Bayes": NaiveBayes(), "logistic regression": RIVALS["sklearn-logistic-regression"]()},
    ["breast-cancer"],
    Prequential(first=15, growth=1.8, n_repeats=12),
    metrics=("zero_one", "log_loss"),
)
results = experiment.run(progress=False)
curves = results.folds.pivot_table(index="n_train", columns="model", values="zero_one")
curves.round(3)

# %%
# Each step trains on the rows so far and is tested on the next ones, over twelve random orders of the
# rows.

figure, axes = plt.subplots(figsize=(6, 4))
for model in curves:
    axes.plot(curves.index, curves[model], marker="o", label=model)
axes.set(xscale="log", xlabel="training rows", ylabel="0-1 loss")
axes.legend()
figure.tight_layout()
