"""Compiled loops: arrays in, arrays out. The only room that imports numba, when a loop is first needed."""

import sys
from importlib.abc import MetaPathFinder
from importlib.util import find_spec


class _AfterNumba(MetaPathFinder):
    """Imports `seminaive.kernels.compilation` once numba is imported: before anything can be compiled."""

    def find_spec(self, name, path, target=None):  # noqa: ARG002 - the interface of the import system
        """Find numba, and let its loader do one thing more."""
        if name != "numba":
            return None
        sys.meta_path.remove(self)
        spec = find_spec("numba")
        if spec is not None:
            execute = spec.loader.exec_module

            def execute_and_watch(module):
                execute(module)
                import seminaive.kernels.compilation  # noqa: F401 - registers itself

            spec.loader.exec_module = execute_and_watch
        return spec


if "numba" in sys.modules:
    import seminaive.kernels.compilation  # noqa: F401 - registers itself
else:
    sys.meta_path.insert(0, _AfterNumba())
