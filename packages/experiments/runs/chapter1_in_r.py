"""The forest and the lasso of chapter 1 by R's randomForest and glmnet, on the splits of our methods."""

import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from seminaive_experiments.papers import dissertation

SCRIPT = Path(__file__).with_name("chapter1.R")


def judge_in_r(dataset, method, repetitions, seed):
    """Yield the losses of one method on the first splits of one table.

    Parameters
    ----------
    dataset : str
        The chapter's name of the table.
    method : {"RF", "Lasso"}
    repetitions : int
    seed : int
    """
    table = dissertation.categorical_table(dataset, seed)
    codes = {
        f"x{j}": [f"level {code:02d}" for code in table.X[name].cat.codes] for j, name in enumerate(table.X)
    }
    splits = [
        dissertation.split(dataset, len(table.y), repetition, seed)[1] for repetition in range(repetitions)
    ]
    with tempfile.TemporaryDirectory() as folder:
        pd.DataFrame({"class": table.y.astype(str), **codes}).to_csv(Path(folder) / "table.csv", index=False)
        np.savetxt(Path(folder) / "test_rows.txt", np.array(splits) + 1, fmt="%d")
        # Rscript is found wherever the reader installed R.
        subprocess.run(["Rscript", str(SCRIPT), folder, method], check=True)  # noqa: S607
        losses = pd.read_csv(Path(folder) / "losses.csv")
    for repetition, row in enumerate(losses.to_dict("records")):
        yield {"repetition": repetition, "n_features": table.X.shape[1], **row}
