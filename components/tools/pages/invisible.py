"""Characters that nobody sees: they split words, turn lines around, or carry whole texts."""

_INVISIBLE = {
    point: None
    for first, last in (
        (0x00AD, 0x00AD),  # soft hyphen
        (0x200B, 0x200F),  # no width, and marks of direction
        (0x202A, 0x202E),  # embedding and override of direction
        (0x2060, 0x2064),
        (0x2066, 0x206F),
        (0xFEFF, 0xFEFF),
        (0xFFF9, 0xFFFB),
        (0xE0000, 0xE007F),  # tags: a whole alphabet
    )
    for point in range(first, last + 1)
}


def without_invisible(text: str) -> str:
    """The text without them."""
    return text.translate(_INVISIBLE)
