"""``python -m seminaive`` is the command ``seminaive``."""

from seminaive.cli import main

main()
