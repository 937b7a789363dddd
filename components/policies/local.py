"""A Transformers model in this process, on CPU or one GPU."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from components.policies.batching import pad_batch
from components.policies.encoding import ChatEncoder, Encoded
from components.policies.student import load_student
from components.records.conversation import Conversation
from components.records.episode import Turn
from components.records.image_bank import ImageBank

if TYPE_CHECKING:
    from components.policies.decoding import Decoded


class LocalPolicy:
    """Greedy decoding with a model from a Hugging Face folder.

    Conversations are batched by length, so that short ones do not pay for long ones, and what was read in earlier turns
    is not read again where the architecture allows it. Decoding is greedy.

    Args:
        folder: a Hugging Face folder with tokenizer, chat template and image processor.
        bank: where the conversations' pictures are found.
        name: what episodes call this policy.
        max_new_tokens: longest turn; a turn that reaches it has finish reason `length`.
        batch_size: conversations decoded at once.
        max_length: a conversation longer than this many tokens is not continued.
        reuse: whether what was read in earlier turns may be kept; without it every conversation is read anew.

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
        batch_size: int = 32,
        reuse: bool = True,
    ) -> None:
        from components.policies.decoding import Decoder, can_decode

        model, tokenizer, image_processor = load_student(folder)
        self.name = name
        self.encoder = ChatEncoder(tokenizer, image_processor, bank)
        self._model = model.eval()
        keeps = reuse and can_decode(model)
        self._decoder = Decoder(self._model, self.encoder, max_new_tokens) if keeps else None
        self._max_new_tokens = max_new_tokens
        self._max_length = max_length
        self._batch_size = batch_size

    def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
        """One turn for each conversation, in order."""
        rows = [
            self.encoder.encode(conversation.messages, conversation.offered, prompt=True)
            for conversation in conversations
        ]
        turns: dict[int, Turn] = {}
        order = sorted(range(len(rows)), key=lambda index: (len(rows[index].token_ids), index))
        for start in range(0, len(order), self._batch_size):
            chosen = order[start : start + self._batch_size]
            fitting = [index for index in chosen if len(rows[index].token_ids) <= self._max_length]
            turns.update({index: _overlong(rows[index]) for index in chosen})
            if fitting:
                turns.update(zip(fitting, self._generate([rows[index] for index in fitting]), strict=True))
        return [turns[index] for index in range(len(rows))]

    def _generate(self, rows: Sequence[Encoded]) -> list[Turn]:
        decoded = self._decoder.decode(rows) if self._decoder else self._regenerate(rows)
        return [self._turn(row, turn) for row, turn in zip(rows, decoded, strict=True)]

    def _regenerate(self, rows: Sequence[Encoded]) -> "list[Decoded]":
        """Read every conversation from its beginning, as a model with recurrent layers has to."""
        import torch

        from components.policies.decoding import Decoded

        batch = pad_batch(rows, self.encoder, left=True)
        with torch.inference_mode():
            output = self._model.generate(
                **batch,
                max_new_tokens=self._max_new_tokens,
                do_sample=False,
                output_logits=True,
                return_dict_in_generate=True,
            )
        sampled = output.sequences[:, batch["input_ids"].shape[1] :]
        # (rows, steps): log-probability of the id chosen at each step.
        chosen = torch.stack(
            [
                torch.log_softmax(logits.float(), dim=-1).gather(1, sampled[:, step : step + 1])[:, 0]
                for step, logits in enumerate(output.logits)
            ],
            dim=1,
        )
        decoded = []
        for token_ids, logprobs in zip(sampled.tolist(), chosen.tolist(), strict=True):
            stop = self.encoder.stop_id
            length = token_ids.index(stop) + 1 if stop in token_ids else len(token_ids)
            decoded.append(Decoded(token_ids[:length], logprobs[:length]))
        return decoded

    def _turn(self, row: Encoded, decoded: "Decoded") -> Turn:
        stopped = decoded.token_ids[-1] == self.encoder.stop_id
        return Turn(
            text=self.encoder.tokenizer.decode(decoded.token_ids[:-1] if stopped else decoded.token_ids),
            token_ids=tuple(decoded.token_ids),
            vocabulary=self.encoder.vocabulary,
            logprobs=tuple(decoded.logprobs),
            finish_reason="stop" if stopped else "length",
            prompt_tokens=len(row.token_ids),
        )


def _overlong(row: Encoded) -> Turn:
    return Turn(text="", token_ids=(), logprobs=(), finish_reason="length", prompt_tokens=len(row.token_ids))
