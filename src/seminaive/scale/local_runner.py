"""Work on partitions by the threads of this process."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from joblib import effective_n_jobs

from seminaive.errors import InputError
from seminaive.models.parameters import check_jobs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Result = TypeVar("Result")


class Runner(Protocol):
    """Whoever works on partitions and on blocks of encoded rows.

    Work is a function at the top of a module, its arguments are picklable, and it gives the same result
    whenever and wherever it is done.
    """

    def each(self, work: Callable[..., Result], items: Iterable[Any], *shared: Any) -> Iterator[Result]:
        """Yield ``work(item, *shared)`` of each item, in order."""

    def hold(self, work: Callable[..., Any], items: Iterable[Any], *shared: Any) -> list[Any]:
        """Do the same, and return the results as items of further work, which stay where they are."""

    def release(self, items: list[Any]) -> None:
        """Let go of what `hold` returned."""

    @property
    def keeps_blocks_here(self) -> bool:
        """Tell whether results that are held lie in this process, which may write them to a disk."""


def checked_runner(runner: Any) -> Runner:
    """Return a runner, one thread of this process for None; refuse what is none."""
    if runner is None:
        return LocalRunner()
    if not hasattr(runner, "keeps_blocks_here"):
        raise InputError(f"runner is a scale.LocalRunner or a scale.DaskRunner, got {type(runner).__name__}")
    chosen: Runner = runner
    return chosen


class LocalRunner:
    """Threads of this process.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all cores. Results do not depend on it.
    """

    keeps_blocks_here = True

    def __init__(self, n_jobs: int | None = None) -> None:
        check_jobs(n_jobs)
        self.n_jobs = n_jobs

    def each(self, work: Callable[..., Result], items: Iterable[Any], *shared: Any) -> Iterator[Result]:
        """Yield ``work(item, *shared)`` of each item, in order; few results wait at any time."""
        n_threads = effective_n_jobs(self.n_jobs)
        if n_threads == 1:
            for item in items:
                yield work(item, *shared)
            return
        waiting: deque[Future[Result]] = deque()
        with ThreadPoolExecutor(n_threads) as pool:
            try:
                for item in items:
                    if len(waiting) > n_threads:
                        yield waiting.popleft().result()
                    waiting.append(pool.submit(work, item, *shared))
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()

    def hold(self, work: Callable[..., Any], items: Iterable[Any], *shared: Any) -> list[Any]:
        """Return the results."""
        return list(self.each(work, items, *shared))

    def release(self, items: list[Any]) -> None:
        """Let go of the results."""
        items.clear()
