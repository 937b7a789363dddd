"""Candidates of a small world, drawn and not screened, and people who decide on them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from components.config.paths import Paths
from components.config.schema import BenchmarkParams, PanelParams, Params, WorldParams
from components.curation.benchmark import read_facts
from components.curation.build import build_world
from components.curation.prepare import Prepared, prepare
from components.curation.render import gold_record, render
from components.records.case import Case, Gold, Split
from components.records.funnel import Screening
from components.records.image_bank import ImageBank, asset_path
from components.review.decisions import Choice, Draft, Queue
from components.review.desk import Desk
from components.review.items import case_items
from components.review.panel import Panel, review_folder, save_panel
from components.storage.atomic import read_jsonl, write_json, write_jsonl

SCRIPTED = Params(
    world=WorldParams(train_events=6, test_events=4), benchmark=BenchmarkParams(images_per_event=2, supported_share=0.4)
)
PEOPLE = SCRIPTED.model_copy(update={"panel": PanelParams(reviewers="people")})
PANEL = Panel(reviewers=("ada", "ben"), adjudicator="eve")
Decided = tuple[Choice, Mapping[str, str], str]
"""Choice, edits and comment."""
ACCEPT: Decided = (Choice.ACCEPT, {}, "")


def draw_candidates(root: Path) -> Paths:
    """A checkout with 12 training and 8 test candidates."""
    paths = Paths(root)
    build_world(SCRIPTED, paths)
    rows = write_unscreened(paths, prepare(read_facts(paths.facts), SCRIPTED, paths), SCRIPTED)
    counted = {split.value: screening(len(pairs)).model_dump() for split, pairs in rows.items()}
    write_json(paths.metrics / "benchmark.json", {"screening_by_split": counted, "splits": {}, "screening": {}})
    return paths


def write_unscreened(paths: Paths, prepared: Prepared, params: Params) -> dict[Split, list[tuple[Case, Gold]]]:
    """Draw every planned case once and write it as a candidate without looking at it."""
    bank = ImageBank(paths.candidates)
    rows: dict[Split, list[tuple[Case, Gold]]] = {split: [] for split in Split}
    for plan in prepared.plans:
        candidate = render(plan, 0, prepared.facts, params.world)
        digest = bank.put(candidate.data)
        case = Case(case_id=plan.case_id, image_path=asset_path(digest), image_sha256=digest)
        rows[plan.event.split].append((case, gold_record(candidate, prepared.research)))
    for split, pairs in rows.items():
        write_jsonl(paths.candidates / f"{split.value}.jsonl", [case for case, _ in pairs])
        write_jsonl(paths.candidates_gold / f"{split.value}.jsonl", [gold for _, gold in pairs])
    return rows


def screening(kept: int) -> Screening:
    """As if one drawing had been rejected for two reasons, and one case dropped."""
    reasons = {"extra_text": 1, "date_unreadable": 1}
    return Screening(planned=kept + 1, drawn=kept + 5, rejected=5, reasons=reasons, redrawn=1, dropped=1, kept=kept)


def cases_of(paths: Paths, split: Split) -> list[Case]:
    return read_jsonl(paths.benchmark / f"{split.value}.jsonl", Case)


def golds_of(paths: Paths) -> dict[str, Gold]:
    """Every released record by case id."""
    return {gold.case_id: gold for split in Split for gold in read_jsonl(paths.gold / f"{split.value}.jsonl", Gold)}


def candidates_of(paths: Paths) -> dict[str, Gold]:
    """Every candidate's record by case id."""
    folder = paths.candidates_gold
    return {gold.case_id: gold for split in Split for gold in read_jsonl(folder / f"{split.value}.jsonl", Gold)}


def let_people_decide(
    paths: Paths,
    special: Mapping[str, Mapping[str, Decided]] | None = None,
    names: Sequence[str] = ("ada", "ben", "eve"),
) -> Desk:
    """Let some of the three decide on everything that is theirs: `special` by item and person, else accept."""
    save_panel(paths, Queue.CASES, PANEL)
    desk = Desk(PANEL, case_items(paths), review_folder(paths, Queue.CASES))
    for person in (person for person in PANEL.people if person.name in names):
        for row in desk.queue(person):
            choice, edits, comment = (special or {}).get(row.item_id, {}).get(person.name, ACCEPT)
            sight = desk.view(person, row.item_id)
            draft = Draft(
                choice=choice,
                revision=sight.revision,
                digest=sight.digest,
                upon=sight.upon,
                edits=dict(edits),
                comment=comment,
            )
            if row.choice is None:
                desk.decide(person, row.item_id, draft)
    return desk
