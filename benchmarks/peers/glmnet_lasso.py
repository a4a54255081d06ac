"""R's glmnet: the lasso path, timed inside R, so that starting R and reading the table cost nothing."""

import subprocess
import tempfile
from pathlib import Path

import numpy as np

SCRIPT = """
suppressMessages(library(glmnet))
args <- commandArgs(TRUE)
table <- as.matrix(read.csv(args[1], header = FALSE))
lambda <- scan(args[2], quiet = TRUE)
y <- table[, 1]
X <- table[, -1]
fit <- function() glmnet(X, y, family = "binomial", lambda = lambda, standardize = FALSE,
                         thresh = as.numeric(args[3]), maxit = 1e7)
model <- fit()
seconds <- min(sapply(1:5, function(i) system.time(fit())[["user.self"]]))
padded <- matrix(NA, length(lambda), ncol(X) + 1)
padded[seq_len(ncol(model$beta)), ] <- t(rbind(model$a0, as.matrix(model$beta)))
write.table(padded, args[4], row.names = FALSE, col.names = FALSE, sep = ",")
cat(seconds, as.character(packageVersion("glmnet")))
"""


def glmnet_path(X, y, strengths, threshold):
    """Solve the lasso with a free intercept; returns seconds, (S, d) coefficients and glmnet's version."""
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        (where / "run.R").write_text(SCRIPT)
        np.savetxt(where / "table.csv", np.column_stack([y, X]), delimiter=",")
        np.savetxt(where / "lambda.csv", np.asarray(strengths) / len(y))
        done = subprocess.run(
            [  # noqa: S607 - Rscript is found wherever the reader installed R
                "Rscript",
                str(where / "run.R"),
                str(where / "table.csv"),
                str(where / "lambda.csv"),
                str(threshold),
                str(where / "out.csv"),
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        seconds, version = done.stdout.split()
        return float(seconds), np.genfromtxt(where / "out.csv", delimiter=","), version
