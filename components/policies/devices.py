"""Where a model computes, and how what it is given gets there."""

from contextlib import AbstractContextManager, nullcontext

import torch


def best_device() -> torch.device:
    """The GPU where there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def made_on(device: torch.device) -> AbstractContextManager[object]:
    """Make new tensors on `device` while the block runs.

    On the CPU that is so anyway, and the context would look at every operation.
    """
    return nullcontext() if device.type == "cpu" else device
