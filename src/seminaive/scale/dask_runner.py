"""Work on partitions by the workers of a Dask cluster."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, TypeVar, cast

from seminaive.errors import InputError
from seminaive.scale.partitions import DaskPartition, FramePartition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Result = TypeVar("Result")

# How often a piece of work is begun again after the worker that did it was lost.
RETRIES = 10


class DaskRunner:
    """Workers of a Dask cluster.

    Every piece of work is a task that can be done again: partitions are read from their files, and blocks of
    encoded rows are futures that Dask computes anew where the worker that had them is gone. Coefficients
    travel as an argument of the tasks of a pass, nothing is tied to a worker, and sums are taken in the order
    of the partitions. A lost worker therefore costs time and changes no bit of the result.

    Parameters
    ----------
    client : distributed.Client
    retries : int, default=10
        How often a task is begun again after its worker was lost, before the fit is given up.
    """

    keeps_blocks_here = False

    def __init__(self, client: Any, *, retries: int = RETRIES) -> None:
        try:
            from distributed import Client
        except ImportError as error:
            raise ImportError("a Dask cluster needs Dask: pip install 'seminaive[dask]'") from error
        if not isinstance(client, Client):
            raise InputError(f"client is a distributed.Client, got {type(client).__name__}")
        self.client = client
        self.retries = retries

    def each(self, work: Callable[..., Result], items: Iterable[Any], *shared: Any) -> Iterator[Result]:
        """Yield ``work(item, *shared)`` of each item, in order; few results wait at any time."""
        given = self._given(shared)
        ahead = 2 * max(1, sum(self.client.nthreads().values()))
        waiting: deque[tuple[Any, Any]] = deque()
        for item in items:
            waiting.append((item, self._submit(work, item, given)))
            if len(waiting) > ahead:
                yield self._result(work, *waiting.popleft(), given)
        while waiting:
            yield self._result(work, *waiting.popleft(), given)

    def hold(self, work: Callable[..., Any], items: Iterable[Any], *shared: Any) -> list[Any]:
        """Return futures of the results, which stay in the workers."""
        given = self._given(shared)
        return [self._submit(work, item, given) for item in items]

    def release(self, items: list[Any]) -> None:
        """Let go of futures."""
        for future in items:
            future.release()
        items.clear()

    def _given(self, shared: tuple[Any, ...]) -> Any:
        """Return what all tasks share as the result of a task, which workers hand on to each other."""
        return self.client.submit(_give, shared, pure=False)

    def _submit(self, work: Callable[..., object], item: Any, given: Any) -> Any:
        number, part = item if isinstance(item, tuple) else (None, item)
        if isinstance(part, DaskPartition):
            # The frame is another task, which the cluster computes, perhaps again.
            part = self.client.compute(part.delayed)
        return self.client.submit(_do, work, number, part, given, pure=False)

    def _result(self, work: Callable[..., Result], item: Any, future: Any, given: Any) -> Result:
        """Wait for a task; begin it again where Dask gave it up because of lost workers."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        for attempt in range(self.retries + 1):
            try:
                return cast("Result", future.result())
            except (KilledWorker, FutureCancelledError):
                if attempt == self.retries:
                    raise
                for needed in (given, item):
                    if getattr(needed, "status", "finished") in ("error", "lost", "cancelled"):
                        needed.retry()
                future = self._submit(work, item, given)
        raise AssertionError("unreachable")


def _give(shared: tuple[Any, ...]) -> tuple[Any, ...]:
    return shared


def _do(work: Callable[..., Result], number: int | None, item: Any, shared: tuple[Any, ...]) -> Result:
    if hasattr(item, "iloc"):  # the frame of a Dask partition
        item = FramePartition(item, "a partition of the Dask frame")
    return work(item if number is None else (number, item), *shared)
