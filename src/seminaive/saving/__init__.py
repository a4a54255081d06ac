"""Fitted models in files that run no code when they are read."""

from typing import TYPE_CHECKING

from seminaive.lazy_names import read_when_asked

if TYPE_CHECKING:
    from seminaive.saving.model_files import load_model, save_model

__all__ = ["load_model", "save_model"]

__getattr__, __dir__ = read_when_asked(__name__, dict.fromkeys(__all__, "model_files"))
