"""Official portraits and photographs, as the public web shows them."""

from functools import lru_cache
from pathlib import Path

from components.records.image_bank import ImageBank
from components.tools import vision
from components.tools.vision import Look
from components.world.entities import Event, Facts
from components.world.store import picture_digests

_KEPT = 512
"""Pictures whose looks are remembered; each takes some 50 KB."""


class References:
    """What is seen in official pictures, each looked at once as long as it is remembered.

    Args:
        facts: who and what there is.
        web: folder of the closed world's web.

    """

    def __init__(self, facts: Facts, web: Path) -> None:
        self._facts = facts
        self._digests = picture_digests(web)
        self._bank = ImageBank(web)
        self._look = lru_cache(maxsize=_KEPT)(self._looked_at)

    def portrait(self, person_id: str) -> Look:
        """The portrait of a person."""
        return self._look(self._facts.person[person_id].portrait_url)

    def photo(self, event: Event) -> Look | None:
        """The photograph of an event; None when nobody took one."""
        return self._look(event.photo_url) if event.photo_url else None

    def twin_photo(self, event: Event) -> Look | None:
        """The photograph of the older event that looks alike; None when there is no such event."""
        twin = self._facts.twins.get(event.event_id)
        return self.photo(twin) if twin else None

    def _looked_at(self, url: str) -> Look:
        return vision.look(self._bank.open(self._digests[url]))
