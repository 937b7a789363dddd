"""Keys and values of a batch while it is decoded, in memory that is claimed once."""

import torch
from transformers.cache_utils import Cache, DynamicLayer


class BufferedLayer(DynamicLayer):
    """One layer's keys and values; a new token is written in place, where the usual layer copies all that came before.

    Args:
        keys: float, (rows, heads, capacity, head width).
        values: of the same shape.
        used: tokens of the capacity that are there already.

    """

    def __init__(self, keys: torch.Tensor, values: torch.Tensor, used: int) -> None:
        super().__init__()
        self.keys, self.values, self._used = keys, values, used
        self.device = keys.device
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: object, **kwargs: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Add the keys and values of new tokens, and return all."""
        end = self._used + key_states.shape[2]
        self.keys[:, :, self._used : end] = key_states
        self.values[:, :, self._used : end] = value_states
        self._used = end
        return self.keys[:, :, :end], self.values[:, :, :end]

    def get_seq_length(self) -> int:
        """Tokens that are there."""
        return self._used

    def keep(self, rows: torch.Tensor) -> None:
        """Go on with some rows only; `rows` is int64."""
        self.keys, self.values = self.keys[rows], self.values[rows]


class Buffer(Cache):
    """The layers of one batch.

    Args:
        keys: float, (layers, rows, heads, capacity, head width).
        values: of the same shape.
        used: tokens of the capacity that are there already.

    """

    def __init__(self, keys: torch.Tensor, values: torch.Tensor, used: int) -> None:
        layers = [
            BufferedLayer(layer_keys, layer_values, used) for layer_keys, layer_values in zip(keys, values, strict=True)
        ]
        super().__init__(layers=layers)

    def of_row(self, row: int, places: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values of some tokens of a row, (layers, heads, tokens, head width) each; `places` is int64."""
        keys = torch.stack([layer.keys[row][:, places] for layer in self.layers])
        return keys, torch.stack([layer.values[row][:, places] for layer in self.layers])

    def keep(self, rows: torch.Tensor) -> None:
        """Go on with some rows only; `rows` is int64."""
        for layer in self.layers:
            layer.keep(rows)
