"""The two stages that make data out of parameters: the closed world, and EviLens-F."""

from pydantic import BaseModel

from components.config.paths import SOURCE_ACCESS, Paths
from components.config.schema import Params
from components.curation.benchmark import SplitCounts, make_cases, read_facts
from components.curation.collecting.collect import collect
from components.curation.evidence_check import ensure_documented
from components.curation.leakage import require_no_leaks
from components.curation.pixels import PixelCheck, check_pixels_of
from components.curation.prepare import prepare
from components.curation.screen import Screen
from components.curation.web import write_web
from components.records.case import Split
from components.records.funnel import Screening
from components.records.image_writer import new_shards
from components.records.source_access import excluding
from components.storage.atomic import replace_folder, write_json, write_jsonl
from components.world.facts import build_facts


class WorldSummary(BaseModel):
    """What stage `world` built."""

    people: int
    events: int
    """Events that cases are made from."""
    near_misses: int
    pages: int
    pictures: int


class BenchmarkSummary(BaseModel):
    """What stage `benchmark` built; also written to `reports/data/benchmark.json`."""

    splits: dict[Split, SplitCounts]
    screening: Screening
    screening_by_split: dict[Split, Screening]
    pixels: PixelCheck | None
    """Whether verdicts can be told from pixels alone; None for a benchmark too small to learn from."""


def build_world(params: Params, paths: Paths) -> WorldSummary:
    """Build the closed world: facts (private), pages and pictures (public).

    Equal parameters give equal bytes. The public folder appears whole or not at all.

    Raises:
        UsageError: more events are asked for than names can tell apart.

    """
    facts = build_facts(params.world)
    with replace_folder(paths.web) as folder:
        pages, pictures = write_web(facts, params.world, folder)
        write_json(paths.facts, facts)
    main = len(facts.main_events)
    return WorldSummary(
        people=len(facts.people), events=main, near_misses=len(facts.events) - main, pages=pages, pictures=pictures
    )


def build_benchmark(params: Params, paths: Paths) -> BenchmarkSummary:
    """Build the candidates of EviLens-F from the world: cases with pictures, gold records, a count of both.

    Some pictures are collected where they circulate, the others drawn. Where they were collected is written too, so
    that no investigation goes there.

    They are laid out as the release is, and become it once reviewers have decided on each (stage `panel`).

    Equal parameters give equal bytes. The folders appear whole or not at all; a killed run reads no picture twice,
    since printed text that was read once is in the cache.

    Raises:
        EviflowError: the world is not built, a page does not say what a gold record cites it for, or something leaks.

    """
    facts = read_facts(paths.facts)
    screen = Screen()
    prepared = prepare(facts, params, paths, collect(facts, params, paths, screen))
    with replace_folder(paths.candidates) as folder, replace_folder(paths.candidates_gold) as private:
        with new_shards(folder) as bank:
            screened = make_cases(prepared, params, paths, screen, bank)
        ensure_documented(screened.golds, params, paths)
        for split in Split:
            cases, golds = screened.of(split)
            write_jsonl(folder / f"{split.value}.jsonl", cases)
            write_jsonl(private / f"{split.value}.jsonl", golds)
        write_json(folder / SOURCE_ACCESS, excluding(screened.golds))
        require_no_leaks(folder, private, paths.web)
        pixels = check_pixels_of(folder, private)
    summary = BenchmarkSummary(
        splits={split: screened.counts(split) for split in Split},
        screening=screened.screening(),
        screening_by_split={split: screened.screening(split) for split in Split},
        pixels=pixels,
    )
    write_json(paths.metrics / "benchmark.json", summary)
    return summary
