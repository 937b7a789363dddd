"""Official portraits and photographs, as the public web shows them."""

from pathlib import Path

from PIL import Image

from components.records.image_bank import ImageBank
from components.world.entities import Event, Facts
from components.world.store import read_pictures


class References:
    """Official pictures, opened once each.

    Args:
        facts: who and what there is.
        web: folder of the closed world's web.

    """

    def __init__(self, facts: Facts, web: Path) -> None:
        self._facts = facts
        self._digests = {picture.image_url: picture.sha256 for picture in read_pictures(web)}
        self._bank = ImageBank(web)
        self._portraits: dict[str, Image.Image] = {}

    def portrait(self, person_id: str) -> Image.Image:
        """The portrait of a person."""
        if person_id not in self._portraits:
            self._portraits[person_id] = self._open(self._facts.person[person_id].portrait_url)
        return self._portraits[person_id]

    def photo(self, event: Event) -> Image.Image | None:
        """The photograph of an event; None when nobody took one."""
        return self._open(event.photo_url) if event.photo_url else None

    def twin_photo(self, event: Event) -> Image.Image | None:
        """The photograph of the older event that looks alike; None when there is no such event."""
        twin = self._facts.twins.get(event.event_id)
        return self.photo(twin) if twin else None

    def _open(self, url: str) -> Image.Image:
        return self._bank.open(self._digests[url])
