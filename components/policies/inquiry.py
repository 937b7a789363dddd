"""The scripted teacher's reasoning: what is known so far, and what to do next."""

import json
from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property

from components.policies.reading import (
    Call,
    Documented,
    Printed,
    Row,
    calls_of,
    is_edition,
    read_count,
    read_kinds,
    read_page,
    read_printed,
    read_rows,
)
from components.records.case import Verdict
from components.records.conversation import Message
from components.records.episode import Report


@dataclass(frozen=True)
class Move:
    """The next turn: a thought and a call."""

    thought: str
    tool: str
    arguments: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """One attribute, as pictured and as documented, with the observations that show each."""

    clause: str
    """As the report states it."""
    differs: bool
    cited: tuple[str, ...]


BOTTOM = "0,0.7,1,1"
"""Where date and place are printed, for a closer look."""


class Inquiry:
    """All that follows from the conversation so far.

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
        self._calls = calls_of(messages)
        self._callable = callable_now
        self._read_first = read_first
        self._second_kind_first = second_kind_first
        self._printed_year_first = printed_year_first

    def next_move(self) -> Move:
        """What to do now; finishes when nothing is left to try."""
        steps = (self._read, self._look) if self._read_first else (self._look, self._read)
        for step in (*steps, self._find_record, self._judge_record, self._check_host):
            move = step()
            if move is not None and move.tool in self._callable:
                return replace(move, thought=f"{self._note}{move.thought}")
        return Move(f"{self._summary} finish.", "finish_investigation", {"rationale": self._rationale})

    def report(self) -> Report:
        """The conclusion: the contradiction with its evidence, or every agreement with its evidence."""
        differing = [finding for finding in self.findings if finding.differs]
        stated = differing[:1] or self.findings
        cited = dict.fromkeys(name for finding in stated for name in finding.cited)
        return Report(
            verdict=Verdict.REFUTED if differing else Verdict.SUPPORTED,
            explanation="; ".join(finding.clause for finding in stated) or "no detail could be checked",
            cited=tuple(sorted(cited, key=lambda name: int(name[1:]))),
        )

    # What is known.

    @cached_property
    def printed(self) -> Printed:
        """What is printed in the picture, completed by a closer look."""
        whole = read_printed(self._answer("ocr_with_position"))
        closer = read_printed(self._answer("crop_and_inspect"))
        return Printed(whole.title, whole.date or closer.date, whole.venue or closer.venue)

    def _reading_of(self, name: str) -> Call | None:
        """The first reading that shows a printed detail."""
        readings = (self._last(tool) for tool in ("ocr_with_position", "crop_and_inspect"))
        return next((call for call in readings if call and getattr(read_printed(call.text), name)), None)

    @cached_property
    def count(self) -> Call | None:
        """The count that found something."""
        return next((call for call in self._made("count_objects") if read_count(call.text) not in ("", "0")), None)

    @cached_property
    def record(self) -> tuple[Call, Documented] | None:
        """The last opened page that documents an event."""
        pages = [(call, read_page(call.text)) for call in self._made("visit")]
        return next(((call, page) for call, page in reversed(pages) if page.date and page.venue), None)

    @cached_property
    def candidates(self) -> list[Row]:
        """Pages that may be the record: those named as the picture is, then those of similar pictures."""
        named = [row for call in self._made("text_search") for row in read_rows(call.text)]
        named = [row for row in named if is_edition(row.title, self.printed.title)]
        similar = [row for call in self._made("reverse_image_search") for row in read_rows(call.text)]
        if self._printed_year_first:
            named.sort(key=lambda row: not row.url.rstrip("/").endswith(self.printed.date[-4:]))
        opened = {_argument(call, "url") for call in self._calls if call.tool == "visit"}
        return [row for row in named + similar if row.url not in opened]

    @cached_property
    def findings(self) -> list[Finding]:
        """Every attribute for which picture and record are both known."""
        if self.record is None:
            return []
        call, page = self.record
        pairs = [
            ("date", self.printed.date, page.date, self._reading_of("date")),
            ("venue", self.printed.venue, page.venue, self._reading_of("venue")),
        ]
        if self.count is not None:
            pairs.append(("count", read_count(self.count.text), page.number, self.count))
        found = [
            Finding(
                f"{name} {shown} vs {known} {'same' if shown == known else 'differs'}",
                shown != known,
                (source.observation_id, call.observation_id),
            )
            for name, shown, known, source in pairs
            if shown and known and source
        ]
        return [*found, *self._host_finding(call, page)]

    @property
    def _same_edition(self) -> bool:
        """A record that contradicts the picture in several details is of another edition."""
        return sum(finding.differs for finding in self.findings) < 2

    # What to do.

    def _look(self) -> Move | None:
        if not self._tried("perceive_scene"):
            return Move("look at the scene.", "perceive_scene")
        kinds = read_kinds(self._answer("perceive_scene"))
        if self._second_kind_first:
            kinds.reverse()
        tried = [_argument(call, "target_object") for call in self._calls if call.tool == "count_objects"]
        untried = [kind for kind in kinds if kind not in tried]
        if self.count is not None or not untried:
            return None
        return Move(f"count each {untried[0]}.", "count_objects", {"target_object": untried[0]})

    def _read(self) -> Move | None:
        if not self._tried("ocr_with_position"):
            return Move("read the text.", "ocr_with_position")
        if not (self.printed.date and self.printed.venue) and not self._tried("crop_and_inspect"):
            return Move("look closer.", "crop_and_inspect", {"bbox": BOTTOM})
        return None

    def _find_record(self) -> Move | None:
        if self.record is not None:
            return None
        if self.printed.title and not self._tried("text_search"):
            return Move(f"search title {self.printed.title}.", "text_search", {"query": self.printed.title})
        if not self.candidates and not self._tried("reverse_image_search"):
            return Move("no title; search the picture.", "reverse_image_search")
        return self._open("")

    def _judge_record(self) -> Move | None:
        if self.record is None or self._same_edition:
            return None
        return self._open(f"{self._summary} another edition. ")

    def _check_host(self) -> Move | None:
        if self.record is None or any(finding.differs for finding in self.findings):
            return None
        host = self.record[1].host
        if not host or self._host_answer:
            return None
        if not self._tried("text_image_search"):
            return Move(f"{self._summary} check host {host}.", "text_image_search", {"query": host})
        portraits = [row for call in self._made("text_image_search") for row in read_rows(call.text)]
        wanted = [row.url for row in portraits if host in row.title] + [self.record[1].picture_url]
        compared = {_argument(call, "reference_url") for call in self._calls if call.tool == "compare_with_reference"}
        left = [url for url in wanted if url and url not in compared]
        thought = f"compare the face of {host}."
        return Move(thought, "compare_with_reference", {"reference_url": left[0]}) if left else None

    def _open(self, thought: str) -> Move | None:
        chosen = next(iter(self.candidates), None)
        return Move(f"{thought}open {chosen.title}.", "visit", {"url": chosen.url}) if chosen else None

    # How to say it.

    @property
    def _note(self) -> str:
        """What the last look at the picture established, written down by name to be compared later."""
        last = self._calls[-1] if self._calls else None
        if last is None or not last.observation_id:
            return ""
        if last.tool in ("ocr_with_position", "crop_and_inspect") and self.printed.date:
            read = [f"{name} {value}" for name, value in self.printed._asdict().items() if value]
            return f"{last.observation_id}: {'; '.join(read)}. "
        return f"{last.observation_id}: count {read_count(last.text)}. " if last is self.count else ""

    @property
    def _summary(self) -> str:
        """The comparison just made, both values side by side: all of a page's, or the host's."""
        host = [finding for finding in self.findings if finding.clause.startswith("host")]
        compared = host or self.findings
        source = f"{compared[-1].cited[-1]}: " if compared else ""
        return source + "; ".join(finding.clause for finding in compared) + "."

    @property
    def _rationale(self) -> str:
        differing = [finding.clause.partition(" ")[0] for finding in self.findings if finding.differs]
        if differing:
            return f"{differing[0]} differs"
        return "all agree" if self.findings else "nothing found"

    @cached_property
    def _host_answer(self) -> Call | None:
        answers = ("same person", "different person")
        return next((call for call in self._made("compare_with_reference") if call.text.startswith(answers)), None)

    def _host_finding(self, record: Call, page: Documented) -> list[Finding]:
        if self._host_answer is None:
            return []
        answer = self._host_answer.text.splitlines()[0]
        cited = (record.observation_id, self._host_answer.observation_id)
        return [Finding(f"host {page.host} {answer}", answer == "different person", cited)]

    def _made(self, tool: str) -> list[Call]:
        """Executed calls of a tool."""
        return [call for call in self._calls if call.tool == tool and call.observation_id]

    def _last(self, tool: str) -> Call | None:
        made = self._made(tool)
        return made[-1] if made else None

    def _tried(self, tool: str) -> bool:
        return any(call.tool == tool for call in self._calls)

    def _answer(self, tool: str) -> str:
        last = self._last(tool)
        return last.text if last else ""


def _argument(call: Call, name: str) -> str:
    return str(json.loads(call.arguments).get(name, ""))
