import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from components.config.paths import Paths
from components.config.schema import Params
from components.curation.build import BenchmarkSummary, build_benchmark
from components.errors import EviflowError
from components.records.case import (
    DECISIVE_ATTRIBUTE,
    Attribute,
    Case,
    Construction,
    ErrorType,
    Gold,
    Route,
    Split,
    Verdict,
)
from components.records.image_bank import ImageBank, sha256_hex
from components.records.source_access import SourceAccess
from components.storage.atomic import read_jsonl
from components.tools import vision
from components.world.details import DETAILS
from components.world.entities import Facts
from components.world.store import read_pages, read_pictures

pytestmark = pytest.mark.slow
"""Printed text is read with real OCR."""

Built = tuple[Paths, BenchmarkSummary]


def load(paths: Paths, split: Split) -> tuple[list[Case], list[Gold]]:
    return (
        read_jsonl(paths.candidates / f"{split.value}.jsonl", Case),
        read_jsonl(paths.candidates_gold / f"{split.value}.jsonl", Gold),
    )


def every(paths: Paths) -> list[tuple[Case, Gold]]:
    return [pair for split in Split for pair in zip(*load(paths, split), strict=True)]


def test_cases_and_gold_belong_together(small_benchmark: Built) -> None:
    paths, summary = small_benchmark
    for split in Split:
        cases, golds = load(paths, split)
        assert [case.case_id for case in cases] == [gold.case_id for gold in golds]
        assert summary.splits[split].cases == len(cases)
    assert json.loads((paths.metrics / "benchmark.json").read_text())["screening"]["kept"] == len(every(paths))


def test_the_funnel_adds_up(small_benchmark: Built) -> None:
    paths, summary = small_benchmark
    funnel = summary.screening
    assert funnel.planned == 24
    assert funnel.kept + funnel.dropped == funnel.planned
    assert funnel.kept + funnel.rejected == funnel.drawn
    assert funnel.kept == len(every(paths)) >= 23
    splits = summary.screening_by_split
    assert {split: found.kept for split, found in splits.items()} == {
        split: len(load(paths, split)[0]) for split in Split
    }
    for name in ("planned", "drawn", "rejected", "redrawn", "dropped"):
        assert sum(getattr(found, name) for found in splits.values()) == getattr(funnel, name)


def test_the_public_row_shows_only_the_picture(small_benchmark: Built) -> None:
    paths, _ = small_benchmark
    for case, _ in every(paths):
        data = ImageBank(paths.candidates).read(case.image_sha256)
        assert sha256_hex(data) == case.image_sha256
        picture = Image.open(io.BytesIO(data))
        picture.load()
        assert picture.info == {}
        assert set(case.model_dump()) == {"case_id", "image_path", "image_sha256"}
        assert not [value for value in ErrorType if value.value in case.case_id]


def test_a_refuted_case_departs_in_its_decisive_attribute_alone(small_benchmark: Built) -> None:
    for _, gold in every(small_benchmark[0]):
        attributes = [check.attribute for check in gold.checks]
        assert attributes == sorted(attributes, key=list(Attribute).index)
        assert {Attribute.DATE, Attribute.VENUE, Attribute.HOST, Attribute.COUNT} < set(attributes)
        assert len(set(DETAILS) & set(attributes)) == 1
        wrong = [check.attribute for check in gold.checks if not check.holds]
        if gold.factual_status is Verdict.SUPPORTED:
            assert (wrong, gold.error_type) == ([], None)
        else:
            assert gold.error_type is not None
            assert wrong == [DECISIVE_ATTRIBUTE[gold.error_type]]


def test_evidence_stands_word_for_word_on_the_official_page(small_benchmark: Built) -> None:
    paths, _ = small_benchmark
    pages = {page.url: page.markdown for page in read_pages(paths.web)}
    for _, gold in every(paths):
        of_record = gold.acceptable_evidence[: len(gold.checks)]
        for evidence, check in zip(of_record, gold.checks, strict=True):
            assert check.documented in evidence.exact_span
            assert evidence.stance == ("supports" if check.holds else "refutes")
        for evidence in gold.acceptable_evidence:
            assert evidence.canonical_url in gold.official_urls
            assert evidence.exact_span in pages[evidence.canonical_url]


def test_a_recirculated_picture_names_the_page_it_was_taken_from(small_benchmark: Built) -> None:
    for _, gold in every(small_benchmark[0]):
        origin = gold.acceptable_evidence[len(gold.checks) :]
        if gold.error_type is not ErrorType.EVENT_RECONTEXTUALIZATION:
            assert not origin
            assert len(gold.official_urls) == 1
            continue
        photo = next(check for check in gold.checks if check.attribute is Attribute.PHOTO)
        assert [evidence.canonical_url for evidence in origin] == [gold.official_urls[1]]
        assert photo.depicted in origin[0].exact_span


def test_both_kinds_of_event_are_pictured(small_benchmark: Built) -> None:
    for _, gold in every(small_benchmark[0]):
        assert (gold.construction is None) is (gold.route == Route.WEB)
    assert {gold.construction for _, gold in every(small_benchmark[0]) if gold.construction} == set(Construction)


def test_some_pictures_are_those_that_circulate_and_where_from_is_excluded(small_benchmark: Built) -> None:
    paths, summary = small_benchmark
    web, posted = ImageBank(paths.web), {picture.image_url: picture for picture in read_pictures(paths.web)}
    collected = [(case, gold) for case, gold in every(paths) if gold.route == Route.WEB]
    assert collected
    urls = []
    for case, gold in collected:
        source = gold.provenance.source if gold.provenance else None
        assert source is not None
        urls += source.addresses
        assert posted[source.image_url].page_url == source.post_url
        assert case.image_sha256 == posted[source.image_url].sha256
        assert ImageBank(paths.candidates).read(case.image_sha256) == web.read(case.image_sha256)
    text = (paths.candidates / "source_access.json").read_text("utf-8")
    assert SourceAccess.model_validate_json(text).excluded_urls == tuple(sorted(urls))
    assert not [case.case_id for case, _ in every(paths) if case.case_id in text or case.image_sha256 in text]
    for split in Split:
        counts = [summary.splits[split].routes[route] for route in Route]
        assert sum(route.supported + sum(route.refuted.values()) for route in counts) == summary.splits[split].cases


def test_drawn_and_collected_pictures_are_files_of_one_kind(small_benchmark: Built) -> None:
    bank = ImageBank(small_benchmark[0].candidates)
    kinds: dict[str, set[tuple[object, ...]]] = {route: set() for route in Route}
    for case, gold in every(small_benchmark[0]):
        with Image.open(io.BytesIO(bank.read(case.image_sha256))) as image:
            kinds[gold.route].add((image.format, image.mode, image.size, *image.info))
    assert kinds[Route.WEB] == kinds[Route.CONSTRUCTED]


def test_the_picture_shows_what_gold_says(small_benchmark: Built) -> None:
    paths, _ = small_benchmark
    for case, gold in every(paths):
        picture = ImageBank(paths.candidates).open(case.image_sha256)
        shown = {check.attribute: check.depicted for check in gold.checks}
        assert str(vision.count_kind(picture, gold.object_kind)) == shown[Attribute.COUNT]


def test_substituted_hosts_are_known_people(small_benchmark: Built) -> None:
    paths, _ = small_benchmark
    facts = Facts.model_validate_json(paths.facts.read_text("utf-8"))
    for _, gold in every(paths):
        guests = any(check.attribute is Attribute.GUEST for check in gold.checks)
        swapped = gold.error_type in (ErrorType.IDENTITY_SUBSTITUTION, ErrorType.INVENTED_INTERACTION)
        assert len(gold.person_ids) == 1 + guests + swapped
        assert all(person in facts.person for person in gold.person_ids)


def test_splits_share_no_event_person_or_picture(small_benchmark: Built) -> None:
    paths, _ = small_benchmark
    train, test = (load(paths, split) for split in Split)
    assert not {gold.event_id for gold in train[1]} & {gold.event_id for gold in test[1]}
    assert not {one for gold in train[1] for one in gold.person_ids} & {
        one for gold in test[1] for one in gold.person_ids
    }
    assert not {case.image_sha256 for case in train[0]} & {case.image_sha256 for case in test[0]}


def test_equal_parameters_give_equal_bytes(small_params: Params, small_benchmark: Built, tmp_path: Path) -> None:
    paths, _ = small_benchmark
    again = Paths(tmp_path)
    shutil.copytree(paths.web, again.web)
    shutil.copytree(paths.cache, again.cache)
    again.facts.parent.mkdir(parents=True)
    shutil.copy(paths.facts, again.facts)
    build_benchmark(small_params, again)
    for folder in ("candidates", "candidates_gold"):
        first, second = getattr(paths, folder), getattr(again, folder)
        names = sorted(str(path.relative_to(first)) for path in first.rglob("*") if path.is_file())
        assert names == sorted(str(path.relative_to(second)) for path in second.rglob("*") if path.is_file())
        assert all((first / name).read_bytes() == (second / name).read_bytes() for name in names)


def test_pixel_statistics_do_not_tell_the_verdict(small_benchmark: Built) -> None:
    bank = ImageBank(small_benchmark[0].candidates)
    sizes: dict[Verdict, set[tuple[int, int]]] = {verdict: set() for verdict in Verdict}
    for case, gold in every(small_benchmark[0]):
        sizes[gold.factual_status].add(np.asarray(bank.open(case.image_sha256)).shape[:2])
    assert sizes[Verdict.SUPPORTED] == sizes[Verdict.REFUTED] == {(240, 320)}


def test_without_a_world_the_stage_says_what_to_do(small_params: Params, tmp_path: Path) -> None:
    with pytest.raises(EviflowError, match=r"facts\.json is missing; build the world"):
        build_benchmark(small_params, Paths(tmp_path))
