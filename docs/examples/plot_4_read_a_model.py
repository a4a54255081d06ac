"""
Read a fitted model
===================

A fitted model is a sum: what each feature says, and what pairs of features say beyond that. This page
goes from a table of all effects to a nomogram that can be printed.
"""

from sklearn.datasets import load_breast_cancer

from seminaive import SemiNaive, explain

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X[["mean radius", "mean texture", "mean smoothness", "mean symmetry", "texture error"]]
y = y.map({0: "malignant", 1: "benign"})
model = SemiNaive(random_state=0).fit(X, y)

# %%
# One line per effect, the one that moves the log odds most first. An importance is the standard
# deviation of the effect over the training rows; ``with_pairs`` adds a column's share of its pairs. Pairs
# that move the log odds by less than a hundredth of their deviation have no line.

explain.summary(model).round(2)

# %%
# All effects. The line of the intercept plus one line per term is ``decision_function``, exactly:
# of a number the line with its interval, where ``effect + linear * (x - at)`` holds.

explain.effects_table(model).head(12).round(3)

# %%
# Pairs are *pure*: what a pair says about one of its features alone belongs to that feature, so that
# the pictures of features can be read without looking at the pairs. Columns are ranked with their share of
# pairs, and what all pairs amount to stands above.

explain.ImportanceDisplay.from_estimator(model)

# %%
explain.EffectDisplay.from_estimator(model, "mean radius")

# %%
explain.PairDisplay.from_estimator(model)

# %%
# Why one row has its probability, from the average of training to the row:

explain.WaterfallDisplay.from_estimator(model, X.iloc[[19]])

# %%
# By how much the odds change between the quartiles of a feature. Intervals need the training rows:
# ``odds_ratios(model, X=X, y=y, n_bootstrap=200)`` refits clones. There are no p-values, since
# penalised coefficients have none.

explain.odds_ratios(model).round(2)

# %%
# The nomogram: find each value on its ruler, or on its small curve where the effect turns, add the points,
# and read the probability. It is a page at most: what has no room is one line of others. An overlaid row has
# the probability of the whole model. ``features=10`` draws the ten features that move the log odds most. More
# than two classes have a lane each against the most frequent one; more than seven have no room on a sheet and
# are refused: draw an ``EffectDisplay`` per feature, or write the calculator.

explain.NomogramDisplay.from_estimator(model, row=X.iloc[[19]], pairs=2)

# %%
# As whole points in bands, to be added up by hand. The last lines say what bands and rounding change, in
# which feature most, and by how much a row differs at most: ``bands={"mean radius": 12}`` gives a feature
# more. With few rows, ``X=X`` finds the bands on the rows themselves, since the summary that a model keeps
# knows no extreme number.

print(explain.scorecard(model, points_to_double=20, bands=4))
