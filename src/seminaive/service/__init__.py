"""A model in service: fit around its edits, and replay its history."""

from seminaive.service.refitting import refit_around
from seminaive.service.replaying import replay

__all__ = ["refit_around", "replay"]
