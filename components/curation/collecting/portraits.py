"""Who is in a picture: its faces held against every official portrait of the public web."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from PIL import Image

from components.records.image_bank import ImageBank
from components.records.web import SiteKind
from components.world.store import read_pages, read_pictures


class Portraits:
    """The portraits on profile pages; they are opened when the first face is to be told.

    Args:
        web: folder of the closed world's web.

    """

    def __init__(self, web: Path) -> None:
        self._web = web

    def told(self, image: Image.Image) -> frozenset[str]:
        """Names of everybody who is recognised in a picture."""
        from components.tools import vision

        seen = (name for name, portrait in self._known if vision.compare_faces(image, portrait).verdict == "same")
        return frozenset(seen)

    @cached_property
    def _known(self) -> list[tuple[str, Image.Image]]:
        return list(self._opened())

    def _opened(self) -> Iterator[tuple[str, Image.Image]]:
        bank = ImageBank(self._web)
        profiles = {page.url for page in read_pages(self._web) if page.kind is SiteKind.PROFILE}
        for picture in read_pictures(self._web):
            if picture.page_url in profiles:
                # A caption begins with the name: "Mara Venn, official portrait".
                yield picture.title.partition(",")[0], bank.open(picture.sha256)
