"""The scripted teacher's reasoning: what to do next, why, and what to report in the end."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace

from components.policies.casebook import Casebook, Finding, argument_of
from components.policies.reading import Row, read_count, read_kinds, year_of
from components.records.case import Attribute, Verdict
from components.records.conversation import Message
from components.records.episode import Report


@dataclass(frozen=True)
class Move:
    """The next turn: a thought and a call."""

    thought: str
    tool: str
    arguments: dict[str, str] = field(default_factory=dict)


BOTTOM = "0,0.7,1,1"
"""Where date and place are printed, for a closer look."""


class Inquiry:
    """Decides on the next turn from what is known.

    Args:
        messages: the conversation.
        callable_now: names of the tools that may be called.
        read_first: read the printed text before looking at the scene.
        second_kind_first: of two look-alike kinds, count the second first.
        printed_year_first: of several editions, open that of the printed year first, not the one listed first.

    """

    def __init__(
        self,
        messages: Sequence[Message],
        *,
        callable_now: Set[str],
        read_first: bool,
        second_kind_first: bool,
        printed_year_first: bool,
    ) -> None:
        self._book = Casebook(messages)
        self._callable = callable_now
        self._read_first = read_first
        self._second_kind_first = second_kind_first
        self._printed_year_first = printed_year_first

    def next_move(self) -> Move:
        """What to do now; finishes when nothing is left to try."""
        steps = (self._read, self._look) if self._read_first else (self._look, self._read)
        for step in (*steps, self._find_record, self._check_host, self._check_guest, self._check_origin):
            move = step()
            if move is not None and move.tool in self._callable:
                return replace(move, thought=f"{self._note}{move.thought}")
        return Move(f"{self._note}finish.", "finish_investigation", {"rationale": self._rationale})

    def report(self) -> Report:
        """The conclusion: the contradiction with its evidence, or every agreement with its evidence."""
        differing = self._book.differing
        stated = differing[:1] or self._book.findings
        cited = dict.fromkeys(name for finding in stated for name in finding.cited)
        return Report(
            verdict=Verdict.REFUTED if differing else Verdict.SUPPORTED,
            explanation="; ".join(finding.clause for finding in stated) or "no detail could be checked",
            cited=tuple(sorted(cited, key=lambda name: int(name[1:]))),
        )

    # What to do.

    def _look(self) -> Move | None:
        book = self._book
        if not book.tried("perceive_scene"):
            return Move("look at the scene.", "perceive_scene")
        kinds = read_kinds(book.answer("perceive_scene"))
        if self._second_kind_first:
            kinds.reverse()
        untried = [kind for kind in kinds if not book.tried("count_objects", kind)]
        if book.count is not None or not untried:
            return None
        return Move(f"count each {untried[0]}.", "count_objects", {"target_object": untried[0]})

    def _read(self) -> Move | None:
        printed = self._book.printed
        if not self._book.tried("ocr_with_position"):
            return Move("read the text.", "ocr_with_position")
        if not (printed.date and printed.venue) and not self._book.tried("crop_and_inspect"):
            return Move("look closer.", "crop_and_inspect", {"bbox": BOTTOM})
        return None

    def _find_record(self) -> Move | None:
        """Search, then open pages until one is not another edition's."""
        book, title = self._book, self._book.printed.title
        if book.record is not None and book.is_of_event(*book.record):
            return None
        if title and not book.tried("text_search"):
            return Move(f"search title {title}.", "text_search", {"query": title})
        if not book.unopened and not book.pages and not book.tried("reverse_image_search"):
            return Move("no title; search the picture.", "reverse_image_search")
        of_year = f"{title} {year_of(book.printed.date)}"
        if title and book.pages and not book.unopened and not book.tried("text_search", of_year):
            return Move(f"another edition. search {of_year}.", "text_search", {"query": of_year})
        return self._open(book.unopened)

    def _check_host(self) -> Move | None:
        """Compare the record's photograph; without one, a portrait found under the host's name."""
        book = self._book
        if book.record is None or book.differing or book.comparison(book.host_pictures(), "person"):
            return None
        host, photo = book.record[1].host, book.record[1].picture_url
        if photo and not book.tried("compare_with_reference", photo):
            return Move("compare the photo.", "compare_with_reference", {"reference_url": photo})
        return self._find_portrait(Attribute.HOST, host)

    def _check_guest(self) -> Move | None:
        book = self._book
        guest = book.record[1].details.get(Attribute.GUEST) if book.record else None
        if not guest or book.differing or book.comparison(book.portraits(guest), "person"):
            return None
        return self._find_portrait(Attribute.GUEST, guest)

    def _find_portrait(self, role: Attribute, name: str) -> Move | None:
        if not name:
            return None
        if not self._book.tried("text_image_search", name):
            return Move(f"check {role} {name}.", "text_image_search", {"query": name})
        return self._compare(self._book.portraits(name), f"compare the face of {name}.")

    def _check_origin(self) -> Move | None:
        """Unless the scene is the record's own, look for an older picture that it was taken from."""
        book = self._book
        if book.record is None or book.differing or book.photo_known:
            return None
        if not book.tried("reverse_image_search"):
            return Move("search for an older picture.", "reverse_image_search")
        if book.origin is None:
            return None
        opened = (page.picture_url for call, page in book.pages if argument_of(call) == book.origin.url)
        photos = [url for url in opened if url]
        return self._compare(photos, "compare the older picture.") or self._open([book.origin], known=True)

    def _compare(self, urls: Sequence[str], thought: str) -> Move | None:
        left = [url for url in urls if not self._book.tried("compare_with_reference", url)]
        return Move(thought, "compare_with_reference", {"reference_url": left[0]}) if left else None

    def _open(self, rows: Sequence[Row], *, known: bool = False) -> Move | None:
        """Open a page that is not open yet; unless it is `known` why, after a look at what each is called."""
        left = [row for row in rows if not self._book.tried("visit", row.url)]
        if self._printed_year_first:
            left.sort(key=lambda row: not row.url.rstrip("/").endswith(self._book.printed.date[-4:]))
        if not left:
            return None
        again = self._book.pages and not known
        why = f"another edition. {'; '.join(self._book.compared_down_to(left[0]))}. " if again else ""
        return Move(f"{why}open {left[0].title}.", "visit", {"url": left[0].url})

    # How to say it.

    @property
    def _note(self) -> str:
        """What the last answer established: values by name, to be compared later, or the comparison it completed."""
        last = self._book.calls[-1] if self._book.calls else None
        if last is None or not last.observation_id:
            return ""
        values = self._values(last.tool) or "; ".join(
            finding.clause for finding in self._completed(last.observation_id)
        )
        return f"{last.observation_id}: {values}. " if values else ""

    def _values(self, tool: str) -> str:
        book = self._book
        if tool == "perceive_scene":
            return "; ".join(f"{name} {value}" for name, value in book.glanced.items())
        if tool in ("ocr_with_position", "crop_and_inspect") and book.printed.date:
            return "; ".join(f"{name} {value}" for name, value in book.printed._asdict().items() if value)
        if tool == "count_objects" and book.count is book.calls[-1]:
            return f"count {read_count(book.count.text)}"
        if tool == "reverse_image_search":
            return "; ".join(book.similar_compared)
        return ""

    def _completed(self, observation_id: str) -> list[Finding]:
        """The comparisons that an observation completed: all of a page's, both values side by side, or a picture's."""
        page = next((found for found in self._book.pages if found[0].observation_id == observation_id), None)
        of_record = [finding for finding in self._book.findings if finding.cited[-1] == observation_id]
        if page is None or of_record or self._record_known_before(observation_id):
            return of_record
        return self._book.compared(*page)

    def _record_known_before(self, observation_id: str) -> bool:
        record = self._book.record
        return record is not None and int(record[0].observation_id[1:]) < int(observation_id[1:])

    @property
    def _rationale(self) -> str:
        differing = [finding.clause.partition(" ")[0] for finding in self._book.differing]
        if differing:
            return f"{differing[0]} differs"
        return "all agree" if self._book.findings else "nothing found"
