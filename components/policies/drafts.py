"""Guesses at what a turn says next, which the model then checks many at once.

A student copies: from its conversation names and numbers, from what others said the phrases around them. So what
followed the latest words the last time that they stood somewhere is a good guess. Tokens are kept as characters, for
nothing finds a piece of a sequence as quickly as a search in text.
"""

from collections.abc import Sequence

from components.policies.encoding import Encoded

_MATCHED_TOKENS = (4, 2, 1)
"""How many of the latest tokens are looked for, best first. So many are guessed, too: each that is guessed costs
arithmetic, and is won only when all before it are right."""


def as_text(token_ids: Sequence[int]) -> str:
    """One character a token."""
    return "".join(map(chr, token_ids))


class Drafter:
    """Remembers what was said. A guess decides how long decoding takes, and never what comes of it.

    Args:
        rows: the conversations that are asked for at once: their turns are remembered. What was asked for earlier is
            not, so that not even rounding, which depends on what is read at once, depends on it.

    """

    def __init__(self, rows: Sequence[Encoded]) -> None:
        self._said = "".join(as_text(row.token_ids[start:end]) for row in rows for start, end in row.turns)

    def learn(self, turn: str) -> None:
        """Remember a turn, given as characters."""
        self._said += turn

    def guess(self, conversation: str) -> list[int]:
        """The ids that may follow `conversation`, given as characters."""
        for matched in _MATCHED_TOKENS:
            latest = conversation[-matched:]
            for text, end in ((conversation, len(conversation) - 1), (self._said, len(self._said))):
                start = text.rfind(latest, 0, end) + matched
                if matched <= start < len(text):
                    # What reaches up to the end goes round.
                    return list(map(ord, (text[start : start + matched] * matched)[:matched]))
        return []
