"""Figures of R's `rms::validate` and `rms::calibrate`, which the tests compare `validate` with.

    python benchmarks/claims/validation_rms.py [--replays 2000]

Three tables that come with scikit-learn, unpenalised logistic regression. Writes
benchmarks/results/validation_rms.csv and benchmarks/results/calibration_rms.csv; needs Rscript and rms
(Debian: r-base-core, r-cran-rms).
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

BENCHMARKS = Path(__file__).parent.parent
RESULTS = BENCHMARKS / "results"


def tables():
    """Return the tables by name: numbers, and whether a row is of the class."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    cancer = X[["mean texture", "mean smoothness", "mean symmetry", "texture error"]], (y == 1)
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    diabetes = X, y > 140
    X, y = load_iris(return_X_y=True, as_frame=True)
    kinds = y > 0
    iris = X.loc[kinds, ["sepal length (cm)", "sepal width (cm)"]], y[kinds] == 2
    return {"breast cancer": cancer, "diabetes": diabetes, "iris": iris}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--replays", type=int, default=2000)
    replays = parser.parse_args().replays
    program = shutil.which("Rscript")
    if program is None:
        sys.exit("there is no Rscript: install R with its package rms")
    measures, curves = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, (X, y) in tables().items():
            paths = [Path(folder) / part for part in ("table.csv", "measures.csv", "curve.csv")]
            X.set_axis([f"x{k}" for k in range(X.shape[1])], axis=1).assign(y=y.astype(int)).to_csv(
                paths[0], index=False
            )
            command = [program, BENCHMARKS / "peers" / "rms_validate.R", paths[0], replays, *paths[1:]]
            subprocess.run([str(part) for part in command], check=True)
            measures.append(pd.read_csv(paths[1]).assign(table=name))
            curves.append(pd.read_csv(paths[2]).assign(table=name))
    pd.concat(measures).to_csv(RESULTS / "validation_rms.csv", index=False, float_format="%.6g")
    pd.concat(curves).to_csv(RESULTS / "calibration_rms.csv", index=False, float_format="%.6g")


if __name__ == "__main__":
    main()
