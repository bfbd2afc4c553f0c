"""What the adapters of torch libraries share: arrays as tensors, and layers that ask numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from rope_kv.testing.forms import dtype_of


def tensor(x: ArrayLike) -> torch.Tensor:
    """Return a copy of an array, in its own dtype, as a tensor; any order in memory will do."""
    copied = np.array(x, order="C")
    if copied.dtype.name == "bfloat16":
        # torch does not know the bfloat16 of ml_dtypes, but takes its bits.
        return torch.from_numpy(copied.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(copied)


def array(x: torch.Tensor) -> NDArray[Any]:
    """Return a copy of a tensor, in its own dtype, as an array."""
    copied = x.detach().clone(memory_format=torch.contiguous_format)
    if x.dtype == torch.bfloat16:
        return copied.view(torch.int16).numpy().view(dtype_of("bfloat16"))
    return copied.numpy()


class Asking(torch.nn.Module):
    """A layer (B, n, a) -> (B, n, b) that asks a function of rows, such as a projection.

    `answered` are the rows (B·n, b) that the function returned last: no later layer touched them.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self.function = function
        self.answered: Any = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Ask the function."""
        self.answered = self.function(array(x.flatten(0, -2)))
        return tensor(self.answered).reshape(*x.shape[:-1], -1)
