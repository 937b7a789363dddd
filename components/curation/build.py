"""The two stages that make data out of parameters: the closed world, and EviLens-F."""

from pydantic import BaseModel

from components.config.paths import Paths
from components.config.schema import Params
from components.curation.benchmark import Screening, SplitCounts, make_cases, read_facts
from components.curation.evidence_check import ensure_documented
from components.curation.prepare import prepare
from components.curation.references import References
from components.curation.screen import Screen
from components.curation.web import write_web
from components.records.case import Split
from components.records.image_bank import ImageBank
from components.storage.atomic import replace_folder, write_json, write_jsonl
from components.tools.ocr import OcrEngine
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
    """Build EviLens-F from the world: public cases with pictures, private gold records, a count of both.

    Equal parameters give equal bytes. The folders appear whole or not at all; a killed run reads no picture twice,
    since printed text that was read once is in the cache.

    Raises:
        EviflowError: the world is not built, or a page does not say what a gold record cites it for.

    """
    facts = read_facts(paths.facts)
    screen = Screen(OcrEngine(params.tools, paths.cache), References(facts, paths.web))
    with replace_folder(paths.benchmark) as folder, replace_folder(paths.gold) as private:
        screened = make_cases(prepare(facts, params, paths), params, screen, ImageBank(folder), paths.cache)
        ensure_documented(screened.golds, params, paths)
        for split in Split:
            cases, golds = screened.of(split)
            write_jsonl(folder / f"{split.value}.jsonl", cases)
            write_jsonl(private / f"{split.value}.jsonl", golds)
    summary = BenchmarkSummary(
        splits={split: screened.counts(split) for split in Split}, screening=screened.screening()
    )
    write_json(paths.metrics / "benchmark.json", summary)
    return summary
