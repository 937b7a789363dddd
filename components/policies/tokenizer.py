"""The student's own tokenizer: byte-level BPE learned from the world's training text, with Qwen's structure tokens."""

from collections.abc import Iterable
from importlib.resources import files
from typing import TYPE_CHECKING

from components.policies.tokens import GRAMMAR_TOKENS, IM_END, JOINED_TOKENS, PAD, SPECIAL_TOKENS

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

PRETOKENIZER = r" ?[\p{L}_]+| ?\p{N}+| ?[^\s\p{L}\p{N}_]+|\s"
"""Whole words, identifiers and numbers, each with the space before it; so a value is a handful of tokens to copy."""


def train_tokenizer(texts: Iterable[str], vocab_size: int) -> "PreTrainedTokenizerFast":
    """Learn a tokenizer of at most `vocab_size` entries from rendered conversations.

    Structure tokens in `texts` are single tokens and take no part in learning merges.
    """
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PRETOKENIZER), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in SPECIAL_TOKENS])
    grammar = (*GRAMMAR_TOKENS, *JOINED_TOKENS)
    tokenizer.add_tokens([AddedToken(token, normalized=False, special=False) for token in grammar])
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size - len(grammar),
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
