"""The training loop: batches in, weights out, and a checkpoint from which a killed run goes on bit for bit."""

import io
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from components.config.schema import SftParams
from components.policies.batching import pad_batch
from components.policies.encoding import ChatEncoder
from components.storage.atomic import write_bytes
from components.training.determinism import prepare_torch
from components.training.losses import weighted_cross_entropy_sum
from components.training.optimizer import MuonWithAdamW, learning_rate_scale
from components.training.order import batch_of_step
from components.training.rows import Row

if TYPE_CHECKING:
    import torch

OnStep = Callable[[int, dict[str, float]], None]
"""Called after each optimizer step with its 1-based number and its metrics."""


@dataclass
class Trainer:
    """One training run over a fixed list of rows.

    Args:
        model: the student; trained in place.
        encoder: supplies pixels for the rows.
        rows: what to learn from.
        params: the recipe.
        checkpoint: file that holds the state of an unfinished run.
        augment: changes a row each time it is used; its generator follows from seed, step and position.

    """

    model: Any
    encoder: ChatEncoder
    rows: Sequence[Row]
    params: SftParams
    checkpoint: Path
    augment: Callable[[Row, np.random.Generator], Row] | None = None
    losses: list[float] = field(default_factory=list)
    """The loss of every step so far, those before a resume included."""

    def run(self, on_step: OnStep) -> None:
        """Train for `params.steps` steps, from the checkpoint where there is one."""
        prepare_torch(self.params.threads)
        self.model.train()
        optimizer = MuonWithAdamW(self.model, self.params)
        lengths = [row.length for row in self.rows]
        for step in range(self._restore(optimizer), self.params.steps):
            started = time.perf_counter()
            chosen = batch_of_step(step, lengths, self.params.batch_size, self.params.seed)
            metrics = self._step([self._row(index, step) for index in chosen], optimizer, step)
            metrics["train/tokens_per_second"] = metrics["train/tokens"] / (time.perf_counter() - started)
            self.losses.append(metrics["train/loss"])
            # Metrics first: a run resumed from this checkpoint does not pass through the step again.
            on_step(step + 1, metrics)
            if (step + 1) % self.params.checkpoint_steps == 0:
                self._save(optimizer, step + 1)

    def _row(self, index: int, step: int) -> Row:
        row = self.rows[index]
        return self.augment(row, np.random.default_rng([self.params.seed, step, index])) if self.augment else row

    def _step(self, rows: Sequence[Row], optimizer: MuonWithAdamW, step: int) -> dict[str, float]:
        import torch

        loss = self.loss(rows)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        scale = learning_rate_scale(step, self.params.steps, self.params.warmup_share)
        optimizer.step(scale)
        return {
            "train/loss": float(loss.detach()),
            "train/gradient_norm": float(norm),
            "train/learning_rate": self.params.learning_rate * scale,
            "train/tokens": float(sum(row.length for row in rows)),
        }

    def loss(self, rows: Sequence[Row]) -> "torch.Tensor":
        """Mean cross-entropy over the supervised tokens of a batch, weighted; divided by the batch's sum of weights."""
        import torch

        batch = pad_batch([row.encoded for row in rows], self.encoder, left=False)
        weights = torch.zeros(batch["input_ids"].shape)
        for index, row in enumerate(rows):
            weights[index, : row.length] = torch.tensor(row.weights)
        hidden = self.model.model(**batch, use_cache=False).last_hidden_state[:, :-1]
        weights, targets = weights[:, 1:], batch["input_ids"][:, 1:]
        supervised = weights > 0
        total = weighted_cross_entropy_sum(
            hidden[supervised], self.model.lm_head.weight, targets[supervised], weights[supervised]
        )
        return total / weights.sum()

    def _save(self, optimizer: MuonWithAdamW, step: int) -> None:
        import torch

        buffer = io.BytesIO()
        state = {"step": step, "model": self.model.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save({**state, "losses": self.losses}, buffer)
        write_bytes(self.checkpoint, buffer.getvalue())

    def _restore(self, optimizer: MuonWithAdamW) -> int:
        """Load the checkpoint, if there is one, and return the number of steps it stands for."""
        import torch

        if not self.checkpoint.exists():
            return 0
        state = torch.load(self.checkpoint, weights_only=True)
        self.model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        self.losses = state["losses"]
        return int(state["step"])
