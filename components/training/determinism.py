"""Torch set up for a training that repeats bit for bit."""


def prepare_torch(threads: int) -> None:
    """Use `threads` CPU threads and deterministic algorithms in this process from now on."""
    import torch

    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
    # Memory that is read before it is written would be a bug to find, not a thing to pay for in every step.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]  # a property
