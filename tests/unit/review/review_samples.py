"""A small checkout to review, written out by hand, with a page that tries to run a script."""

import io
import shutil
from pathlib import Path

from PIL import Image

from components.config.paths import Paths
from components.records.case import Attribute, Case, Check, ErrorType, Evidence, Gold, Split, Verdict
from components.records.episode import (
    Episode,
    FailureClass,
    Observation,
    Report,
    Step,
    StepKind,
    Termination,
    ToolCall,
    Turn,
)
from components.records.image_bank import ImageBank, asset_path
from components.records.shards import write_episodes
from components.records.web import Page, SiteKind, WebPicture
from components.review.decisions import Choice, Draft, Role
from components.review.desk import Desk, Sight
from components.review.items import CaseItem, case_items
from components.review.panel import Panel, Person
from components.storage.atomic import write_jsonl
from components.world.store import write_pages, write_pictures

HOSTILE = "<script>alert('x')</script> & {{ 7 * 7 }}"
TRUE = {"date": "14 March 2031", "venue": "Rowan Hall", "host": "Mara Venn", "count": "9"}
SPAN = "Harvest Gala was held on 14 March 2031 at Rowan Hall."
PANEL = Panel(reviewers=("ada", "ben"), adjudicator="eve")
ADA, BEN = Person("ada", Role.REVIEWER), Person("ben", Role.REVIEWER)
EVE = Person("eve", Role.ADJUDICATOR)


def url(number: int) -> str:
    return f"https://gala-{number}.example/2031"


def case_id(number: int) -> str:
    return f"test-{number:04d}"


def make_gold(number: int) -> Gold:
    """A supported case for an even number, one with an altered date for an odd one."""
    refuted = number % 2 == 1
    checks = tuple(
        Check(
            attribute=Attribute(name),
            depicted="12 March 2031" if refuted and name == "date" else value,
            documented=value,
        )
        for name, value in TRUE.items()
    )
    evidence = tuple(
        Evidence(
            source_id=f"e{number}:{name}",
            canonical_url=url(number),
            exact_span=SPAN,
            stance="refutes" if refuted and name == "date" else "supports",
        )
        for name in ("date", "venue")
    )
    return Gold(
        case_id=case_id(number),
        factual_status=Verdict.REFUTED if refuted else Verdict.SUPPORTED,
        target_claim=f"Harvest Gala {number} was held at Rowan Hall.",
        acceptable_evidence=evidence,
        checks=checks,
        object_kind="lantern",
        error_type=ErrorType.TEMPORAL_DISPLACEMENT if refuted else None,
        event_id=f"e{number}",
        event_title=f"Harvest Gala {number}",
        person_ids=("mara",),
        official_urls=(url(number),),
        style="plain",
    )


def make_page(number: int) -> Page:
    text = f"{HOSTILE} {SPAN} The host was Mara Venn."
    return Page(
        url=url(number), title=HOSTILE, kind=SiteKind.OFFICIAL, published="2031-03-15", html="<p></p>", markdown=text
    )


def picture(bank: ImageBank, shade: int) -> str:
    buffer = io.BytesIO()
    Image.new("RGB", (64, 48), (shade, 80, 120)).save(buffer, format="PNG")
    return bank.put(buffer.getvalue())


def write_checkout(root: Path, cases: int) -> Paths:
    """A checkout with so many test candidates, all released, and as many episodes of its only training case."""
    paths = Paths(root)
    root.mkdir(parents=True, exist_ok=True)
    (root / "params.yaml").touch()
    bank, web = ImageBank(paths.candidates), ImageBank(paths.web)
    shown = [make_case(case_id(number), picture(bank, number)) for number in range(cases)]
    write_jsonl(paths.candidates / "test.jsonl", shown)
    write_jsonl(paths.candidates / "train.jsonl", shown[:1])
    write_jsonl(paths.candidates_gold / "test.jsonl", [make_gold(number) for number in range(cases)])
    write_jsonl(paths.candidates_gold / "train.jsonl", [make_gold(0)])
    for reviewed, released in ((paths.candidates, paths.benchmark), (paths.candidates_gold, paths.gold)):
        shutil.copytree(reviewed, released)
    write_pages(paths.web, [make_page(number) for number in range(cases)])
    photo = picture(web, 200)
    write_pictures(
        paths.web,
        [
            WebPicture(
                image_url=f"{url(number)}/photo.png",
                page_url=url(number),
                title=f"Photo {HOSTILE}",
                sha256=photo,
                width=64,
                height=48,
            )
            for number in range(cases)
        ],
    )
    write_episodes(paths.episodes / "episodes.parquet", [make_episode(shown[0], seed) for seed in range(cases)])
    return paths


def make_case(name: str, digest: str) -> Case:
    return Case(case_id=name, image_path=asset_path(digest), image_sha256=digest)


def make_episode(case: Case, seed: int) -> Episode:
    """Two steps and a report; the second step failed."""
    call = ToolCall(name="visit", arguments_json='{"url": "https://gala.example/"}')
    seen = Observation(observation_id="o1", tool="visit", status="success", text=HOSTILE, images=(case.image_sha256,))
    lost = Observation(
        observation_id="o2", tool="visit", status="error", failure=FailureClass.INFRASTRUCTURE, text="no answer"
    )
    steps = (
        Step(index=0, kind=StepKind.ACTION, turn=Turn(text="t"), thought=HOSTILE, call=call, observation=seen),
        Step(index=1, kind=StepKind.ACTION, turn=Turn(text="t"), call=call, observation=lost),
        Step(index=2, kind=StepKind.REPORT, turn=Turn(text="report")),
    )
    return Episode(
        episode_id=f"{case.case_id}--scripted--s{seed}",
        case=case,
        policy="scripted",
        seed=seed,
        exposed_tools=("visit",),
        action_budget=24,
        steps=steps,
        report=Report(verdict=Verdict.SUPPORTED, explanation=HOSTILE, cited=("o1",)),
        termination=Termination.FINISHED,
        started_at="2031-01-01T00:00:00+00:00",
        duration_s=1.0,
    )


def make_desk(paths: Paths) -> Desk:
    return Desk(PANEL, items_of(paths), paths.reviews / "cases")


def items_of(paths: Paths) -> list[CaseItem]:
    return case_items(paths, [Split.TEST])


def draft(sight: Sight, choice: Choice, **other: object) -> Draft:
    """A decision upon what is in view; a rejection with a reason."""
    values = {"choice": choice, "revision": sight.revision, "digest": sight.digest, "upon": sight.upon}
    reason = {"comment": "blurred"} if choice is Choice.REJECT else {}
    return Draft.model_validate(values | reason | other)


def decide(desk: Desk, person: Person, item_id: str, choice: Choice, **other: object) -> None:
    desk.decide(person, item_id, draft(desk.view(person, item_id), choice, **other))
