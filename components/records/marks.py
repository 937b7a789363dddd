"""Marks behind words that differ: `12 May 2031 vs 14* May 2031` compares word by word, and shows where."""

MARK = "*"


def marked(value: str, other: str) -> str:
    """`value` with a mark behind each word that `other` does not have at the same place."""
    others = other.split(" ")
    return " ".join(
        word if others[at : at + 1] == [word] else f"{word}{MARK}" for at, word in enumerate(value.split(" "))
    )


def unmarked(text: str) -> str:
    """Text without marks."""
    return text.replace(MARK, "")
