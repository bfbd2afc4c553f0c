"""One thread for linear algebra: faster for small matrices, and the same on every machine."""

import os

NAMES = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def use_one() -> None:
    """Have numpy use one thread, unless the user has said how many; before it is loaded."""
    for name in NAMES:
        os.environ.setdefault(name, "1")
