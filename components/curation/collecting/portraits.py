"""Who is in a picture: its faces held against every official portrait of the public web."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from components.records.image_bank import ImageBank
from components.records.web import SiteKind
from components.world.store import read_pages, read_pictures

if TYPE_CHECKING:
    from components.tools.vision import Look


class Portraits:
    """The portraits on profile pages; they are looked at when the first face is to be told.

    Args:
        web: folder of the closed world's web.

    """

    def __init__(self, web: Path) -> None:
        self._web = web

    def told(self, seen: "Look") -> frozenset[str]:
        """Names of everybody who is recognised by a look at a picture."""
        from components.tools import vision

        return frozenset(
            name for name, portrait in self._known if vision.compare_faces(seen, portrait).verdict == "same"
        )

    @cached_property
    def _known(self) -> list[tuple[str, "Look"]]:
        return list(self._looked_at())

    def _looked_at(self) -> Iterator[tuple[str, "Look"]]:
        from components.tools import vision

        bank = ImageBank(self._web)
        profiles = {page.url for page in read_pages(self._web) if page.kind is SiteKind.PROFILE}
        for picture in read_pictures(self._web):
            if picture.page_url in profiles:
                # A caption begins with the name: "Mara Venn, official portrait".
                yield picture.title.partition(",")[0], vision.look(bank.open(picture.sha256))
