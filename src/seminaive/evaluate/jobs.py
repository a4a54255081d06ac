"""How many processes work is shared among."""

from seminaive.errors import InputError


def check_jobs(n_jobs: int) -> None:
    """Refuse a number of processes that means nothing."""
    if n_jobs == 0:
        raise InputError("the number of processes cannot be 0: give 1 or more, or -1 for every core.")
