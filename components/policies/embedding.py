"""Where the student's token embeddings start: the written forms of a word as neighbours, as pre-training leaves them.

`Harbor`, ` Harbor` and `-harbor` are three ids with nothing in common. A large model has learned that they are one
word; a student drawn from random numbers would have to find out for each word alone.
"""

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import torch

FORM_SHARE = 0.2
"""Share of an embedding's variance that says in which form the word stands; the rest says which word it is."""

_WRITTEN = re.compile(r"(\W?)(\w+)")


class Written(NamedTuple):
    """A token that is a word or a number."""

    lead: str
    """The character before it, or nothing: a space inside a line, nothing at its start."""
    word: str


def written_words(tokenizer: Any) -> dict[int, Written]:
    """All tokens that are words or numbers, by id."""
    texts = ((token_id, tokenizer.decode([token_id])) for token_id in range(len(tokenizer)))
    found = ((token_id, _WRITTEN.fullmatch(text)) for token_id, text in texts)
    return {token_id: Written(match[1], match[2]) for token_id, match in found if match}


def draw_embeddings(tokenizer: Any, hidden_size: int, std: float) -> "torch.Tensor":
    """Embeddings of all tokens, float32, (vocabulary, hidden size), from torch's global generator.

    Each is normal with deviation `std`. Those of one word's forms correlate by 1 - `FORM_SHARE`, those of all words
    in one form by `FORM_SHARE`.
    """
    import torch

    embeddings = torch.randn(len(tokenizer), hidden_size)
    same_word: dict[str, torch.Tensor] = {}
    same_form: dict[tuple[str, bool], torch.Tensor] = {}
    for token_id, (lead, word) in written_words(tokenizer).items():
        of_word = same_word.setdefault(word.casefold(), embeddings[token_id].clone())
        of_form = same_form.setdefault((lead, word == word.casefold()), torch.randn(hidden_size))
        embeddings[token_id] = (1 - FORM_SHARE) ** 0.5 * of_word + FORM_SHARE**0.5 * of_form
    return std * embeddings
