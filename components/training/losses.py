"""Losses over supervised positions only."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def weighted_cross_entropy_sum(
    hidden: "torch.Tensor", head: "torch.Tensor", targets: "torch.Tensor", weights: "torch.Tensor", chunk: int = 2048
) -> "torch.Tensor":
    """Sum over positions of `weight x -log softmax(hidden head^T)[target]`, natural logarithm.

    The head is applied in chunks that are computed again in the backward pass, so memory grows with
    `chunk x vocabulary` and not with `positions x vocabulary`.

    Args:
        hidden: float, (positions, width).
        head: float, (vocabulary, width).
        targets: int64, (positions,).
        weights: float32, (positions,).
        chunk: positions per chunk.

    Returns:
        float32 scalar; divide by a sum of weights to get a mean.

    """
    import torch
    from torch.utils.checkpoint import checkpoint

    def piece(rows: torch.Tensor, target: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        logits = torch.nn.functional.linear(rows, head).float()
        return (torch.nn.functional.cross_entropy(logits, target, reduction="none") * weight).sum()

    total = torch.zeros((), dtype=torch.float32, device=hidden.device)
    for start in range(0, hidden.shape[0], chunk):
        part = slice(start, start + chunk)
        total = total + checkpoint(piece, hidden[part], targets[part], weights[part], use_reentrant=False)
    return total
