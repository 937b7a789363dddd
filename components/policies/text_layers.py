"""The text model's layers over tokens of many rows, without padding between them.

What Transformers' own modules compute, in half as many operations: it is their number that takes a small model's time.
"""

from typing import Any

import torch
from torch.nn import functional

from components.policies.kv_buffer import Buffer


class TextLayers:
    """The layers and the norm behind them, with the weights that they have now.

    Args:
        text_model: a `Qwen3_5TextModel` whose layers are all full attention; it may not be trained on meanwhile.

    """

    def __init__(self, text_model: Any) -> None:
        self._rotary = text_model.rotary_emb
        self._layers = [_Layer(layer) for layer in text_model.layers]
        self._norm = _Norm(text_model.norm)

    def read(self, hidden: torch.Tensor, positions: torch.Tensor, buffer: Buffer) -> torch.Tensor:
        """Read the tokens that `buffer` expects, row by row.

        Args:
            hidden: their embeddings, float, (tokens, hidden size).
            positions: time, height and width of each, int64, (3, tokens).
            buffer: gets their keys and values.

        """
        cos, sin = (part[0][:, None] for part in self._rotary(hidden, positions[:, None]))
        for at, layer in enumerate(self._layers):
            hidden = layer.read(hidden, cos, sin, buffer, at)
        return self._norm(hidden)


class _Norm:
    def __init__(self, norm: Any) -> None:
        self._weight = 1 + norm.weight
        self._eps = norm.eps

    def __call__(self, hidden: torch.Tensor) -> torch.Tensor:
        return functional.rms_norm(hidden, self._weight.shape, self._weight, self._eps)


class _Layer:
    def __init__(self, layer: Any) -> None:
        attention, mlp = layer.self_attn, layer.mlp
        self._before, self._between = _Norm(layer.input_layernorm), _Norm(layer.post_attention_layernorm)
        self._width, self._scale = attention.head_dim, attention.scaling
        queries, gates = _halves(attention.q_proj, attention.head_dim)
        parts = [queries, _parts(attention.k_proj), _parts(attention.v_proj), gates]
        self._weight = torch.cat([weight for weight, _ in parts])
        self._bias = torch.cat([bias for _, bias in parts])
        self._sizes = [len(queries[0]) + len(parts[1][0]), len(parts[2][0]), len(gates[0])]
        """Of queries with keys, values and gates in what comes of `_weight`."""
        self._queries = len(queries[0]) // self._width
        norms = [attention.q_norm] * self._queries + [attention.k_norm] * (len(parts[1][0]) // self._width)
        self._head_norms, self._eps = torch.stack([1 + norm.weight for norm in norms]), attention.q_norm.eps
        self._out = attention.o_proj
        self._gate_up = torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight])
        self._act, self._down = mlp.act_fn, mlp.down_proj

    def read(self, hidden: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, buffer: Buffer, at: int) -> torch.Tensor:
        both, values, gates = functional.linear(self._before(hidden), self._weight, self._bias).split(self._sizes, -1)
        both = functional.rms_norm(both.unflatten(-1, (-1, self._width)), (self._width,), None, self._eps)
        both = _rotated(both * self._head_norms, cos, sin)
        buffer.write(at, both[:, self._queries :], values.unflatten(-1, (-1, self._width)))
        attended = buffer.attend(at, both[:, : self._queries], self._scale).flatten(1)
        hidden = hidden + self._out(attended * torch.sigmoid(gates))
        gate, up = functional.linear(self._between(hidden), self._gate_up).chunk(2, -1)
        return hidden + self._down(self._act(gate) * up)


def _parts(linear: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Weight and bias, (out, in) and (out,)."""
    bias = torch.zeros(len(linear.weight), dtype=linear.weight.dtype) if linear.bias is None else linear.bias
    return linear.weight, bias


def _halves(linear: Any, width: int) -> tuple[tuple[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]:
    """What gives each head's query and what gives its gate, which come after each other head by head."""
    weight, bias = (part.unflatten(0, (-1, 2, width)) for part in _parts(linear))
    query, gate = ((weight[:, half].flatten(0, 1), bias[:, half].flatten(0, 1)) for half in (0, 1))
    return query, gate


def _rotated(heads: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotate the first part of each head, (tokens, heads, head width), in place."""
    turned = heads[..., : cos.shape[-1]]
    first, second = turned.chunk(2, -1)
    turned.copy_(turned * cos + torch.cat((-second, first), -1) * sin)
    return heads
