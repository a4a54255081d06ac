"""How the kernels of the path solver are compiled.

Most of numba's time goes where it counts references to arrays, where it makes functions callable from Python
and C, and where it optimises a function again inside each of its callers. Therefore kernels allocate nothing
(``_nrt=False``: no references are counted, which is also a third of the run time), and what has one caller
is inlined before compilation rather than linked after it.
"""

from numba import njit

REORDER = {"reassoc", "contract"}  # sums in any order and fused products; infinities stay what they are
OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}

# For Python and for other kernels.
kernel = njit(**OPTIONS, _nrt=False)
# The same, for those that call NumPy functions or allocate.
numpy_kernel = njit(**OPTIONS, _nrt=True)
# For other kernels only.
part = njit(**OPTIONS, no_cpython_wrapper=True, _nrt=False)
numpy_part = njit(**OPTIONS, no_cpython_wrapper=True, _nrt=True)
# Sums and products in any order.
reordered_part = njit(**OPTIONS, no_cpython_wrapper=True, _nrt=False, fastmath=REORDER)
# Fused products, sums as they are written.
fused_kernel = njit(**OPTIONS, _nrt=False, fastmath={"contract"})
# Becomes part of its only caller.
inlined = njit(inline="always")
