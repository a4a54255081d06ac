"""The same models from tables larger than memory: Parquet, streams of batches, and Dask clusters."""

from seminaive.scale.dask_runner import DaskRunner
from seminaive.scale.fit_anywhere import fit
from seminaive.scale.local_runner import LocalRunner
from seminaive.scale.predicting import predict_proba
from seminaive.scale.sources import Source, from_batches, from_csv, from_dask, from_parquet

__all__ = [
    "DaskRunner",
    "LocalRunner",
    "Source",
    "fit",
    "from_batches",
    "from_csv",
    "from_dask",
    "from_parquet",
    "predict_proba",
]
