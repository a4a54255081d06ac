"""
A model in service
==================

A lender fits a model on the applications of one year and uses it in the next ones. This page follows it:
reasons for a letter, the smallest change that would have been enough, what has changed since training, an
effect that is corrected by hand, and an update that starts from the model in service. The applications are
simulated, and later years differ from the first in ways that we know.
"""

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss

from seminaive import SemiNaive, edits, explain
from seminaive.edits import refit_around


def applications(year, n_rows, seed):
    """Return applications of a year, and whether they were repaid."""
    rng = np.random.default_rng(seed)
    later, changed = year > 2024, year > 2025
    X = pd.DataFrame(
        {
            "income": rng.lognormal(10.2 + 0.15 * later, 0.5, n_rows).round(-2),
            "years in job": rng.gamma(2.0, 3.0, n_rows).round(),
            "home": rng.choice(["rents", "owns", "with family"], n_rows, p=[0.5, 0.35, 0.15]),
            "through": rng.choice(["branch", "web", "phone"], n_rows, p=[0.5, 0.3, 0.2]),
        }
    )
    if later:
        X.loc[rng.random(n_rows) < 0.3, "through"] = "app"
    by_income = 0.6 if changed else 1.6
    score = by_income * np.log(X["income"] / 27_000) + 0.25 * np.minimum(X["years in job"], 8) - 0.4
    score = score - 1.2 * (changed & (X["through"] == "app"))
    score = score + X["home"].map({"rents": -0.3, "owns": 0.6, "with family": 0.0})
    return X, np.where(rng.random(n_rows) < 1 / (1 + np.exp(-score)), "repaid", "not repaid")


X, y = applications(2024, 3000, seed=0)
model = SemiNaive(random_state=0).fit(X, y)

# %%
# Reasons
# -------
# What a letter can hold: the columns that speak most for and against the predicted class, against the mean of
# training. What pairs of columns say is shared out among them, so that the reasons of all columns add up to
# the log odds, to the last digits.

applicant = {"income": 17_000.0, "years in job": 1.0, "home": "rents", "through": "web"}
found = explain.reasons(model, applicant, n=2)
print(found.target[0])
print(*found.words(), sep="\n")
print("adds up:", np.isclose(found.log_odds[0], abs(model.decision_function(pd.DataFrame([applicant]))[0])))

# %%
# Compared with another row instead, a column that has the same value says nothing.

usual = {"income": 27_000.0, "years in job": 6.0, "home": "rents", "through": "branch"}
print(*explain.reasons(model, applicant, reference=usual).words(), sep="\n")

# %%
# The smallest change that would have been enough. What may change is for the lender to say; the search is
# exact, and its bound proves it.

answer = explain.smallest_change(
    model, applicant, "repaid", may_change={"income": "up", "years in job": "up"}
)
print(answer)
print(f"cost {answer.cost:.3f}, and nothing costs less than {answer.bound:.3f}")

# %%
# A year later
# ------------
# Incomes have risen, and some apply through an app that training never had. Without labels the model tells
# what has changed, and what that does to the mean score, term by term.

new, repaid = applications(2025, 2000, seed=1)
changed = explain.shift(model, new)
print(changed.advice)
changed.frame().head(4).round(3)

# %%
explain.ShiftDisplay(changed).plot()

# %%
explain.ColumnShiftDisplay.from_estimator(model, new, "income")

# %%
# With labels it also tells whether the probabilities still hold. Here they do: more people repay because more
# people have the incomes of those who do, and the model knew that.

print(explain.shift(model, new, repaid).advice)

# %%
# By hand
# -------
# Few people have been in one job for more than 15 years, and the curve should not fall there. We say so, and
# the model keeps who said it and why. Then all other effects are fitted again around the one that we changed.

edited = edits.edit(
    model, "years in job", edits.Monotone(), who="credit risk", why="Longer must not be worse.", rows=X, y=y
)
edited = refit_around(edited, X, y, who="credit risk", why="After the change of years in job.")
edits.history(edited)

# %%
explain.EffectDisplay.from_estimator(edited, "years in job")

# %%
# The history is in the file that ``save_model`` writes, in ``export.to_json`` and on the page that
# ``export.page`` writes.

# %%
# Two years later
# ---------------
# Now income says less than it did, and who applies through the app repays less often. Labels of 400 new
# applications tell.

new, repaid = applications(2026, 400, seed=2)
print(explain.shift(model, new, repaid).advice)

# %%
# To recalibrate the model would correct all effects by one factor, and 400 rows are few for a model of
# their own. ``start=`` fits in between: an intercept, plus a slope times the score of the model in service,
# plus new terms that are held back toward nothing. Held-out rows say how strongly, and how much of the
# earlier score is left.

updated = SemiNaive(start=model, random_state=0).fit(new, repaid)
print(*updated.started_from_)

# %%
# Other applications of that year judge: the model in service, a fit of the 400 rows alone, and the update.

judges, outcome = applications(2026, 5000, seed=3)
alone = SemiNaive(random_state=0).fit(new, repaid)
for name, fitted in (("in service", model), ("400 rows alone", alone), ("update", updated)):
    print(f"{name:15} {log_loss(outcome, fitted.predict_proba(judges)):.3f}")

# %%
# The update is one model again, with one effect per column: that of the app is new, and that of income is
# less steep. It is explained, edited, exported and saved like any other, its file says what it started from,
# and next year it can be a start itself.

explain.EffectDisplay.from_estimator(updated, "through")

# %%
explain.EffectDisplay.from_estimator(updated, "income")
