"""The names of things that can be seen. Drawing and seeing share these names and nothing else."""

PAIRS: tuple[tuple[str, str], ...] = (
    ("balloon", "lantern"),
    ("boat", "drum"),
    ("flag", "kite"),
    ("tree", "umbrella"),
)
"""Look-alike kinds in alphabetical order: a glance tells the pair, a closer look tells the kind."""

KINDS: tuple[str, ...] = tuple(kind for pair in PAIRS for kind in pair)
"""Every kind, singular."""


def pair_of(kind: str) -> tuple[str, str]:
    """The pair a kind belongs to; raises ValueError for an unknown kind."""
    for pair in PAIRS:
        if kind in pair:
            return pair
    raise ValueError(f"unknown object kind {kind!r}; known are {', '.join(KINDS)}")


def counted(kind: str, count: int) -> str:
    """A number of things in words that pages use: "1 kite", "9 lanterns"."""
    return f"{count} {kind}" if count == 1 else f"{count} {kind}s"


ACTIONS: tuple[str, ...] = ("cooking", "juggling", "reading", "singing")
"""What a host can be shown doing."""

SKIES: tuple[str, ...] = ("moon", "rain", "rainbow", "sun")
"""What can be shown in the sky."""

SIDES: tuple[str, ...] = ("left", "right")
"""Where a host can be shown standing."""
