"""Keys and values of a batch while it is decoded, in memory that is claimed once."""

from collections.abc import Sequence

import numpy as np
import torch
from torch.nn import functional


class Buffer:
    """Every row has a length of its own: what lies behind it is not there, and is overwritten by the next tokens.

    Args:
        shape: layers, rows, heads, tokens for which there is room, head width.
        dtype: of keys and values.
        device: where they are.

    """

    def __init__(self, shape: tuple[int, int, int, int, int], dtype: torch.dtype, device: torch.device) -> None:
        self._keys, self._values = (_zeros(shape, dtype, device) for _ in range(2))
        self.lengths = torch.zeros(shape[1], dtype=torch.long, device=device)
        """int64, (rows,): tokens of each row that are there."""
        self._mask = torch.zeros(0)
        self._rows = self._tokens = self._places = self.lengths
        """Row of each expected token, its number among those of its row, and its place in the row."""

    def put(self, row: int, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Begin a row; both float, (layers, heads, tokens, head width)."""
        self.lengths[row] = keys.shape[2]
        self._keys[:, row, :, : keys.shape[2]] = keys
        self._values[:, row, :, : keys.shape[2]] = values

    def expect(self, counts: torch.Tensor) -> None:
        """Make ready for new tokens: int64, (rows,), how many of each row."""
        new = torch.arange(int(counts.max()))
        self._rows, self._tokens = torch.nonzero(new < counts[:, None], as_tuple=True)
        self._places = self.lengths[self._rows] + self._tokens
        later = torch.arange(int(self._places.max()) + 1) > (self.lengths[:, None] + new)[:, :, None]
        self._mask = torch.zeros(later.shape, dtype=self._keys.dtype).masked_fill_(later, -torch.inf)[:, None]

    def write(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Write one layer's keys and values of the expected tokens, row by row: (tokens, heads, head width) each."""
        self._keys[layer][self._rows, :, self._places] = keys
        self._values[layer][self._rows, :, self._places] = values

    def attend(self, layer: int, queries: torch.Tensor, scale: float) -> torch.Tensor:
        """What the expected tokens find in their rows, up to themselves: (tokens, query heads, head width)."""
        rows, _, most, end = self._mask.shape
        padded = queries.new_zeros((rows, most, *queries.shape[1:]))
        padded[self._rows, self._tokens] = queries
        found = functional.scaled_dot_product_attention(
            padded.transpose(1, 2),
            self._keys[layer][:, :, :end],
            self._values[layer][:, :, :end],
            self._mask,
            scale=scale,
            enable_gqa=queries.shape[1] != self._keys.shape[2],
        )
        return found.transpose(1, 2)[self._rows, self._tokens]

    def of_row(self, row: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values of a row, (layers, heads, tokens, head width) each."""
        length = int(self.lengths[row])
        return self._keys[:, row, :, :length].clone(), self._values[:, row, :, :length].clone()

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with some rows only."""
        kept = torch.tensor(rows)
        self._keys, self._values, self.lengths = self._keys[:, kept], self._values[:, kept], self.lengths[kept]


def _zeros(shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    if device.type != "cpu":
        return torch.zeros(shape, dtype=dtype, device=device)
    # Pages of NumPy's zeros cost neither time nor memory until they are written.
    return torch.from_numpy(np.zeros(shape, np.float32)).to(dtype)
