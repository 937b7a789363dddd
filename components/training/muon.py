"""Muon in float32: momentum made orthogonal (Jordan et al., 2024, "Muon: an optimizer for hidden layers").

`torch.optim.Muon` computes the same update in bfloat16, which CPUs without bfloat16 arithmetic emulate: on two such
cores it takes longer than forward and backward pass together. Here equal shapes are stacked and multiplied in float32.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import torch

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)
_ITERATIONS = 5


def orthogonalise(matrices: torch.Tensor) -> torch.Tensor:
    """The nearest semi-orthogonal matrix to each of a stack, approximately, by a quintic Newton-Schulz iteration.

    Args:
        matrices: float32, (stack, rows, columns).

    Returns:
        The same shape; singular values lie within about 0.7 to 1.2.

    """
    a, b, c = _COEFFICIENTS
    tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices.mT if tall else matrices
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(_ITERATIONS):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """Nesterov momentum, orthogonalised, with decoupled weight decay; for weight matrices only.

    Args:
        params: two-dimensional parameters.
        lr: learning rate; the update of a matrix is scaled by `max(1, rows / columns) ** 0.5`.
        momentum: of the gradient average.
        weight_decay: share of the weights that is taken away per unit of learning rate.

    """

    def __init__(
        self, params: Iterable[torch.nn.Parameter], lr: float, momentum: float = 0.95, weight_decay: float = 0.0
    ) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """Update every parameter that has a gradient; `closure` is not supported."""
        assert closure is None, "Muon takes no closure"
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[torch.nn.Parameter]] = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    by_shape[parameter.shape].append(parameter)
            for parameters in by_shape.values():
                self._update(parameters, group)

    def _update(self, parameters: list[torch.nn.Parameter], group: dict[str, Any]) -> None:
        directions = []
        for parameter in parameters:
            assert parameter.grad is not None
            average = self.state[parameter].setdefault("momentum_buffer", torch.zeros_like(parameter))
            average.lerp_(parameter.grad, 1 - group["momentum"])
            directions.append(parameter.grad.lerp(average, group["momentum"]))
        rows, columns = parameters[0].shape
        scale = group["lr"] * max(1.0, rows / columns) ** 0.5
        for parameter, update in zip(parameters, orthogonalise(torch.stack(directions)), strict=True):
            parameter.mul_(1 - group["lr"] * group["weight_decay"])
            parameter.add_(update, alpha=-scale)
