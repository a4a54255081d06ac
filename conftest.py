"""Plugins and fixtures of all tests, in tests/plugins, and pytest's plugin by which plugins are tested.

Each process of the suite does its linear algebra in one thread: there is a process per core already, and
threads of OpenBLAS that wait for each other took a third of the processor time of tests on a busy machine.
The variables are read when NumPy is imported, which is later. Kernels of numba keep their threads, which
tests compare.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

pytest_plugins = ["shared_fixtures", "skip_list", "slow_budget", "pytester"]
