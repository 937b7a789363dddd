"""What a page says, as the process that reads it tells it."""

from pydantic import BaseModel

MOST_CHARS = 100_000
"""Longest text of a page; the rest is left out."""


class PageText(BaseModel):
    """A page as people see it."""

    title: str = ""
    markdown: str = ""
    pictures: tuple[str, ...] = ()
    """Addresses of its pictures, in page order."""


class Answer(BaseModel):
    """What the process that reads pages answers."""

    text: PageText | None = None
    failure: str = ""
    """What went wrong, when there is no text."""
    spent: bool = False
    """Whether the process should not be given another page."""
