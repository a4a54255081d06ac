"""Tables split in time, place or kind: rows of an earlier model, and rows from elsewhere."""

import functools
import json

import numpy as np
import pandas as pd
from board_tables import DATA

# An earlier model is fitted to at most this number of rows.
MOST_EARLIER = 5000
SIMULATED_EARLIER, SIMULATED_NEW = 3000, 8000
# The codes of heart-statlog, whose rows are among those of heart-cleveland, as that table writes them.
STATLOG_NAMES = {
    "chest": "cp",
    "resting_blood_pressure": "trestbps",
    "serum_cholestoral": "chol",
    "fasting_blood_sugar": "fbs",
    "resting_electrocardiographic_results": "restecg",
    "maximum_heart_rate_achieved": "thalach",
    "exercise_induced_angina": "exang",
    "number_of_major_vessels": "ca",
}
STATLOG_VALUES = {
    "sex": {"1": "male", "0": "female"},
    "cp": {"1": "typ_angina", "2": "atyp_angina", "3": "non_anginal", "4": "asympt"},
    "fbs": {"0": "f", "1": "t"},
    "restecg": {"0": "normal", "1": "st_t_wave_abnormality", "2": "left_vent_hyper"},
    "exang": {"0": "no", "1": "yes"},
    "slope": {"1": "up", "2": "flat", "3": "down"},
    "thal": {"3": "normal", "6": "fixed_defect", "7": "reversable_defect"},
}


def read(table):
    """Return the columns of a table under their names, and its classes as numbers."""
    rows = pd.read_csv(DATA / f"{table}.csv.gz", keep_default_na=False, na_values=[""], low_memory=False)
    kinds = json.loads((DATA / "SCHEMA.json").read_text())[table]
    columns = {}
    for name in rows.columns[:-1]:
        cells = rows[name]
        if kinds[name] == "numeric":
            columns[name] = pd.to_numeric(cells).astype(float)
        else:
            columns[name] = cells.astype(object).map(str).where(cells.notna(), None)
    return pd.DataFrame(columns), np.unique(rows["class"].astype(str), return_inverse=True)[1]


def by(table, is_earlier):
    """Return earlier and new rows of one table, given which are earlier."""
    X, y = read(table)
    earlier = is_earlier(X).to_numpy()
    return X[earlier], y[earlier], X[~earlier], y[~earlier]


def hearts_hungarian():
    new, labels = read("heart-hungarian")
    return *read("heart-cleveland"), new.rename(columns={"chest_pain": "cp"}), labels


def hearts_statlog():
    X, y = read("heart-statlog")
    X = X.rename(columns=STATLOG_NAMES)
    X["slope"] = X["slope"].astype(int).astype(str)
    for name, values in STATLOG_VALUES.items():
        X[name] = X[name].map(values)
    return X, y, *read("heart-cleveland")


def drift():
    """Return rows whose effects change: one slope halves, one curve turns, one pair appears."""
    random = np.random.default_rng(0)
    n = SIMULATED_EARLIER + SIMULATED_NEW
    X = random.normal(size=(n, 6))
    kind = random.integers(0, 4, n)
    new = np.arange(n) >= SIMULATED_EARLIER
    scores = (
        np.where(new, 0.5, 1.0) * X[:, 0]
        + np.where(new, -0.3, 0.3) * (X[:, 1] ** 2 - 1)
        + 0.8 * np.sin(2 * X[:, 2])
        + np.where(new, 0.8, 0.0) * X[:, 3] * X[:, 4]
        + np.array([-0.6, 0.0, 0.2, 0.6])[kind]
        - np.where(new, 1.0, 0.5)
    )
    y = (random.logistic(size=n) < scores).astype(int)
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(6)]).assign(kind=[f"k{k}" for k in kind])
    return table[~new], y[~new], table[new], y[new]


SPLITS = {
    "heart-cleveland to heart-hungarian": hearts_hungarian,
    "heart-statlog to heart-cleveland": hearts_statlog,
    "pima by age": lambda: by("pima-diabetes", lambda X: X["age"] < 30),
    "simulated drift": drift,
    "adult by country": lambda: by("adult", lambda X: X["native-country"] == "United-States"),
    "bank by month": lambda: by(
        "bank-marketing-additional", lambda X: X["month"].isin(["may", "jun", "jul"])
    ),
    "default by education": lambda: by("default-credit-card", lambda X: X["EDUCATION"].isin(["1", "2"])),
    "mushroom by habitat": lambda: by("mushroom", lambda X: X["habitat"].isin(["d", "g"])),
}


@functools.lru_cache(maxsize=1)
def split(name):
    """Return the earlier rows, at most 5,000 of them, and the new ones, each with its classes."""
    earlier, labels, X, y = SPLITS[name]()
    if len(labels) > MOST_EARLIER:
        kept = np.sort(np.random.default_rng(0).choice(len(labels), MOST_EARLIER, replace=False))
        earlier, labels = earlier.iloc[kept], labels[kept]
    return earlier.reset_index(drop=True), labels, X.reset_index(drop=True), y
