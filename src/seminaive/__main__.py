"""``python -m seminaive`` and the command ``seminaive``: interrupts are heeded before any import."""

import os
import signal

INTERRUPTED = "seminaive: interrupted\n"


def _stop_importing(*_: object) -> None:
    """End the process at once: while modules are imported there is nothing to put in order."""
    os.write(2, INTERRUPTED.encode())
    os._exit(130)


def main() -> None:
    """Import the command line and run it."""
    before = signal.signal(signal.SIGINT, _stop_importing)
    from seminaive.cli import main as run

    signal.signal(signal.SIGINT, before)
    run()


if __name__ == "__main__":
    main()
