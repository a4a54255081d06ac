"""How the kernels of the path solver are compiled.

A first fit compiles them, so what it compiles is kept small: most of numba's time goes into indexing, into
NumPy functions (np.dot, np.empty, slices, min and max of mixed types), into making functions callable from
Python and C, into counting references to arrays, and into optimising a function again inside each of its
callers. Therefore kernels allocate nothing, call no NumPy function, compare rather than take min and max,
and are inlined before compilation where they have one caller.
"""

from numba.core.options import DefaultOptions

from seminaive.kernels.compilation import njit

REORDER = {"reassoc", "contract"}  # sums in any order and fused products; infinities stay what they are
OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
# numba does not document the option, which callees inherit; one that dropped it would count references
# everywhere, and be slower for it.
BARE = OPTIONS | ({"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {})

# For Python.
kernel = njit(**BARE)
# For other kernels only.
part = njit(**BARE, no_cpython_wrapper=True)
# The same, with sums and products in any order.
reordered_part = njit(**BARE, no_cpython_wrapper=True, fastmath=REORDER)
# The same, with fused products, and sums as they are written.
fused_part = njit(**BARE, no_cpython_wrapper=True, fastmath={"contract"})
# Becomes part of its callers.
inlined = njit(inline="always")
