"""Several encoded conversations as one padded batch of tensors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from components.policies.encoding import ChatEncoder, Encoded

if TYPE_CHECKING:
    import torch


def by_length(rows: Sequence[Encoded], size: int) -> list[list[int]]:
    """Numbers of rows in batches of at most `size`, so that short ones do not pay for long ones."""
    order = sorted(range(len(rows)), key=lambda at: (len(rows[at].token_ids), at))
    return [order[start : start + size] for start in range(0, len(order), size)]


def pad_batch(rows: Sequence[Encoded], encoder: ChatEncoder, *, left: bool) -> dict[str, "torch.Tensor"]:
    """Pad rows to one length.

    Args:
        rows: encoded conversations.
        encoder: the encoder that made them; supplies the pixels.
        left: pad on the left (to generate) rather than on the right (to train).

    Returns:
        `input_ids`, `attention_mask`, `mm_token_type_ids`: int64, (rows, longest row); `pixel_values`: float32,
        (patches of all pictures, patch size); `image_grid_thw`: int64, (pictures, 3). The last two are absent when no
        row has a picture. The mask is absent when padding is on the right, where causal attention never looks:
        without a mask its kernel leaves out the upper triangle, which makes a training step a sixth shorter.

    """
    import torch

    longest = max(len(row.token_ids) for row in rows)
    input_ids = torch.full((len(rows), longest), encoder.tokenizer.pad_token_id, dtype=torch.long)
    attention_mask = torch.zeros((len(rows), longest), dtype=torch.long)
    for index, row in enumerate(rows):
        length = len(row.token_ids)
        span = slice(longest - length, longest) if left else slice(0, length)
        input_ids[index, span] = torch.tensor(row.token_ids, dtype=torch.long)
        attention_mask[index, span] = 1
    batch = {
        "input_ids": input_ids,
        "mm_token_type_ids": (input_ids == encoder.image_id).long(),
    }
    if left:
        batch["attention_mask"] = attention_mask
    pixels = [encoder.pixels(digest) for row in rows for digest in row.images]
    if pixels:
        batch["pixel_values"] = torch.cat([picture.patches for picture in pixels])
        batch["image_grid_thw"] = torch.tensor([picture.grid for picture in pixels], dtype=torch.long)
    return batch
