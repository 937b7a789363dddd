import asyncio
import json
from itertools import pairwise
from pathlib import Path

import pytest
from agent_doubles import Look, finish, investigation, look, picture, report, search

from components.agent.loop import Investigation, messages_of
from components.agent.render import messages_for
from components.records.case import Verdict
from components.records.episode import Episode, FailureClass, StepKind, Termination, Turn
from components.tools import messages
from components.tools.base import CaseState, NoArguments, ToolResult


def play(running: Investigation, *turns: Turn) -> Episode:
    """Play turns, checking after each that the record renders what the policy is shown."""

    async def advance() -> None:
        for turn in turns:
            shown = running.conversation().messages
            await running.advance(turn)
            seen = messages_of(running.episode())
            assert seen[:-1] == shown
            assert seen[-1].text == turn.text
            assert seen[-1].token_ids == turn.token_ids

    asyncio.run(advance())
    return running.episode()


def kinds(episode: Episode) -> list[str]:
    return [step.kind.value for step in episode.steps]


def test_an_investigation_from_start_to_report(tmp_path: Path) -> None:
    running = investigation(tmp_path)
    episode = play(running, look(), search("gala"), finish(), report("o1"))
    assert running.done
    assert kinds(episode) == ["action", "action", "finish", "report"]
    assert episode.termination is Termination.FINISHED
    assert episode.report is not None
    assert episode.report.verdict is Verdict.SUPPORTED
    assert episode.episode_id == "c1--scripted--s5"
    assert episode.exposed_tools == ("perceive_scene", "text_search", "finish_investigation")
    assert [item.observation_id for item in episode.observations] == ["o1", "o2"]
    assert episode.actions_used == 2
    assert Episode.model_validate_json(episode.model_dump_json()) == episode


def test_what_the_policy_is_shown(tmp_path: Path) -> None:
    running = investigation(tmp_path)
    episode = play(running, look(), search("gala"), finish(), report("o1"))
    seen = messages_of(episode)
    assert [message.role for message in seen] == [
        "system", "user", "assistant", "tool", "user", "assistant", "tool", "assistant", "user", "assistant",
    ]  # fmt: skip
    question, result, shown, asked = seen[1], seen[3], seen[4], seen[8]
    assert question.text == "Is the pictured situation supported or refuted? Investigate, then report."
    assert question.images == (episode.case.image_sha256,)
    assert (result.text, result.observation_id) == ("o1\nphoto: one person", "o1")
    assert shown.images == episode.observations[0].images
    assert asked.text == "Report now."
    assert seen[7].token_ids == (7, 8, 9)


@pytest.mark.incident("CX-1")
def test_no_text_and_no_picture_is_shown_twice(tmp_path: Path) -> None:
    """A long investigation grows by what is new, and by nothing else."""
    running = investigation(tmp_path, tools=(Look(),))
    episode = play(running, *(look(f"Look {number}.") for number in range(24)), finish(), report("o1"))
    seen = messages_of(episode)
    results = [message.text for message in seen if message.role == "tool"]
    assert len(set(results)) == len(results) == 24
    pictures = [digest for message in seen for digest in message.images]
    assert pictures == [episode.case.image_sha256, *episode.observations[0].images]
    assert results[0] == "o1\nphoto: one person"
    assert results[1] == "o2\nphoto: one person\nthe same picture as that of o1"
    assert sum(message.role == "system" for message in seen) == 1


@pytest.mark.incident("CX-2")
def test_the_cases_own_picture_is_not_attached_again(tmp_path: Path) -> None:
    class Mirror(Look):
        async def run(self, arguments: NoArguments, state: CaseState) -> ToolResult:
            return ToolResult("found", images=(state.image, picture((9, 9, 9)), picture((9, 9, 9))))

    episode = play(investigation(tmp_path, tools=(Mirror(),)), look(), look("Once more."))
    seen = messages_for(episode.case, episode.steps)
    assert [message.text for message in seen if message.role == "tool"] == [
        "o1\nfound\nthe same picture as that of the case",
        "o2\nfound\nthe same picture as that of the case\nthe same picture as that of o1",
    ]
    assert [len(message.images) for message in seen] == [0, 1, 0, 0, 1, 0, 0]


def test_the_control_packet_says_what_may_be_cited_what_is_used_and_what_is_left(tmp_path: Path) -> None:
    running = investigation(tmp_path, budget=5, control=True)
    episode = play(running, search("gala"), look(), search("nothing"), search("fair"), finish(), report("o2"))
    told = [message.text.splitlines()[-1] for message in messages_of(episode) if message.role == "tool"]
    assert told == [
        "[actions 1 of 5; citable 0; 1 without gain; text_search 1 of 3]",
        "[actions 2 of 5; citable 1; 0 without gain; text_search 1 of 3]",
        "[actions 3 of 5; citable 1; 1 without gain; text_search 2 of 3]",
        "[actions 4 of 5; citable 1; 2 without gain; text_search 3 of 3]",
    ]


@pytest.mark.incident("CX-1")
def test_the_request_grows_by_the_same_with_every_turn(tmp_path: Path) -> None:
    running = investigation(tmp_path, tools=(Look(),), control=True)
    sizes = []

    async def advance() -> None:
        for number in range(24):
            sizes.append(sum(len(message.text) for message in running.conversation().messages))
            await running.advance(look(f"Look {number:2}."))

    asyncio.run(advance())
    grown = [after - before for before, after in pairwise(sizes)][1:]
    # A number may have another digit.
    assert max(grown) - min(grown) <= 4


def test_tools_offered_stay_and_usable_tools_change(tmp_path: Path) -> None:
    running = investigation(tmp_path)

    def names() -> tuple[list[str], list[str], str]:
        conversation = running.conversation()
        usable, offered = ([tool.name for tool in tools] for tools in (conversation.tools, conversation.offered))
        return usable, offered, conversation.stage

    everything = ["perceive_scene", "text_search", "finish_investigation"]
    assert names() == (everything, everything, "investigate")
    play(running, search("a"), search("b"), search("c"))
    assert names() == (["perceive_scene", "finish_investigation"], everything, "investigate")
    play(running, finish())
    assert names() == ([], everything, "report")


def test_a_tool_at_its_limit_is_refused(tmp_path: Path) -> None:
    running = investigation(tmp_path)
    episode = play(running, search("a"), search("b"), search("c"), search("d"))
    assert kinds(episode)[-1] == "correction"
    assert episode.steps[-1].feedback == "text_search is not available now."


def test_refused_calls_are_answered_and_not_counted(tmp_path: Path) -> None:
    running = investigation(tmp_path, corrections=9)
    refused = [
        (Turn(text="no call at all"), messages.NO_CALL),
        (Turn(text=look().text.replace("perceive_scene", "dance")), "dance is not available now."),
        (Turn(text=search("x").text.replace("query", "words")), "text_search needs query."),
        (search("   "), "text_search needs query."),
        (Turn(text=look().text.replace("</function>", "<parameter=a>\n1\n</parameter>\n</function>")),
         "perceive_scene takes no a."),
        (Turn(text=look().text, finish_reason="length"), messages.CUT_OFF),
        (report("o1"), messages.REPORT_TOO_EARLY),
        (Turn(text=finish().text.replace("All is known.", " ")), "finish_investigation needs rationale."),
    ]  # fmt: skip
    episode = play(running, *(turn for turn, _ in refused), look())
    assert [step.feedback for step in episode.steps[:-1]] == [sentence for _, sentence in refused]
    assert all(step.observation is None for step in episode.steps[:-1])
    assert episode.actions_used == 1
    assert episode.observations[0].observation_id == "o1"
    told = [message for message in messages_of(episode)[2:] if message.role != "assistant"]
    assert [message.role for message in told] == ["user", "tool", "tool", "tool", "tool", "user", "user", "tool"]


@pytest.mark.parametrize("again", ["Harvest Gala", "  harvest   GALA ", "harvest\tgala"])
def test_a_search_is_not_repeated(tmp_path: Path, again: str) -> None:
    episode = play(investigation(tmp_path), search("Harvest Gala"), search(again))
    assert episode.steps[1].feedback == messages.DUPLICATE
    assert episode.actions_used == 1


def test_an_empty_search_is_not_repeated_and_an_outage_may_be(tmp_path: Path) -> None:
    episode = play(investigation(tmp_path), search("nothing"), search("nothing"), search("outage"), search("outage"))
    assert kinds(episode) == ["action", "correction", "action", "action"]
    empty, outage, _ = episode.observations
    assert (empty.status, empty.failure) == ("error", FailureClass.EMPTY_RESULT)
    assert (outage.status, outage.failure) == ("error", FailureClass.INFRASTRUCTURE)
    assert empty.text != outage.text
    assert json.loads(outage.payload_json) == {"reason": "status 503"}


def test_a_stage_ends_with_its_last_allowed_correction(tmp_path: Path) -> None:
    running = investigation(tmp_path, corrections=2)
    episode = play(running, Turn(text="?"), Turn(text="?"))
    assert running.done
    assert episode.termination is Termination.PROTOCOL_FAILURE
    assert episode.report is None
    assert kinds(episode) == ["correction", "correction"]


def test_each_stage_has_its_own_corrections(tmp_path: Path) -> None:
    running = investigation(tmp_path, corrections=2)
    episode = play(running, Turn(text="?"), finish(), Turn(text="?"), report())
    assert episode.termination is Termination.FINISHED
    running = investigation(tmp_path, corrections=2)
    episode = play(running, finish(), look(), Turn(text="?"))
    assert episode.termination is Termination.PROTOCOL_FAILURE
    assert {step.feedback for step in episode.steps[1:]} == {messages.NO_REPORT}


@pytest.mark.parametrize(
    ("cited", "problem"),
    [
        (("o9",), "There is no observation o9."),
        (("o2",), "o2 is a search result and cannot be cited."),
        (("o3",), "o3 failed and cannot be cited."),
        (("o1", "o1"), "o1 is cited twice."),
    ],
)
@pytest.mark.incident("CX-4")
def test_a_report_cites_only_what_was_observed(tmp_path: Path, cited: tuple[str, ...], problem: str) -> None:
    running = investigation(tmp_path)
    turns = (look(), search("gala"), search("nothing"), finish())
    episode = play(running, *turns, report(*cited), report("o1"))
    assert kinds(episode)[-2:] == ["correction", "report"]
    assert episode.steps[-2].feedback == problem
    assert episode.report is not None
    assert episode.report.cited == ("o1",)


def test_at_the_budget_only_finish_remains(tmp_path: Path) -> None:
    running = investigation(tmp_path, budget=2)
    play(running, look(), look())
    assert [tool.name for tool in running.conversation().tools] == ["finish_investigation"]
    episode = play(running, finish(), report("o2"))
    assert episode.termination is Termination.FINISHED


@pytest.mark.parametrize("turn", [look(), Turn(text="?"), report("o1"), Turn(text="x", finish_reason="length")])
def test_past_the_budget_the_report_is_due(tmp_path: Path, turn: Turn) -> None:
    running = investigation(tmp_path, budget=2)
    episode = play(running, look(), look(), turn, report("o1"))
    assert running.done
    assert episode.actions_used == 2
    assert episode.steps[2].kind is StepKind.CORRECTION
    assert episode.termination is Termination.BUDGET
    assert episode.report is not None
    told = messages_of(episode)[-2]
    assert (told.role, told.text) == ("user", "All actions are used. Report now.")


def test_a_direct_judgement_sees_the_picture_and_no_tools(tmp_path: Path) -> None:
    running = investigation(tmp_path, direct=True)
    conversation = running.conversation()
    assert conversation.stage == "report"
    assert conversation.tools == conversation.offered == ()
    assert [message.role for message in conversation.messages] == ["system", "user"]
    assert conversation.messages[1].text == "Is the pictured situation supported or refuted? Report."
    episode = play(running, report())
    assert episode.exposed_tools == ()
    assert episode.termination is Termination.FINISHED
    assert messages_for(episode.case, (), direct=True) == conversation.messages


def test_a_policy_that_gives_up_leaves_a_record(tmp_path: Path) -> None:
    running = investigation(tmp_path)
    play(running, look())
    running.abort()
    assert running.done
    assert running.episode().termination is Termination.POLICY_ERROR
    with pytest.raises(ValueError, match="has ended"):
        asyncio.run(running.advance(look()))


def test_pictures_that_tools_show_are_in_the_bank(tmp_path: Path) -> None:
    from components.records.image_bank import ImageBank

    episode = play(investigation(tmp_path), look())
    assert ImageBank(tmp_path).open(episode.observations[0].images[0]).size == (40, 30)
