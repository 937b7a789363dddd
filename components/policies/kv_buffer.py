"""Keys and values of a batch while it is decoded, in memory that is claimed once."""

from collections.abc import Sequence

import numpy as np
import torch


class Buffer:
    """Every row has a length of its own: what lies behind it is not there, and is overwritten by the next tokens.

    Args:
        shape: layers, rows, heads, tokens for which there is room, head width.
        dtype: of keys and values.

    """

    def __init__(self, shape: tuple[int, int, int, int, int], dtype: torch.dtype) -> None:
        # Pages of NumPy's zeros cost neither time nor memory until they are written.
        self._keys, self._values = (torch.from_numpy(np.zeros(shape, np.float32)).to(dtype) for _ in range(2))
        self.lengths = torch.zeros(shape[1], dtype=torch.long)
        """int64, (rows,): tokens of each row that are there."""
        self._rows = self._tokens = self._places = self.lengths
        self._end = 0

    def put(self, row: int, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Begin a row; both float, (layers, heads, tokens, head width)."""
        self.lengths[row] = keys.shape[2]
        self._keys[:, row, :, : keys.shape[2]] = keys
        self._values[:, row, :, : keys.shape[2]] = values

    def expect(self, counts: torch.Tensor) -> torch.Tensor:
        """Make ready for `counts` new tokens of each row, int64, (rows,).

        Returns:
            What each may attend to, to be added to scores: float, (rows, 1, most new tokens, tokens in all).

        """
        new = torch.arange(int(counts.max()))
        self._rows, self._tokens = torch.nonzero(new < counts[:, None], as_tuple=True)
        self._places = self.lengths[self._rows] + self._tokens
        self._end = int((self.lengths + counts).max())
        later = torch.arange(self._end) > (self.lengths[:, None] + new)[:, :, None]
        return torch.zeros(later.shape, dtype=self._keys.dtype).masked_fill_(later, -torch.inf)[:, None]

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer: int, *args: object, **kwargs: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write one layer's new keys and values, (rows, heads, most new tokens, head width); return all of them."""
        keys, values = self._keys[layer], self._values[layer]
        keys[self._rows, :, self._places] = key_states[self._rows, :, self._tokens]
        values[self._rows, :, self._places] = value_states[self._rows, :, self._tokens]
        return keys[:, :, : self._end], values[:, :, : self._end]

    def of_row(self, row: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values of a row, (layers, heads, tokens, head width) each."""
        length = int(self.lengths[row])
        return self._keys[:, row, :, :length].clone(), self._values[:, row, :, :length].clone()

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with some rows only."""
        kept = torch.tensor(rows)
        self._keys, self._values, self.lengths = self._keys[:, kept], self._values[:, kept], self.lengths[kept]
