import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from rollout_doubles import Tools, Walker, make_cases

from components.config.schema import AgentParams
from components.errors import Drained, EviflowError, PreflightError
from components.policies.replay import ReplayPolicy
from components.records.case import Case, Verdict
from components.records.conversation import Answer, Conversation, Policy
from components.records.episode import Episode, StepKind, Termination, Turn
from components.records.image_bank import ImageBank
from components.rollout.drain import Drain
from components.rollout.engine import Job, Toolboxes, run_episodes
from components.rollout.store import ATTEMPTS, Layout, RolloutStore
from components.tools.clients.errors import Quarantined, ServiceError

REPOSITORY = Path(__file__).parents[3]


def run(
    folder: Path,
    jobs: Sequence[Job],
    policy: Policy,
    *,
    tools: Toolboxes | None = None,
    concurrency: int = 4,
) -> list[Episode]:
    bank = ImageBank(folder)
    rollout = run_episodes(
        jobs, policy, tools or Tools(bank), AgentParams(), bank=bank, folder=folder / "work", concurrency=concurrency
    )
    return list(asyncio.run(rollout))


def jobs_for(folder: Path, count: int, seeds: Sequence[int] = (0,)) -> list[Job]:
    return [Job(case, seed) for case in make_cases(ImageBank(folder), count) for seed in seeds]


def without_times(episodes: Sequence[Episode]) -> list[dict[str, object]]:
    plain = [episode.model_dump(exclude={"started_at", "duration_s"}) for episode in episodes]
    for episode in plain:
        for step in episode["steps"]:
            if step["observation"]:
                step["observation"].pop("duration_s")
    return plain


def test_every_job_becomes_an_episode_in_order(tmp_path: Path) -> None:
    jobs = jobs_for(tmp_path, 5, (0, 1))
    policy = Walker()
    episodes = run(tmp_path, jobs, policy)
    assert [episode.episode_id for episode in episodes] == [job.episode_id("walker") for job in jobs]
    assert {episode.termination for episode in episodes} == {Termination.FINISHED}
    assert [episode.report.verdict for episode in episodes[:2] if episode.report] == list(Verdict)
    assert [step.kind for step in episodes[0].steps] == [StepKind.ACTION] * 2 + [StepKind.FINISH, StepKind.REPORT]


def test_the_policy_is_asked_in_batches_and_slots_are_refilled(tmp_path: Path) -> None:
    class Uneven(Walker):
        """Investigations of odd seeds take longer."""

        def turn(self, conversation: Conversation) -> Turn:
            self.looks = 1 + 3 * (conversation.seed % 2)
            return super().turn(conversation)

    policy = Uneven()
    run(tmp_path, jobs_for(tmp_path, 3, (0, 1, 2)), policy, concurrency=4)
    assert Counter(policy.batches) == {2: 15, 1: 6}, "a place that falls free is taken while the others go on"


def test_batches_follow_from_the_jobs_and_not_from_how_long_tools_take(tmp_path: Path) -> None:
    class Noting(Walker):
        def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
            seen.append([message.images[0] for item in conversations for message in item.messages if message.images])
            return super().act(conversations)

    batches = []
    for number in range(2):
        seen: list[list[str]] = []
        folder = tmp_path / str(number)
        jobs = jobs_for(folder, 9)
        run(folder, jobs, Noting(), tools=Tools(ImageBank(folder), delay_s=lambda: 0.003 * random.random()))
        batches.append(sorted(map(tuple, seen)))
    assert batches[0] == batches[1]


def test_tools_run_while_the_policy_computes(tmp_path: Path) -> None:
    class Busy(Walker):
        def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
            began = time.monotonic()
            time.sleep(0.02)
            thinking.append((began, time.monotonic()))
            return super().act(conversations)

    def look() -> float:
        looked.append(time.monotonic() + 0.005)
        return 0.01

    thinking: list[tuple[float, float]] = []
    looked: list[float] = []
    run(tmp_path, jobs_for(tmp_path, 4), Busy(), tools=Tools(ImageBank(tmp_path), delay_s=look))
    assert any(began < at < ended for at in looked for began, ended in thinking)


def test_a_slow_reply_holds_nobody_up(tmp_path: Path) -> None:
    class Patient(Served):
        async def answer(self, conversation: Conversation) -> Turn:
            if conversation.seed == 0 and len(RolloutStore(tmp_path / "work")) < 3:
                await asyncio.sleep(0.001)
                return await self.answer(conversation)
            return await super().answer(conversation)

    episodes = run(tmp_path, jobs_for(tmp_path, 1, (0, 1, 2, 3)), Patient({}), concurrency=2)
    assert len(episodes) == 4


def test_a_finished_episode_is_never_run_again(tmp_path: Path) -> None:
    jobs = jobs_for(tmp_path, 4)
    first = run(tmp_path, jobs[:2], Walker())
    policy = Walker()
    episodes = run(tmp_path, jobs, policy, concurrency=9)
    assert episodes[:2] == first
    assert max(policy.batches) == 1
    idle = Walker()
    assert run(tmp_path, jobs, idle) == episodes
    assert idle.batches == []


def test_a_wrong_or_failed_investigation_is_not_tried_again(tmp_path: Path) -> None:
    class Mumbler(Walker):
        def turn(self, conversation: Conversation) -> Turn:
            return Turn(text="hm")

    jobs = jobs_for(tmp_path, 1)
    episode = run(tmp_path, jobs, Mumbler())[0]
    assert episode.termination is Termination.PROTOCOL_FAILURE
    assert run(tmp_path, jobs, Walker()) == [episode]


class Choking(Walker):
    """Fails whenever the case `bad` is in the batch, a number of times."""

    def __init__(self, bad: Case, times: int) -> None:
        super().__init__()
        self.bad, self.left = bad, times

    def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
        if any(self.bad.image_sha256 in message.images for item in conversations for message in item.messages):
            if len(conversations) == 1:
                self.left -= 1
            if self.left >= 0:
                raise RuntimeError("choked")
        return super().act(conversations)


@pytest.mark.incident("PT-15")
def test_a_fault_of_the_policy_is_attributed_to_one_investigation(tmp_path: Path) -> None:
    jobs = jobs_for(tmp_path, 5)
    policy = Choking(jobs[2].case, times=99)
    episodes = run(tmp_path, jobs, policy)
    endings = Counter(episode.termination for episode in episodes)
    assert endings == {Termination.FINISHED: 4, Termination.POLICY_ERROR: 1}
    assert episodes[2].termination is Termination.POLICY_ERROR
    assert episodes[2].report is None
    assert RolloutStore(tmp_path / "work").failed_attempts() == {episodes[2].episode_id: ATTEMPTS}


def test_a_passing_fault_is_tried_again_with_the_same_seed(tmp_path: Path) -> None:
    jobs = jobs_for(tmp_path, 3, (1,))
    episodes = run(tmp_path, jobs, Choking(jobs[0].case, times=1))
    assert {episode.termination for episode in episodes} == {Termination.FINISHED}
    assert episodes[0].seed == 1


def test_failed_attempts_survive_a_restart(tmp_path: Path) -> None:
    jobs = jobs_for(tmp_path, 3)
    RolloutStore(tmp_path / "work").fail(jobs[0].episode_id("walker"), RuntimeError("earlier"))
    episodes = run(tmp_path, jobs, Choking(jobs[0].case, times=1))
    assert episodes[0].termination is Termination.POLICY_ERROR


def test_a_policy_that_fails_on_everything_stops_the_rollout(tmp_path: Path) -> None:
    class Broken(Walker):
        def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
            raise RuntimeError("out of order")

    with pytest.raises(EviflowError, match=r"walker failed on all 3 conversations.*out of order"):
        run(tmp_path, jobs_for(tmp_path, 3), Broken())
    assert RolloutStore(tmp_path / "work").episodes() == {}


class Served(Walker):
    """Is asked in the event loop, and gives the error of every conversation whose seed it names."""

    def __init__(self, errors: dict[int, Exception]) -> None:
        super().__init__()
        self.errors = errors
        self.asked = 0

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Answer]:
        yield self.answer

    async def answer(self, conversation: Conversation) -> Turn:
        self.asked += 1
        await asyncio.sleep(0)
        if error := self.errors.get(conversation.seed):
            raise error
        return self.turn(conversation)


def test_one_conversation_that_fails_at_a_server_costs_the_others_nothing(tmp_path: Path) -> None:
    policy = Served({1: ServiceError("language model", "status 500")})
    episodes = run(tmp_path, jobs_for(tmp_path, 1, (0, 1, 2)), policy)
    assert [episode.termination.value for episode in episodes] == ["finished", "policy_error", "finished"]
    assert policy.asked == sum(len(episode.steps) for episode in episodes) + ATTEMPTS


@pytest.mark.incident("SV-2")
def test_replies_that_may_not_be_used_are_data_however_many_there_are(tmp_path: Path) -> None:
    cut = Quarantined("language model", "cut off", b"{}")
    episodes = run(tmp_path, jobs_for(tmp_path, 1, (0, 1)), Served({0: cut, 1: cut}))
    assert {(episode.termination, episode.steps) for episode in episodes} == {(Termination.POLICY_ERROR, ())}
    kept = [path.read_text() for path in tmp_path.glob("work/shard-*/failures.jsonl")]
    assert "".join(kept).count("cut off") == 2 * ATTEMPTS


def test_a_server_that_fails_everybody_stops_the_rollout(tmp_path: Path) -> None:
    down = ServiceError("language model", "status 503")
    with pytest.raises(EviflowError, match=r"walker failed on all 2 conversations.*status 503"):
        run(tmp_path, jobs_for(tmp_path, 1, (0, 1)), Served({0: down, 1: down}))


def test_an_outage_uses_up_no_attempt(tmp_path: Path) -> None:
    """The server is down for a while, in the middle: nobody's attempts are used up, and whoever comes back goes on."""

    class Failing(Served):
        async def answer(self, conversation: Conversation) -> Turn:
            if len(RolloutStore(tmp_path / "work")) >= 4:
                raise ServiceError("language model", "status 503")
            return await super().answer(conversation)

    jobs = jobs_for(tmp_path, 3, (0, 1, 2, 3))
    for _ in range(2):
        with pytest.raises(EviflowError, match=r"failed on all \d+ conversations"):
            run(tmp_path, jobs, Failing({}))
    assert RolloutStore(tmp_path / "work").failed_attempts() == {}
    assert {episode.termination for episode in run(tmp_path, jobs, Walker())} == {Termination.FINISHED}


def test_an_outage_ends_a_rollout_of_one_at_a_time_too(tmp_path: Path) -> None:
    """Where one is in flight at once, the next one tells; only the last that is left has nobody behind it."""
    down = ServiceError("language model", "status 503")
    jobs = jobs_for(tmp_path, 1, (0, 1, 2))
    with pytest.raises(EviflowError, match="failed on all 2 conversations"):
        run(tmp_path, jobs, Served(dict.fromkeys(range(3), down)), concurrency=1)
    assert len(RolloutStore(tmp_path / "work")) == 0
    episodes = run(tmp_path, jobs, Served({2: down}), concurrency=1)
    assert [episode.termination.value for episode in episodes] == ["finished", "finished", "policy_error"]


def test_a_failure_is_ones_own_only_when_a_later_request_is_answered(tmp_path: Path) -> None:
    """What was asked before the server went down, and comes late, does not tell that it works."""

    class Dying(Served):
        down = False

        async def answer(self, conversation: Conversation) -> Turn:
            if self.down:
                raise ServiceError("language model", "status 503")
            if conversation.seed == 0:
                await asyncio.sleep(0.05)
            elif conversation.stage == "report":
                self.down = True
                raise ServiceError("language model", "status 503")
            return await super().answer(conversation)

    with pytest.raises(EviflowError, match="failed on all 2 conversations"):
        run(tmp_path, jobs_for(tmp_path, 1, (0, 1)), Dying({}))
    assert RolloutStore(tmp_path / "work").failed_attempts() == {}


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    jobs = jobs_for(tmp_path, 2)
    with RolloutStore(tmp_path / "work").written(), pytest.raises(PreflightError, match="another process writes"):
        run(tmp_path, jobs, Walker())
    assert len(run(tmp_path, jobs, Walker())) == 2


def test_a_rollout_keeps_to_what_it_was_begun_with(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    jobs, bank = jobs_for(tmp_path, 4), ImageBank(tmp_path)
    RolloutStore(folder, Layout(shards=3, attempts=1)).fail("x", RuntimeError())
    asked = {"bank": bank, "folder": folder, "concurrency": 2, "layout": Layout(shards=5, attempts=4)}
    rollout = run_episodes(jobs, Choking(jobs[0].case, times=1), Tools(bank), AgentParams(), **asked)  # type: ignore[arg-type]
    episodes = asyncio.run(rollout)
    assert [episode.termination.value for episode in episodes] == ["policy_error", *["finished"] * 3]
    assert len(list(folder.glob("shard-*"))) <= 3


@pytest.mark.parametrize("patient", [True, False])
def test_a_rollout_that_is_asked_to_end_brings_to_an_end_what_has_begun(tmp_path: Path, patient: bool) -> None:
    class Asking(Served):
        async def answer(self, conversation: Conversation) -> Turn:
            if not drain.asked:
                drain.ask()
            await asyncio.sleep(0 if patient else 60)
            return await super().answer(conversation)

    drain = Drain(60 if patient else 0.05)
    jobs, bank = jobs_for(tmp_path, 9), ImageBank(tmp_path)
    asked = {"bank": bank, "folder": tmp_path / "work", "concurrency": 4, "drain": drain}
    finished = 4 if patient else 0
    with pytest.raises(Drained, match=f"{finished} of 9 episodes finished"):
        asyncio.run(run_episodes(jobs, Asking({}), Tools(bank), AgentParams(), **asked))  # type: ignore[arg-type]
    assert len(RolloutStore(tmp_path / "work")) == finished
    assert RolloutStore(tmp_path / "work").failed_attempts() == {}
    assert len(run(tmp_path, jobs, Walker())) == 9


class Counting(Served):
    """Counts every turn that it gives; hangs where it is told to."""

    def __init__(self, hangs_after: int | None = None) -> None:
        super().__init__({})
        self.given: Counter[tuple[int, int]] = Counter()
        self.hangs_after = hangs_after

    async def answer(self, conversation: Conversation) -> Turn:
        taken = sum(message.role == "assistant" for message in conversation.messages)
        if taken == self.hangs_after:
            await asyncio.sleep(60)
        self.given[conversation.seed, taken] += 1
        return await super().answer(conversation)


@pytest.mark.parametrize("hangs_after", [1, 2, 3])
def test_what_was_broken_off_is_taken_up_where_it_was_and_no_turn_is_asked_for_twice(
    tmp_path: Path, hangs_after: int
) -> None:
    def rollout(policy: Counting, patience_s: float) -> list[Episode]:
        async def go() -> list[Episode]:
            drain = Drain(patience_s)
            if policy.hangs_after is not None:
                asyncio.get_running_loop().call_later(0.3, drain.ask)
            tools = Tools(bank, tmp_path / "journal.txt")
            asked = {"bank": bank, "folder": tmp_path / "work", "concurrency": 3, "drain": drain, "journal": True}
            return list(await run_episodes(jobs, policy, tools, AgentParams(), **asked))  # type: ignore[arg-type]

        return asyncio.run(go())

    jobs, bank = jobs_for(tmp_path, 1, (0, 1, 2, 3, 4)), ImageBank(tmp_path)
    broken, whole = Counting(hangs_after), Counting()
    with pytest.raises(Drained, match="0 of 5"):
        rollout(broken, 0.05)
    episodes = rollout(whole, 60)
    assert broken.given + whole.given == Counter({(seed, turn): 1 for seed in range(5) for turn in range(4)})
    assert len((tmp_path / "journal.txt").read_text().split()) == 2 * 5, "nor is a tool run twice"
    assert not list(tmp_path.glob("work/shard-*/journal/*")), "notes of what is finished are dropped"
    fresh = run(tmp_path / "fresh", jobs_for(tmp_path / "fresh", 1, (0, 1, 2, 3, 4)), Walker())
    assert without_times(episodes) == without_times(fresh)


def test_damaged_notes_cost_one_investigation_its_beginning_and_nobody_an_attempt(tmp_path: Path) -> None:
    jobs, bank = jobs_for(tmp_path, 1, (0, 1)), ImageBank(tmp_path)
    store = RolloutStore(tmp_path / "work")
    notes = store.journal(jobs[0].episode_id("walker"), 0)
    notes.answered(Turn(text="?"))
    (path,) = (tmp_path / "work").rglob("journal/*.jsonl")
    path.write_text("{}\nno JSON\n")
    asked = {"bank": bank, "folder": tmp_path / "work", "concurrency": 2, "journal": True}
    rollout = run_episodes(jobs, Counting(), Tools(bank), AgentParams(), **asked)  # type: ignore[arg-type]
    assert {episode.termination for episode in asyncio.run(rollout)} == {Termination.FINISHED}
    assert store.failed_attempts() == {}


def test_a_reply_that_never_came_is_asked_for_again_and_one_that_may_not_be_used_ends_the_attempt(
    tmp_path: Path,
) -> None:
    class Faulty(Counting):
        def __init__(self, error: Exception) -> None:
            super().__init__()
            self.error: Exception | None = error

        async def answer(self, conversation: Conversation) -> Turn:
            if conversation.stage == "report" and conversation.seed == 0 and self.error:
                error, self.error = self.error, None
                raise error
            return await super().answer(conversation)

    for error, times in ((ServiceError("model", "reset"), 1), (Quarantined("model", "cut off", b""), 2)):
        folder = tmp_path / type(error).__name__
        policy, bank = Faulty(error), ImageBank(folder)
        asked = {"bank": bank, "folder": folder / "work", "concurrency": 2, "journal": True}
        rollout = run_episodes(jobs_for(folder, 1, (0, 1)), policy, Tools(bank), AgentParams(), **asked)  # type: ignore[arg-type]
        assert {episode.termination for episode in asyncio.run(rollout)} == {Termination.FINISHED}
        assert policy.given[0, 0] == policy.given[0, 2] == times
        assert policy.given[1, 0] == 1


def test_a_policy_that_loses_a_turn_stops_the_rollout(tmp_path: Path) -> None:
    class Forgetful(Walker):
        def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
            return super().act(conversations)[1:]

    with pytest.raises(EviflowError, match="1 turns for 2 conversations"):
        run(tmp_path, jobs_for(tmp_path, 3), Forgetful())


def test_a_fault_of_a_tool_is_attributed_to_one_investigation(tmp_path: Path) -> None:
    jobs = jobs_for(tmp_path, 3)

    class Fragile(Tools):
        def toolbox(self, case: Case, image: bytes) -> object:  # type: ignore[override]
            toolbox = super().toolbox(case, image)
            if case == jobs[1].case:
                toolbox.state.used = None  # type: ignore[assignment]
            return toolbox

    episodes = run(tmp_path, jobs, Walker(), tools=Fragile(ImageBank(tmp_path)))  # type: ignore[arg-type]
    assert [episode.termination for episode in episodes] == [
        Termination.FINISHED,
        Termination.POLICY_ERROR,
        Termination.FINISHED,
    ]


def test_a_case_without_its_picture_is_recorded_and_the_others_go_on(tmp_path: Path) -> None:
    lost = Case(case_id="lost", image_path="nowhere.png", image_sha256="f" * 64)
    episodes = run(tmp_path, [Job(lost, 0), *jobs_for(tmp_path, 2)], Walker())
    assert [episode.termination.value for episode in episodes] == ["policy_error", "finished", "finished"]
    assert episodes[0].steps == ()


def test_a_direct_job_reports_at_once(tmp_path: Path) -> None:
    episode = run(tmp_path, [job._replace(direct=True) for job in jobs_for(tmp_path, 1)], ReportOnly())[0]
    assert [step.kind for step in episode.steps] == [StepKind.REPORT]
    assert episode.exposed_tools == ()


class ReportOnly(Walker):
    def turn(self, conversation: Conversation) -> Turn:
        assert conversation.stage == "report"
        return Turn(
            text='<think>\n.\n</think>\n\n<answer>\n{"verdict":"refuted","explanation":"a","cited":[]}\n</answer>'
        )


def test_the_same_episode_twice_is_a_mistake(tmp_path: Path) -> None:
    jobs = jobs_for(tmp_path, 1)
    with pytest.raises(ValueError, match="same episode"):
        run(tmp_path, [*jobs, *jobs], Walker())


def test_a_replay_gives_the_same_episodes(tmp_path: Path) -> None:
    jobs = jobs_for(tmp_path, 3, (0, 1))
    original = run(tmp_path, jobs, Walker())
    again = run(tmp_path / "again", jobs_for(tmp_path / "again", 3, (0, 1)), ReplayPolicy(original, name="walker"))
    assert without_times(again) == without_times(original)


def test_a_replay_of_something_else_fails(tmp_path: Path) -> None:
    original = run(tmp_path, jobs_for(tmp_path, 1), Walker())
    other = run(tmp_path / "other", jobs_for(tmp_path / "other", 1, (5,)), ReplayPolicy(original))
    assert other[0].termination is Termination.POLICY_ERROR


def test_sigterm_ends_a_run_politely(tmp_path: Path) -> None:
    command = [sys.executable, str(Path(__file__).with_name("rollout_child.py")), str(tmp_path), "12"]
    child = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(REPOSITORY)}, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while len(RolloutStore(tmp_path / "work")) < 5 and time.monotonic() < deadline:
        time.sleep(0.005)
    child.send_signal(signal.SIGTERM)
    _, told = child.communicate(timeout=30)
    store = RolloutStore(tmp_path / "work")
    assert child.returncode == 143
    assert f"ended on request with {len(store)} of 24 episodes" in told.decode()
    looked = Counter((tmp_path / "journal.txt").read_text().split())
    assert sum(looked.values()) == 2 * len(store) < 48, "what had begun came to its end"


def test_a_killed_run_goes_on_and_repeats_nothing(tmp_path: Path) -> None:
    command = [sys.executable, str(Path(__file__).with_name("rollout_child.py")), str(tmp_path), "12"]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}

    def finished() -> dict[str, Episode]:
        return RolloutStore(tmp_path / "work").episodes()

    child = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while len(finished()) < 5 and time.monotonic() < deadline:
        time.sleep(0.005)
    child.send_signal(signal.SIGKILL)
    child.wait()
    before = finished()
    assert 5 <= len(before) < 24, "the kill came too late"
    looked_before = Counter((tmp_path / "journal.txt").read_text().split())

    subprocess.run(command, env=environment, stderr=subprocess.DEVNULL, check=True)
    after = finished()
    assert {name: after[name] for name in before} == before
    assert len(after) == 24
    looked = Counter((tmp_path / "journal.txt").read_text().split()) - looked_before
    unfinished = Counter(name.split("--")[0] for name in after.keys() - before.keys())
    assert looked == {case: 2 * episodes for case, episodes in unfinished.items()}, "only unfinished ones ran again"

    fresh = run(tmp_path / "fresh", jobs_for(tmp_path / "fresh", 12, (0, 1)), Walker())
    assert without_times(fresh) == without_times(sorted(after.values(), key=lambda episode: episode.episode_id))
