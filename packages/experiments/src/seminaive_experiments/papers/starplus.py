"""StarPlus, scans of the brain while a person looks at a picture or a sentence: a reader of a user's copy."""

from pathlib import Path

import numpy as np
import pandas as pd

from seminaive.errors import InputError
from seminaive_experiments.datasets import Dataset

__all__ = ["starplus_table"]

_STIMULUS_IMAGES = 8  # 4 seconds, two images each second
_SECOND_STIMULUS = 16  # its first image: after the first stimulus and a blank screen, 4 seconds each
_FIRST_TRIAL_CONDITION = 2  # conditions 0 and 1 are noise and rest
_OTHER = {"P": "S", "S": "P"}


def starplus_table(path: str | Path) -> Dataset:
    """Read one subject of a user's copy of StarPlus: 640 images, means of 25 regions, picture or sentence.

    The package cannot carry the scans. Carnegie Mellon University publishes them as MATLAB files named
    ``data-starplus-04799-v7.mat`` and so on, with ``info`` (a condition and the first stimulus of each
    trial), ``data`` (images by voxels of each trial) and ``meta.rois`` (the voxels of each region).

    Parameters
    ----------
    path : path
        One subject's MATLAB file.
    """
    from scipy.io import loadmat

    path = Path(path)
    try:
        content = loadmat(path, squeeze_me=True, struct_as_record=False)
        info, data, rois = content["info"], content["data"], content["meta"].rois
    except (OSError, ValueError, KeyError, AttributeError, NotImplementedError) as error:
        raise InputError(
            f"{str(path)!r} is not a StarPlus subject ({error}): expected a MATLAB file with info, data and "
            "meta.rois"
        ) from error
    regions = {str(roi.name): np.atleast_1d(roi.columns).astype(int) - 1 for roi in np.atleast_1d(rois)}
    images, labels = [], []
    for trial, scans in zip(np.atleast_1d(info), np.atleast_1d(data), strict=True):
        if int(trial.cond) < _FIRST_TRIAL_CONDITION:
            continue
        first = str(trial.firstStimulus)
        for start, shown in ((0, first), (_SECOND_STIMULUS, _OTHER[first])):
            images.append(np.asarray(scans, dtype=np.float64)[start : start + _STIMULUS_IMAGES])
            labels += [shown] * _STIMULUS_IMAGES
    every = np.concatenate(images)
    X = pd.DataFrame({name: every[:, voxels].mean(axis=1) for name, voxels in regions.items()})
    names = {"P": "picture", "S": "sentence"}
    return Dataset(path.stem, X, np.array([names[label] for label in labels]))
