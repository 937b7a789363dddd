"""A Transformers model in this process, on CPU or one GPU."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from components.config.sampling import SamplingParams
from components.policies.encoding import ChatEncoder, Encoded
from components.policies.student import load_student
from components.records.conversation import Conversation
from components.records.episode import Turn
from components.records.image_bank import ImageBank

if TYPE_CHECKING:
    from components.policies.sampling import Chosen

GREEDY = SamplingParams()


class LocalPolicy:
    """Decoding with a model from a Hugging Face folder.

    Conversations are batched by length, so that short ones do not pay for long ones, and what was read in earlier turns
    is not read again where the architecture allows it. A turn depends on its conversation and its seed alone, up to
    rounding, and not on what else is in its batch.

    Args:
        folder: a Hugging Face folder with tokenizer, chat template and image processor.
        bank: where the conversations' pictures are found.
        name: what episodes call this policy.
        max_new_tokens: longest turn; a turn that reaches it has finish reason `length`.
        max_length: a conversation longer than this many tokens is not continued.
        sampling: how tokens are chosen; every setting is recorded with each turn.
        batch_size: conversations decoded at once.
        reuse: whether what was read in earlier turns may be kept; without it every conversation is read anew.
        device: where it computes, as PyTorch calls it; None for the GPU where there is one, else the CPU.

    """

    quick = False

    def __init__(
        self,
        folder: Path,
        bank: ImageBank,
        *,
        name: str,
        max_new_tokens: int,
        max_length: int,
        sampling: SamplingParams = GREEDY,
        batch_size: int = 32,
        reuse: bool = True,
        device: str | None = None,
    ) -> None:
        import torch

        from components.policies.decoding import Decoder, can_decode
        from components.policies.devices import best_device
        from components.policies.rereading import Rereader

        model, tokenizer, image_processor = load_student(folder)
        self.name = name
        self.encoder = ChatEncoder(tokenizer, image_processor, bank)
        kind: type[Decoder | Rereader] = Decoder if reuse and can_decode(model) else Rereader
        model = model.eval().to(torch.device(device) if device else best_device())
        self._decoder = kind(model, self.encoder, max_new_tokens, sampling, batch_size)
        self._sampling = sampling
        self._settings = sampling.model_dump() | {"max_new_tokens": max_new_tokens, "logprobs": "raw"}
        self._max_length = max_length

    def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
        """One turn for each conversation, in order."""
        rows = [
            self.encoder.encode(conversation.messages, conversation.offered, prompt=True)
            for conversation in conversations
        ]
        fitting = [at for at, row in enumerate(rows) if len(row.token_ids) <= self._max_length]
        decoded = self._decoder.decode([rows[at] for at in fitting], [conversations[at].seed for at in fitting])
        chosen = dict(zip(fitting, decoded, strict=True))
        return [
            self._turn(row, conversation.seed, chosen.get(at, []))
            for at, (row, conversation) in enumerate(zip(rows, conversations, strict=True))
        ]

    def _turn(self, row: Encoded, seed: int, chosen: "Sequence[Chosen]") -> Turn:
        """A turn without tokens is that of a conversation which is too long."""
        token_ids = [one.token_id for one in chosen]
        stopped = token_ids[-1:] == [self.encoder.stop_id]
        return Turn(
            text=self.encoder.tokenizer.decode(token_ids[:-1] if stopped else token_ids),
            token_ids=tuple(token_ids),
            vocabulary=self.encoder.vocabulary,
            logprobs=tuple(one.logprob for one in chosen),
            top_logprobs=tuple(one.candidates for one in chosen) if self._sampling.top_logprobs else None,
            finish_reason="stop" if stopped else "length",
            prompt_tokens=len(row.token_ids),
            sampling_json=json.dumps(self._settings | {"seed": seed}),
        )
