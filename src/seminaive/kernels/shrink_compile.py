"""How the kernels of the path solver are compiled.

Most of numba's time goes where it counts references to arrays, where it makes functions callable from Python
and C, and where it optimises a function again inside each of its callers. Therefore kernels allocate nothing
(no references are counted, which is also a third of the run time), and what has one caller is inlined before
compilation rather than linked after it.
"""

from numba import njit
from numba.core.options import DefaultOptions

REORDER = {"reassoc", "contract"}  # sums in any order and fused products; infinities stay what they are
OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
# numba does not document the option, which callees inherit; one that dropped it would count references
# everywhere, and be slower for it.
HAS_OPTION = hasattr(DefaultOptions, "_nrt")
BARE = OPTIONS | ({"_nrt": False} if HAS_OPTION else {})
COUNTING = OPTIONS | ({"_nrt": True} if HAS_OPTION else {})

# For Python and for other kernels.
kernel = njit(**BARE)
# The same, for those that call NumPy functions or allocate.
numpy_kernel = njit(**COUNTING)
# For other kernels only.
part = njit(**BARE, no_cpython_wrapper=True)
numpy_part = njit(**COUNTING, no_cpython_wrapper=True)
# Sums and products in any order.
reordered_part = njit(**BARE, no_cpython_wrapper=True, fastmath=REORDER)
# Fused products, sums as they are written.
fused_kernel = njit(**BARE, fastmath={"contract"})
# Becomes part of its only caller.
inlined = njit(inline="always")
