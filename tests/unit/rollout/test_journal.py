"""Notes of unfinished investigations: what they had got before a kill is neither asked nor executed again."""

import asyncio
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from agent_doubles import Look, Search, finish, investigation, look, report, search

from components.agent.loop import Investigation
from components.errors import EviflowError
from components.records.episode import Turn
from components.rollout.journal import EpisodeJournal, Journal
from components.storage.ledger import Ledger
from components.tools.base import CaseState, NoArguments, ToolResult
from components.tools.memory import Outcome
from components.tools.retrieval import QueryArguments

TURNS = (look(), search("gala"), search("gala"), search("outage"), search("nothing"), finish(), report("o1"))
"""The third is refused as a duplicate."""
STEPS = 4 * len(TURNS)
"""Moments at which a kill may come: twice before a turn is asked for, after it has come, after its call."""


class Killed(Exception):
    pass


@dataclass
class Lab:
    """Runs one investigation until it is done or killed, and notes what was asked and executed."""

    root: Path
    asked: list[int] = field(default_factory=list)
    executed: list[str] = field(default_factory=list)

    def notes(self, attempt: int = 0) -> EpisodeJournal:
        return Journal(self.root).of("c1--scripted--s5", attempt)

    def fresh(self) -> Investigation:
        return investigation(self.root, tools=(Noted(Look(), self.executed), Noted(Search(), self.executed)))

    def run(self, kill_at: int = sys.maxsize) -> Investigation:
        return asyncio.run(self._run(kill_at))

    async def _run(self, kill_at: int) -> Investigation:
        moment = 0

        def live() -> None:
            nonlocal moment
            moment += 1
            if moment > kill_at:
                raise Killed

        notes, running = self.notes(), self.fresh()
        await notes.replay(running)
        while not running.done:
            live()
            index = len(running.steps)
            live()
            self.asked.append(index)
            notes.answered(TURNS[index])
            live()
            await running.advance(TURNS[index])
            notes.executed(running.outcome)
            live()
        return running


class Noted:
    """A tool that notes each execution."""

    def __init__(self, tool: Look | Search, executed: list[str]) -> None:
        self._tool = tool
        self._executed = executed
        self.name, self.description, self.family = tool.name, tool.description, tool.family
        self.limit, self.arguments = tool.limit, tool.arguments
        self.refuse, self.key = tool.refuse, tool.key

    async def run(self, arguments: NoArguments | QueryArguments, state: CaseState) -> ToolResult:
        self._executed.append(f"{self.name} {getattr(arguments, 'query', '')}")
        state.clues.append(self.name)
        return await self._tool.run(arguments, state)  # type: ignore[arg-type]


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def told(running: Investigation) -> list[object]:
    """An investigation without its times, and what its tools know."""
    episode = running.episode()
    seen = [step.observation and step.observation.model_copy(update={"duration_s": 0}) for step in episode.steps]
    steps = [step.model_copy(update={"observation": one}) for step, one in zip(episode.steps, seen, strict=True)]
    state = running._toolbox.state
    return [steps, episode.report, episode.termination, state.used, state.asked, state.clues, state.offered]


@pytest.mark.incident("CS-5")
def test_whenever_it_is_killed_no_turn_is_paid_twice_and_the_episode_is_the_same(tmp_path: Path) -> None:
    whole = Lab(tmp_path / "whole")
    expected = told(whole.run())
    for kill_at in range(STEPS):
        lab = Lab(tmp_path / str(kill_at))
        with pytest.raises(Killed):
            lab.run(kill_at)
        assert told(lab.run()) == expected, kill_at
        assert lab.asked == list(range(len(TURNS))), kill_at
        assert lab.executed == whole.executed, kill_at


def test_a_chain_of_kills_asks_every_turn_once(lab: Lab, tmp_path: Path) -> None:
    for kill_at in (3, 4, 6, 1, 5, 0):
        with pytest.raises(Killed):
            lab.run(kill_at)
    whole = Lab(tmp_path / "whole")
    assert told(lab.run()) == told(whole.run())
    assert (lab.asked, lab.executed) == (whole.asked, whole.executed)


def test_what_cannot_be_read_is_set_aside(lab: Lab) -> None:
    with pytest.raises(Killed):
        lab.run(9)
    (path,) = (lab.root / "journal").iterdir()
    path.write_bytes(b"no JSON\n" + path.read_bytes())
    notes = lab.notes()
    with pytest.raises(EviflowError):
        _ = notes.kept
    notes.set_aside()
    assert notes.kept == []
    notes.answered(look())
    assert [item.turn for item in lab.notes().kept] == [look()]
    assert {item.suffix for item in path.parent.iterdir()} == {".jsonl", ".damaged"}


def test_a_call_that_was_broken_off_is_executed_and_its_outcome_kept(lab: Lab) -> None:
    notes = lab.notes()
    notes.answered(look())
    assert asyncio.run(lab.notes().replay(lab.fresh())) == 1
    assert len(lab.executed) == 1
    assert lab.notes().kept[0].outcome is not None
    asyncio.run(lab.notes().replay(lab.fresh()))
    assert len(lab.executed) == 1


def test_another_attempt_begins_anew_and_the_first_is_still_told(lab: Lab) -> None:
    with pytest.raises(Killed):
        lab.run(9)
    assert [item.turn for item in lab.notes().kept] == list(TURNS[:2])
    assert lab.notes(attempt=1).kept == []


def test_what_is_finished_is_forgotten(lab: Lab) -> None:
    lab.run()
    lab.notes().forget()
    assert lab.notes().kept == []
    assert not list((lab.root / "journal").iterdir())
    lab.notes().forget()


def test_a_torn_note_does_not_count(lab: Lab) -> None:
    with pytest.raises(Killed):
        lab.run(6)
    (path,) = (lab.root / "journal").iterdir()
    path.write_bytes(path.read_bytes()[:-7])
    assert len(lab.notes().kept) == 1
    notes = lab.notes()
    notes.answered(TURNS[1])
    assert len(lab.notes().kept) == 2


def test_notes_of_another_investigation_are_refused(lab: Lab, tmp_path: Path) -> None:
    notes = lab.notes()
    notes.answered(search("gala"))
    seen = Lab(tmp_path / "other")
    running = seen.fresh()
    asyncio.run(running.advance(look()))
    notes.executed(running.outcome)
    with pytest.raises(EviflowError, match="what is kept of perceive_scene"):
        asyncio.run(lab.notes().replay(lab.fresh()))


def test_an_outcome_without_its_call_is_refused(lab: Lab) -> None:
    running = lab.fresh()
    asyncio.run(running.advance(look()))
    assert isinstance(running.outcome, Outcome)
    with pytest.raises(EviflowError, match="belongs to another turn of c1"):
        asyncio.run(lab.fresh().advance(Turn(text="nothing is called"), running.outcome))


def test_a_picture_that_is_lost_is_found_out(lab: Lab) -> None:
    with pytest.raises(Killed):
        lab.run(4)
    for path in (lab.root / "assets").rglob("*.png"):
        path.unlink()
    with pytest.raises(EviflowError, match="what is kept of perceive_scene"):
        asyncio.run(lab.notes().replay(lab.fresh()))


def test_a_file_without_one_of_its_turns_is_named(lab: Lab) -> None:
    lab.notes()._append({"index": 1, "turn": look().model_dump(mode="json")})
    (path,) = (lab.root / "journal").iterdir()
    with pytest.raises(EviflowError, match=f"{path} lacks a turn of c1--scripted--s5"):
        _ = lab.notes().kept
    Ledger(path).append({"episode_id": "c2--scripted--s5", "attempt": 0, "index": 0, "turn": {}})
    with pytest.raises(EviflowError, match="has notes of c2--scripted--s5"):
        _ = lab.notes().kept
