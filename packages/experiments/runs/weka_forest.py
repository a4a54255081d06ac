"""WEKA's random forest, which splits a category into all of its values: what the ALR paper compares with.

WEKA_JAR names the file weka.jar (Debian's package weka has version 3.6.14); java must be on the path.
"""

import os
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin


class WekaForest(ClassifierMixin, BaseEstimator):
    """A forest of 100 trees; a split tries log2 of the attributes plus one, which is WEKA's default."""

    def fit(self, X, y):
        """Keep the training rows: WEKA fits and answers in one run."""
        self.classes_ = np.unique(y)
        self.rows_ = pd.DataFrame(X).reset_index(drop=True), np.searchsorted(self.classes_, y)
        return self

    def predict_proba(self, X):
        """Return WEKA's class probabilities, printed with three decimals."""
        train, labels = self.rows_
        both = pd.concat([train, pd.DataFrame(X)], ignore_index=True)
        columns = [_attribute(f"a{j}", both.iloc[:, j]) for j in range(both.shape[1])]
        classes = "@attribute class {" + ",".join(f"c{code}" for code in range(len(self.classes_))) + "}"
        head = "\n".join(["@relation t", *(line for line, _ in columns), classes, "@data", ""])
        cells = pd.DataFrame({j: values for j, (_, values) in enumerate(columns)})
        # The class of a row to be answered is not known; WEKA wants one in the file.
        cells["class"] = [*(f"c{code}" for code in labels), *["c0"] * len(X)]
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder) / name for name in ("train.arff", "test.arff")]
            for file, rows in zip(files, (cells.iloc[: len(train)], cells.iloc[len(train) :]), strict=True):
                file.write_text(head + rows.to_csv(index=False, header=False), encoding="utf-8")
            options = ["-I", "100", "-p", "0", "-distribution", "-t", str(files[0]), "-T", str(files[1])]
            command = ["java", "-cp", os.environ["WEKA_JAR"], "weka.classifiers.trees.RandomForest", *options]
            answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        lines = [line for line in answer.splitlines() if re.match(r"\s+\d+\s", line)]
        shares = [line.split()[-1].replace("*", "").split(",") for line in lines]
        found = np.array(shares, dtype=float)
        return found / found.sum(axis=1, keepdims=True)

    def predict(self, X):
        """Return the class of the largest probability."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _attribute(name, column):
    """Return the declaration of an attribute and its cells as ARFF has them."""
    if pd.api.types.is_numeric_dtype(column):
        return f"@attribute {name} numeric", [f"{value:.10g}" if value == value else "?" for value in column]
    codes, levels = pd.factorize(column)
    named = ",".join(f"v{code}" for code in range(max(len(levels), 1)))
    return f"@attribute {name} {{{named}}}", [f"v{code}" if code >= 0 else "?" for code in codes]
