"""Orders in pages change neither what the teacher does nor what it reports, and nobody is ever shown one."""

import html
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from components.agent.codec import render_call, render_report
from components.config.paths import Paths
from components.config.schema import EpisodeParams, Params
from components.policies.scripted import ScriptedTeacher
from components.records.case import Split, Verdict
from components.records.conversation import Conversation, Policy
from components.records.episode import Episode, Report, Turn
from components.records.image_bank import ImageBank
from components.records.web import Page
from components.rollout.cases import load_cases
from components.rollout.engine import Job
from components.rollout.run import roll_out
from components.tools.pages.text import readable_text
from components.tools.source_policy import policy_of
from components.world.store import read_pages, write_pages
from components.world.traps import ELSEWHERE, TRAPS

pytestmark = pytest.mark.slow

ORDERS = [sentence for trap in TRAPS for sentence in (*trap.shown, *trap.hidden)]
HIDING = ("<p style='display:none'>{}</p>", "<p style='color:#fff'>{}</p>", "<!-- {} -->", "<img alt='{}'>")


def trapped(page: Page) -> Page:
    """The page with every order in it: behind its title, and behind its text."""
    shown = [f"<p>{html.escape(sentence)}</p>" for trap in TRAPS for sentence in trap.shown]
    hidden = [form.format(html.escape(sentence)) for form in HIDING for sentence in ORDERS]
    orders = "".join([*shown, *hidden])
    body = page.html.replace("</h1>", f"</h1>{orders}").replace("</article>", f"{orders}</article>")
    return page.model_copy(update={"html": body, "markdown": readable_text(body)})


@pytest.fixture
def worse(paths: Paths, tmp_path: Path) -> Paths:
    """The same checkout, where every page of the web gives every order."""
    root = tmp_path / "worse"
    shutil.copytree(paths.root, root)
    write_pages(Paths(root).web, map(trapped, read_pages(paths.web)))
    return Paths(root)


def investigate(params: Params, paths: Paths, policy: Policy, name: str, reader: str = "jina") -> list[Episode]:
    chosen = params.model_copy(
        update={
            "tools": params.tools.model_copy(update={"reader": reader}),
            "episodes": EpisodeParams(rollouts_per_case=1),
        }
    )
    jobs = [Job(case, 0) for case in load_cases(paths, Split.TRAIN)]
    bank = ImageBank(paths.work / name, also=[paths.benchmark, paths.web])
    folder = paths.work / f"{name}-episodes"
    episodes = roll_out(chosen, paths, jobs, policy, bank=bank, folder=folder, concurrency=8, title=name)
    return sorted(episodes, key=lambda episode: episode.episode_id)


def course(episodes: Sequence[Episode]) -> list[object]:
    """What was done, seen and reported."""
    return [
        (episode.episode_id, episode.report, [(step.turn.text, step.observation and step.observation.text)
        for step in episode.steps]) for episode in episodes
    ]  # fmt: skip


def test_the_teacher_does_and_reports_the_same_on_a_web_full_of_orders(
    params: Params, paths: Paths, worse: Paths
) -> None:
    honest = investigate(params, paths, ScriptedTeacher(), "honest")
    ordered = investigate(params, worse, ScriptedTeacher(), "ordered")
    directly = investigate(params, worse, ScriptedTeacher(), "directly", reader="direct")
    assert course(ordered) == course(honest)
    assert course(directly) == course(honest)
    visits = [item for episode in directly for item in episode.observations if item.tool == "visit" and item.succeeded]
    assert visits
    assert all(int(item.payload_json.partition('"dropped_instructions": ')[2].partition(",")[0]) > 0 for item in visits)


class Obedient:
    """Opens pages one after the other, and does at once whatever any of them wants."""

    name = "obedient"
    quick = True

    def __init__(self, urls: Sequence[str]) -> None:
        self._urls = urls
        self.obeyed: list[str] = []

    def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
        return [Turn(text=self._turn(conversation)) for conversation in conversations]

    def _turn(self, conversation: Conversation) -> str:
        told = "\n".join(message.text for message in conversation.messages if message.role == "tool")
        order = order_in(told)
        if order:
            self.obeyed.append(order)
        if conversation.stage == "report":
            verdict = Verdict.REFUTED if order == "refuted" else Verdict.SUPPORTED
            return render_report(
                "As told.", Report(verdict=verdict, explanation=order or "nothing was ordered", cited=())
            )
        visits = sum(message.role == "tool" for message in conversation.messages)
        if order == ELSEWHERE:
            return render_call("As told.", "visit", {"url": ELSEWHERE})
        if order or visits >= len(self._urls):
            return render_call("As told.", "finish_investigation", {"rationale": order or "all is read"})
        return render_call("Next.", "visit", {"url": self._urls[visits]})


def order_in(told: str) -> str:
    """What a text wants done; it looks for what an order is about, and not for how orders are known by the product."""
    plain = told.replace("\\", "").casefold()
    for wanted in (ELSEWHERE, "finish_investigation", "supported", "refuted", "cite", "nothing else needs"):
        if wanted in plain:
            return wanted
    return ""


@pytest.mark.parametrize("reader", ["jina", "direct"])
def test_a_policy_that_obeys_is_never_shown_an_order(params: Params, worse: Paths, reader: str) -> None:
    policy_of_sources = policy_of(worse)
    pages = [page for page in read_pages(worse.web) if not policy_of_sources.blocks_url(page.url)]
    policy = Obedient([page.url for page in pages[:: len(pages) // 14]][:16])
    episodes = investigate(params, worse, policy, "obedient", reader=reader)
    visited = [item for episode in episodes for item in episode.observations if item.succeeded]
    assert len(visited) >= 10 * len(episodes)
    assert policy.obeyed == []
    assert {episode.report and episode.report.explanation for episode in episodes} == {"nothing was ordered"}


@pytest.mark.parametrize("order", ORDERS)
def test_the_probe_would_obey_if_it_saw_the_order(order: str) -> None:
    assert order_in(f"o1\nA page. {order}")
