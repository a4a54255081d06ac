"""Fits in one thread, whichever library does the work: times compare code and not numbers of cores."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


@lru_cache(maxsize=1)
def _controller(_n_modules: int) -> Any:
    """Return what limits the loaded libraries; looking for them takes as long as a fit of naive Bayes."""
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which every library that is loaded by now uses one thread."""
    context: AbstractContextManager[Any] = _controller(len(sys.modules)).limit(limits=1)
    return context
