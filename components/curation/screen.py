"""Screening candidate pictures: whether they can be read, agree with what was meant, and are not there already."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from components.curation.duplicates import Duplicates, Looks, looks
from components.curation.references import References
from components.curation.render import Candidate
from components.records.case import ErrorType, Split
from components.tools import vision
from components.tools.ocr import OcrEngine
from components.tools.vision import Look
from components.world.entities import Person


class Reason(StrEnum):
    """Why a candidate is not taken."""

    NO_PROPOSAL = "no_proposal"
    """The curation agent found no record of the event; nothing is drawn."""
    PROPOSAL_DISAGREES = "proposal_disagrees"
    """The record that the curation agent proposes says something else than what is drawn as documented."""
    SOURCE_NOT_FOUND = "source_not_found"
    """The curation agent found no record of the event that a posted picture claims to show."""
    SOURCE_UNCLEAR = "source_unclear"
    """Not every detail of a posted picture could be held against the record, or several contradict it."""
    SOURCE_MISMATCH = "source_mismatch"
    """Another source was recovered for a posted picture, or other details read, than is true."""
    TITLE_UNREADABLE = "title_unreadable"
    """The printed title is not read exactly as it was printed."""
    VENUE_UNREADABLE = "venue_unreadable"
    DATE_UNREADABLE = "date_unreadable"
    DETAIL_UNREADABLE = "detail_unreadable"
    EXTRA_TEXT = "extra_text"
    """A line is read that was not printed."""
    COUNT_UNCLEAR = "count_unclear"
    """The counting tool does not find what was drawn."""
    SIGN_UNCLEAR = "sign_unclear"
    """A glance does not tell where the host stands, what the host does, or what the sky shows."""
    FACE_UNCLEAR = "face_unclear"
    """A face is not told to be the depicted person's, or not told from the documented one's."""
    SCENE_UNCLEAR = "scene_unclear"
    """The scene is not told to be that of its own photograph, or not told from a look-alike event's."""
    DUPLICATE_WITHIN = "duplicate_within"
    """Too like a picture of the same split."""
    DUPLICATE_ACROSS = "duplicate_across"
    """Too like a picture of the other split."""


@dataclass(frozen=True)
class View:
    """What can be said of one candidate without knowing others."""

    looks: Looks
    unclear: tuple[Reason, ...]
    """What speaks against it by its pixels alone."""
    unread: tuple[Reason, ...]
    """What its printed text lacks or has too much; only read when nothing else speaks against it."""

    @property
    def good(self) -> bool:
        """Whether nothing speaks against it but, perhaps, others."""
        return not self.unclear and not self.unread


class Viewer:
    """Looks at candidates, each by itself.

    Args:
        ocr: reads printed text.
        references: official portraits and photographs.

    """

    def __init__(self, ocr: OcrEngine, references: References) -> None:
        self._ocr = ocr
        self._references = references

    def view(self, candidate: Candidate) -> View:
        """Look at a candidate once."""
        unclear = tuple(self._seen(candidate))
        return View(looks(candidate.image), unclear, () if unclear else tuple(self._read(candidate)))

    def _read(self, candidate: Candidate) -> Iterator[Reason]:
        *detail, venue, date = candidate.scene.below
        printed = {
            Reason.TITLE_UNREADABLE: candidate.scene.title,
            Reason.DETAIL_UNREADABLE: next(iter(detail), None),
            Reason.VENUE_UNREADABLE: venue,
            Reason.DATE_UNREADABLE: date,
        }
        lines = [line.text for line in self._ocr.read(candidate.data)]
        yield from (reason for reason, text in printed.items() if text is not None and text not in lines)
        if len(lines) > sum(text is not None for text in printed.values()):
            yield Reason.EXTRA_TEXT

    def _seen(self, candidate: Candidate) -> Iterator[Reason]:
        seen = vision.look(candidate.image)
        counts = {kind: count for kind, count in vision.count_all(seen).items() if count}
        if counts != {candidate.scene.kind: candidate.scene.count}:
            yield Reason.COUNT_UNCLEAR
        if not _signs_clear(candidate, seen):
            yield Reason.SIGN_UNCLEAR
        if not all(self._told(seen, pair) for pair in _people(candidate)):
            yield Reason.FACE_UNCLEAR
        if not self._scene_clear(candidate, seen):
            yield Reason.SCENE_UNCLEAR

    def _told(self, seen: Look, people: tuple[Person, Person]) -> bool:
        """Whether the documented person is told from the picture, and the depicted one is recognised in it."""
        depicted, known = people
        expected = {known.person_id: "different", depicted.person_id: "same"}  # in a faithful picture both are one
        return all(
            vision.compare_faces(seen, self._references.portrait(person)).verdict == verdict
            for person, verdict in expected.items()
        )

    def _scene_clear(self, candidate: Candidate, seen: Look) -> bool:
        """Whether the photographs of the event and of its look-alike compare with the picture as they must."""
        plan, references = candidate.plan, self._references
        recirculated = plan.error_type is ErrorType.EVENT_RECONTEXTUALIZATION
        own, twin = references.photo(plan.event), references.twin_photo(plan.event)
        scene = [vision.same_scene(seen, photo) if photo else None for photo in (own, twin)]
        if plan.error_type is ErrorType.SPATIAL_ALTERATION:
            return scene[1] is not True
        if own and vision.compare_faces(seen, own).verdict != _expected_host(candidate):
            return False
        return scene[0] in (None, not recirculated) and scene[1] in (None, recirculated)


class Screen:
    """Judges candidates one after another and remembers those it took."""

    def __init__(self) -> None:
        self._taken, self._splits = Duplicates(), list[Split]()

    def reasons(self, candidate: Candidate, view: View) -> list[Reason]:
        """Everything that speaks against a candidate; one without any is taken, and later ones are held against it."""
        split = candidate.plan.event.split
        found = [*view.unclear, *self._duplicates(split, view.looks)] or list(view.unread)
        if not found:
            self.remember(split, view.looks)
        return found

    def remember(self, split: Split, seen: Looks) -> None:
        """Hold later candidates against a picture, whether it was taken or not."""
        self._taken.add(seen)
        self._splits.append(split)

    def _duplicates(self, split: Split, seen: Looks) -> Iterator[Reason]:
        for other in sorted({self._splits[at] for at in self._taken.of(seen)}):
            yield Reason.DUPLICATE_WITHIN if other is split else Reason.DUPLICATE_ACROSS


def _signs_clear(candidate: Candidate, seen: Look) -> bool:
    told, scene = vision.glance(candidate.image, seen), candidate.scene
    people = 1 + (scene.guest is not None)
    return (told.action, told.sky, told.people) == (scene.action, scene.sky, people) and scene.side in (None, told.side)


def _people(candidate: Candidate) -> list[tuple[Person, Person]]:
    """Host and guest, each as depicted and as documented."""
    shown, record = candidate.depicted, candidate.documented
    guests = [(shown.guest, record.guest)] if shown.guest and record.guest else []
    return [(shown.host, record.host), *guests]


def _expected_host(candidate: Candidate) -> str:
    return "same" if candidate.depicted.host == candidate.documented.host else "different"
