"""Muon for the matrices of the transformer layers, AdamW for everything else, one schedule for both."""

from typing import TYPE_CHECKING, Any

from components.config.schema import OptimizerParams

if TYPE_CHECKING:
    import torch


class MuonWithAdamW:
    """Two optimizers that step together.

    Muon orthogonalises the momentum of each weight matrix; embeddings, the
    patch projection, norms and biases, for which that makes no sense, take AdamW.
    """

    def __init__(self, model: "torch.nn.Module", params: OptimizerParams) -> None:
        import torch

        from components.training.muon import Muon

        matrices: list[torch.nn.Parameter] = []
        others: list[torch.nn.Parameter] = []
        for name, parameter in model.named_parameters():
            is_matrix = parameter.ndim == 2 and "embed" not in name
            (matrices if is_matrix else others).append(parameter)
        self._params = params
        self._muon = Muon(matrices, lr=params.muon_learning_rate, weight_decay=params.weight_decay)
        self._adamw = torch.optim.AdamW(
            others, lr=params.learning_rate, betas=(0.9, 0.95), weight_decay=params.weight_decay
        )

    def step(self, scale: float) -> None:
        """Update the weights with learning rates scaled by `scale`, and clear the gradients."""
        for optimizer, rate in (
            (self._muon, self._params.muon_learning_rate),
            (self._adamw, self._params.learning_rate),
        ):
            for group in optimizer.param_groups:
                group["lr"] = rate * scale
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    def state_dict(self) -> dict[str, Any]:
        """Everything a resumed run needs."""
        return {"muon": self._muon.state_dict(), "adamw": self._adamw.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` gave."""
        self._muon.load_state_dict(state["muon"])
        self._adamw.load_state_dict(state["adamw"])


def learning_rate_scale(step: int, steps: int, warmup_share: float) -> float:
    """Linear warm-up over the first share of steps, then linear decay to zero at the end; in 0..1."""
    warmup = max(1, round(steps * warmup_share))
    if step < warmup:
        return (step + 1) / warmup
    return (steps - step) / max(1, steps - warmup)
