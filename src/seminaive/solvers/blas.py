"""Vector operations in one thread: OpenBLAS wakes all cores for a dot product of a few thousand numbers."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


@cache
def _controller() -> Any:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which linear algebra uses one thread, which also fixes the order of its sums."""
    context: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return context
