"""Screening candidate pictures: whether they can be read, agree with what was meant, and are not there already."""

from collections.abc import Callable, Iterator
from enum import StrEnum

from PIL import Image

from components.curation.duplicates import Duplicates, Looks, looks
from components.curation.render import Candidate
from components.records.case import Split
from components.tools import vision
from components.tools.ocr import OcrEngine


class Reason(StrEnum):
    """Why a candidate is not taken."""

    TITLE_UNREADABLE = "title_unreadable"
    """The printed title is not read exactly as it was printed."""
    VENUE_UNREADABLE = "venue_unreadable"
    DATE_UNREADABLE = "date_unreadable"
    EXTRA_TEXT = "extra_text"
    """A line is read that was not printed."""
    COUNT_UNCLEAR = "count_unclear"
    """The counting tool does not find what was drawn."""
    FACE_UNCLEAR = "face_unclear"
    """The face is not told to be the depicted person's, or not told from the documented one's."""
    DUPLICATE_WITHIN = "duplicate_within"
    """Too like a picture of the same split."""
    DUPLICATE_ACROSS = "duplicate_across"
    """Too like a picture of the other split."""


class Screen:
    """Judges candidates one after another and remembers those it took.

    Args:
        ocr: reads printed text.
        portrait: the official portrait of a person, by person id.

    """

    def __init__(self, ocr: OcrEngine, portrait: Callable[[str], Image.Image]) -> None:
        self._ocr = ocr
        self._portrait = portrait
        self._taken, self._splits = Duplicates(), list[Split]()

    def reasons(self, candidate: Candidate) -> list[Reason]:
        """Everything that speaks against a candidate; one without any is taken, and later ones are held against it."""
        split, seen = candidate.plan.event.split, looks(candidate.image)
        found = [*self._seen(candidate), *self._duplicates(split, seen)]
        if not found:
            found = list(self._read(candidate))
        if not found:
            self._taken.add(seen)
            self._splits.append(split)
        return found

    def _read(self, candidate: Candidate) -> Iterator[Reason]:
        printed = {
            Reason.TITLE_UNREADABLE: candidate.scene.title,
            Reason.VENUE_UNREADABLE: candidate.scene.venue,
            Reason.DATE_UNREADABLE: candidate.scene.date,
        }
        lines = [line.text for line in self._ocr.read(candidate.data)]
        yield from (reason for reason, text in printed.items() if text is not None and text not in lines)
        if len(lines) > sum(text is not None for text in printed.values()):
            yield Reason.EXTRA_TEXT

    def _seen(self, candidate: Candidate) -> Iterator[Reason]:
        counts = vision.count_all(candidate.image)
        if {kind: count for kind, count in counts.items() if count} != {candidate.scene.kind: candidate.depicted.count}:
            yield Reason.COUNT_UNCLEAR
        depicted, documented = candidate.depicted.host.person_id, candidate.documented.host.person_id
        expected = {documented: "different", depicted: "same"}  # in a faithful picture both are one person
        if any(
            vision.compare_faces(candidate.image, self._portrait(person)).verdict != verdict
            for person, verdict in expected.items()
        ):
            yield Reason.FACE_UNCLEAR

    def _duplicates(self, split: Split, seen: Looks) -> Iterator[Reason]:
        for other in sorted({self._splits[at] for at in self._taken.of(seen)}):
            yield Reason.DUPLICATE_WITHIN if other is split else Reason.DUPLICATE_ACROSS
