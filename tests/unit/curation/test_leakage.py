import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from components.config.paths import Paths
from components.curation.build import BenchmarkSummary
from components.curation.leakage import Leak, LeakKind, find_leaks, require_no_leaks
from components.errors import EviflowError
from components.records.case import Evidence, Gold, Provenance, Split, Verdict, WebSource
from components.records.image_bank import ImageBank, sha256_hex
from components.records.source_access import excluding
from components.records.web import WebPicture
from components.storage.atomic import write_json, write_jsonl
from components.world.store import write_pictures

CASES = 60


class Release:
    """A benchmark in memory, fair until something is planted in it."""

    def __init__(self) -> None:
        rng = random.Random(5)
        self.rows: dict[Split, list[dict[str, Any]]] = {split: [] for split in Split}
        self.gold: dict[Split, list[Gold]] = {split: [] for split in Split}
        self.pictures: dict[str, bytes] = {}
        for split in Split:
            verdicts = [Verdict.SUPPORTED, Verdict.REFUTED] * (CASES // 2)
            rng.shuffle(verdicts)
            for number, verdict in enumerate(verdicts):
                self.add(split, number, verdict)

    def add(self, split: Split, number: int, verdict: Verdict) -> None:
        case_id, key = f"{split.value}-{number:05d}", f"{split.value}-event-{number // 2}"
        url = f"https://{key}.example/2031"
        gold = Gold(
            case_id=case_id,
            candidate_id=sha256_hex(case_id.encode())[:16],
            factual_status=verdict,
            target_claim="",
            acceptable_evidence=(
                Evidence(source_id=f"{key}:date", canonical_url=url, exact_span="", stance="refutes"),
            ),
            checks=(),
            object_kind="",
            event_id=key,
            event_title=f"Gala {key}",
            person_ids=(f"{split.value}-person-{number // 2}",),
            official_urls=(url,),
            style="poster",
        )
        self.gold[split].append(gold)
        self.rows[split].append({"case_id": case_id})
        self.show(split, number, encoded(noise(f"{split.value}-{number}")))

    def show(self, split: Split, at: int, data: bytes) -> None:
        """Give a case another picture."""
        digest = sha256_hex(data)
        self.pictures[digest] = data
        self.rows[split][at] |= {"image_path": f"assets/sha256/{digest[:2]}/{digest}.png", "image_sha256": digest}

    def change(self, split: Split, at: int, **changes: object) -> None:
        """Give a case's gold record other values."""
        self.gold[split][at] = self.gold[split][at].model_copy(update=changes)

    def write(self, root: Path) -> tuple[Path, Path]:
        public, private = root / "public", root / "private"
        bank = ImageBank(public)
        for data in self.pictures.values():
            bank.put(data)
        for split in Split:
            text = "".join(json.dumps(row) + "\n" for row in self.rows[split])
            (public / f"{split.value}.jsonl").write_text(text)
            write_jsonl(private / f"{split.value}.jsonl", self.gold[split])
        return public, private


def noise(seed: str, size: tuple[int, int] = (64, 48)) -> Image.Image:
    rng = np.random.default_rng(list(seed.encode()))
    small = Image.fromarray(rng.integers(0, 256, (12, 16, 3), np.uint8))
    return small.resize(size, Image.Resampling.BICUBIC)


def encoded(image: Image.Image, form: str = "PNG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


@pytest.fixture
def release() -> Release:
    return Release()


def test_a_fair_benchmark_has_no_leaks(release: Release, tmp_path: Path) -> None:
    assert find_leaks(*release.write(tmp_path)) == []


def same_case(release: Release) -> str:
    row, gold = release.rows[Split.TEST][3], release.gold[Split.TEST][3]
    row["case_id"] = "train-00009"
    release.gold[Split.TEST][3] = gold.model_copy(update={"case_id": "train-00009"})
    return "train-00009"


def same_candidate(release: Release) -> str:
    release.change(Split.TEST, 3, candidate_id=release.gold[Split.TRAIN][8].candidate_id)
    return release.gold[Split.TRAIN][8].candidate_id


def told_candidate(release: Release) -> str:
    row, gold = release.rows[Split.TEST][3], release.gold[Split.TEST][3]
    row["case_id"] = f"test-{gold.candidate_id}"
    release.gold[Split.TEST][3] = gold.model_copy(update={"case_id": row["case_id"]})
    return gold.candidate_id


def same_event(release: Release) -> str:
    release.change(Split.TEST, 3, event_id="train-event-4")
    return "train-event-4"


def same_person(release: Release) -> str:
    release.change(Split.TEST, 3, person_ids=("test-person-1", "train-person-9"))
    return "train-person-9"


def same_page(release: Release) -> str:
    release.change(Split.TEST, 3, official_urls=("https://train-event-4.example/2031",))
    return "https://train-event-4.example/2031"


def same_source(release: Release) -> str:
    evidence = release.gold[Split.TEST][3].acceptable_evidence[0].model_copy(update={"source_id": "train-event-4:date"})
    release.change(Split.TEST, 3, acceptable_evidence=(evidence,))
    return "train-event-4:date"


def same_picture(release: Release) -> str:
    release.show(Split.TEST, 3, encoded(noise("train-8")))
    return sha256_hex(encoded(noise("train-8")))


def near_picture(release: Release) -> str:
    release.show(Split.TEST, 3, encoded(noise("train-8", (128, 96))))
    return "test-00003"


def extra_field(release: Release) -> str:
    release.rows[Split.TEST][3]["error_type"] = None
    return "test-00003"


def telling_path(release: Release) -> str:
    row = release.rows[Split.TEST][3]
    row["image_path"] = f"assets/{release.gold[Split.TEST][3].factual_status.value}/{row['image_sha256']}.png"
    return "test-00003"


def named_otherwise(release: Release) -> str:
    release.rows[Split.TEST][3]["image_path"] = "assets/gala.png"
    return "test-00003"


def sorted_rows(release: Release) -> str:
    pairs = zip(release.rows[Split.TRAIN], release.gold[Split.TRAIN], strict=True)
    ordered = sorted(pairs, key=lambda pair: pair[1].factual_status)
    release.rows[Split.TRAIN] = [row for row, _ in ordered]
    return "train"


def numbered_by_label(release: Release) -> str:
    for at, gold in enumerate(release.gold[Split.TEST]):
        case_id = f"test-{2 * at + (gold.factual_status is Verdict.REFUTED):05d}"
        release.change(Split.TEST, at, case_id=case_id)
        release.rows[Split.TEST][at]["case_id"] = case_id
    return "test"


def taking_turns(release: Release) -> str:
    for at in range(CASES):
        release.change(Split.TEST, at, factual_status=list(Verdict)[at % 2])
    return "test"


def text_chunk(release: Release) -> str:
    info = PngImagePlugin.PngInfo()
    info.add_text("label", "refuted")
    release.show(Split.TEST, 3, encoded(noise("other"), pnginfo=info))
    return "test-00003"


def exif(release: Release) -> str:
    tags = Image.Exif()
    tags[0x010E] = "refuted"
    release.show(Split.TEST, 3, encoded(noise("other"), "JPEG", exif=tags))
    return "test-00003"


def bytes_behind_the_end(release: Release) -> str:
    release.show(Split.TEST, 3, encoded(noise("other")) + b"refuted")
    return "test-00003"


def refuted(release: Release, picture: Callable[[int], bytes]) -> str:
    for at, gold in enumerate(release.gold[Split.TEST]):
        if gold.factual_status is Verdict.REFUTED:
            release.show(Split.TEST, at, picture(at))
    return "test"


def telling_dimensions(release: Release) -> str:
    return refuted(release, lambda at: encoded(noise(f"test-{at}", (64, 52))))


def telling_format(release: Release) -> str:
    return refuted(release, lambda at: encoded(noise(f"test-{at}").convert("L")))


def telling_length(release: Release) -> str:
    return refuted(release, lambda at: encoded(noise(f"test-{at}"), compress_level=0))


PLANTED = [
    (LeakKind.CASE, same_case),
    (LeakKind.CANDIDATE, same_candidate),
    (LeakKind.CANDIDATE, told_candidate),
    (LeakKind.EVENT, same_event),
    (LeakKind.PERSON, same_person),
    (LeakKind.PAGE, same_page),
    (LeakKind.SOURCE, same_source),
    (LeakKind.PICTURE, same_picture),
    (LeakKind.NEAR_PICTURE, near_picture),
    (LeakKind.FIELD, extra_field),
    (LeakKind.NAME, telling_path),
    (LeakKind.NAME, named_otherwise),
    (LeakKind.ORDER, sorted_rows),
    (LeakKind.ORDER, numbered_by_label),
    (LeakKind.ORDER, taking_turns),
    (LeakKind.METADATA, text_chunk),
    (LeakKind.METADATA, exif),
    (LeakKind.METADATA, bytes_behind_the_end),
    (LeakKind.FILE, telling_dimensions),
    (LeakKind.FILE, telling_format),
    (LeakKind.FILE, telling_length),
]


@pytest.mark.parametrize(("kind", "plant"), PLANTED, ids=[plant.__name__ for _, plant in PLANTED])
def test_what_is_planted_is_found_and_named(
    release: Release, tmp_path: Path, kind: LeakKind, plant: Callable[[Release], str]
) -> None:
    item = plant(release)
    leaks = find_leaks(*release.write(tmp_path))
    assert {leak.kind for leak in leaks} == {kind}
    assert item in {leak.item for leak in leaks}


def test_a_leak_fails_with_the_item_in_the_message(release: Release, tmp_path: Path) -> None:
    require_no_leaks(*Release().write(tmp_path / "fair"))
    same_event(release)
    with pytest.raises(EviflowError, match=r"leaks in 1 places, of which: event train-event-4: in both splits"):
        require_no_leaks(*release.write(tmp_path))


@pytest.mark.slow
def test_the_built_benchmark_has_no_leaks(small_benchmark: tuple[Paths, BenchmarkSummary]) -> None:
    paths, _ = small_benchmark
    leaks: list[Leak] = find_leaks(paths.candidates, paths.candidates_gold, paths.web)
    assert leaks == []
    (paths.candidates / "source_access.json").rename(paths.candidates / "moved.json")
    open_to_all = find_leaks(paths.candidates, paths.candidates_gold, paths.web)
    (paths.candidates / "moved.json").rename(paths.candidates / "source_access.json")
    assert {leak.kind for leak in open_to_all} == {LeakKind.REACHABLE}


def collected(number: int) -> Provenance:
    url = f"https://chirp.example/owl/{number}"
    source = WebSource(post_url=url, image_url=f"{url}/picture.png", posted="2032-01-01", recovered_by="title")
    return Provenance(queries=(), pages=(), tool_calls=0, source=source)


def on_the_web(release: Release, root: Path, number: int) -> Path:
    """A web on which the picture of the first test case stands."""
    digest = release.rows[Split.TEST][0]["image_sha256"]
    url = f"https://chirp.example/owl/{number}"
    picture = WebPicture(image_url=f"{url}/picture.png", page_url=url, title="", sha256=digest, width=64, height=48)
    write_pictures(root / "web", [picture])
    return root / "web"


def test_a_picture_may_stand_on_the_web_where_nobody_comes(release: Release, tmp_path: Path) -> None:
    release.change(Split.TEST, 0, provenance=collected(5))
    public, private = release.write(tmp_path)
    web = on_the_web(release, tmp_path, 5)
    write_json(public / "source_access.json", excluding(release.gold[Split.TEST]))
    assert find_leaks(public, private, web) == []


@pytest.mark.parametrize("number", [5, 6])
def test_a_picture_that_can_be_reached_is_named(release: Release, tmp_path: Path, number: int) -> None:
    release.change(Split.TEST, 0, provenance=collected(5))
    public, private = release.write(tmp_path)
    if number == 6:  # another place than the one that is excluded
        write_json(public / "source_access.json", excluding(release.gold[Split.TEST]))
    leaks = find_leaks(public, private, on_the_web(release, tmp_path, number))
    assert {(leak.kind, leak.item) for leak in leaks} == {(LeakKind.REACHABLE, "test-00000")}
    assert {leak.detail for leak in leaks} == {
        f"its picture is at https://chirp.example/owl/{number}",
        f"its picture is at https://chirp.example/owl/{number}/picture.png",
    }


def test_no_post_is_a_source_of_both_splits(release: Release, tmp_path: Path) -> None:
    for split in Split:
        release.change(split, 0, provenance=collected(5))
    public, private = release.write(tmp_path)
    write_json(public / "source_access.json", excluding(release.gold[Split.TEST]))
    assert {leak.kind for leak in find_leaks(public, private)} == {LeakKind.PAGE}
