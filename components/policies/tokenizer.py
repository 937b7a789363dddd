"""The student's own tokenizer: Qwen's kind of byte-level BPE, learned from the world's training text.

Normalisation and word splitting are those of Qwen3.5, since loaders choose the tokenizer's class by the model's type
and would put them there anyway. The micro student gains by added tokens: tags joined with their line breaks,
and whole numbers, alone and with the space before them as words have it, which Qwen splits into digits.
"""

import re
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

from components.policies.tokens import GRAMMAR_TOKENS, IM_END, JOINED_TOKENS, PAD, SPECIAL_TOKENS

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

_NUMBER = re.compile(r"(?<!\w)\d{1,4}(?!\w)")
MIN_NUMBER_COUNT = 8
"""How often a number must stand in the training text to be a token."""


def train_tokenizer(texts: Sequence[str], vocab_size: int) -> "PreTrainedTokenizerFast":
    """Learn a tokenizer of at most `vocab_size` entries from rendered conversations.

    Structure tokens in `texts` are single tokens and take no part in learning merges.
    """
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast
    from transformers.models.qwen3_5.tokenization_qwen3_5 import PRETOKENIZE_REGEX

    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PRETOKENIZE_REGEX), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    numbers = _numbers(texts)
    plain = [
        *(AddedToken(token, normalized=False, special=False) for token in (*GRAMMAR_TOKENS, *JOINED_TOKENS)),
        *(AddedToken(number, normalized=False, special=False, single_word=True) for number in numbers if number[1:]),
        *(AddedToken(f" {number}", normalized=False, special=False) for number in numbers),
    ]
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in SPECIAL_TOKENS])
    tokenizer.add_tokens(plain)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size - len(plain),
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=IM_END,
        pad_token=PAD,
        padding_side="left",
        clean_up_tokenization_spaces=False,
        chat_template=chat_template(),
    )


def chat_template() -> str:
    """The student's chat template (Jinja): Qwen's message borders and call grammar, tools as one line each."""
    return files("components.policies").joinpath("templates/chat.jinja").read_text("utf-8")


def _numbers(texts: Sequence[str]) -> list[str]:
    counts = Counter(number for text in texts for number in _NUMBER.findall(text))
    return sorted(number for number, count in counts.items() if count >= MIN_NUMBER_COUNT)
