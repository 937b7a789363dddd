import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from components.config.schema import Params
from components.curation.pixels import Example, PixelCheck, check_pixels, check_pixels_of
from components.curation.web import official_scene
from components.records.case import Case, Gold, Split, Verdict
from components.records.image_bank import ImageBank, asset_path
from components.storage.atomic import write_jsonl
from components.world.draw import draw_scene, encode_png
from components.world.facts import build_facts

Mark = Callable[[Image.Image, Verdict], Image.Image]


def pictures(count: int) -> list[Image.Image]:
    """Drawn scenes, small."""
    params = Params().world.model_copy(update={"picture_width": 240, "picture_height": 180})
    facts = build_facts(params)
    return [draw_scene(official_scene(event, facts, params)) for event in facts.events[:count]]


@pytest.fixture(scope="module")
def scenes() -> list[Image.Image]:
    return pictures(240)


def checked(scenes: list[Image.Image], mark: Mark = lambda image, verdict: image) -> PixelCheck:
    rng = random.Random(3)
    verdicts = [rng.choices(list(Verdict), (3, 7))[0] for _ in scenes]
    images = {str(at): mark(image, verdict) for at, (image, verdict) in enumerate(zip(scenes, verdicts, strict=True))}
    examples = [Example(str(at), verdict, f"event-{at // 2}") for at, verdict in enumerate(verdicts)]
    found = check_pixels({Split.TRAIN: examples[:160], Split.TEST: examples[160:]}, images.__getitem__)
    assert found is not None
    return found


def marked(image: Image.Image, verdict: Verdict) -> Image.Image:
    """A small grey square in the corner of refuted pictures."""
    if verdict is Verdict.REFUTED:
        image = image.copy()
        ImageDraw.Draw(image).rectangle([0, 0, 19, 19], fill=(110, 110, 110))
    return image


def tinted(image: Image.Image, verdict: Verdict) -> Image.Image:
    """Refuted pictures are a little redder all over."""
    values = np.asarray(image).astype(np.int16) + (6 * np.array([1, 0, 0]) if verdict is Verdict.REFUTED else 0)
    return Image.fromarray(values.clip(0, 255).astype(np.uint8))


def test_verdicts_given_by_chance_cannot_be_told(scenes: list[Image.Image]) -> None:
    found = checked(scenes)
    assert found.pictures == {Split.TRAIN: 160, Split.TEST: 80}
    assert not any(guess.tells for guess in (*found.transferred.values(), *found.cross_validated.values()))
    assert all(40 <= guess.balanced_accuracy <= 60 for guess in found.cross_validated.values())
    assert all(guess.low <= guess.balanced_accuracy <= guess.high for guess in found.transferred.values())


def test_a_marker_in_refuted_pictures_is_learned(scenes: list[Image.Image]) -> None:
    found = checked(scenes, marked)
    assert max(guess.balanced_accuracy for guess in found.transferred.values()) > 80
    assert any(guess.tells for guess in found.cross_validated.values())
    assert found.pixels_alone > 80
    assert not found.near_chance


def test_a_tint_of_refuted_pictures_is_learned(scenes: list[Image.Image]) -> None:
    found = checked(scenes, tinted)
    assert max(guess.balanced_accuracy for guess in found.transferred.values()) > 75
    assert not found.near_chance


def test_the_check_repeats_itself(scenes: list[Image.Image]) -> None:
    assert checked(scenes) == checked(scenes)


def test_a_benchmark_on_disk_is_read_with_its_gold(scenes: list[Image.Image], tmp_path: Path) -> None:
    public, private = tmp_path / "public", tmp_path / "private"
    bank = ImageBank(public)
    for split in Split:
        digests = [bank.put(encode_png(image)) for image in scenes[:24]]
        write_jsonl(
            public / f"{split.value}.jsonl",
            [
                Case(case_id=f"{split.value}-{at:05d}", image_path=asset_path(digest), image_sha256=digest)
                for at, digest in enumerate(digests)
            ],
        )
        write_jsonl(private / f"{split.value}.jsonl", [gold(split, at) for at in range(24)])
    found = check_pixels_of(public, private)
    assert found is not None
    assert found.pictures == {Split.TRAIN: 24, Split.TEST: 24}


def gold(split: Split, at: int) -> Gold:
    return Gold(
        case_id=f"{split.value}-{at:05d}",
        factual_status=list(Verdict)[at % 2],
        target_claim="",
        acceptable_evidence=(),
        checks=(),
        object_kind="",
        event_id=f"{split.value}-{at}",
        event_title="",
        person_ids=(),
        official_urls=(),
        style="poster",
    )


def test_too_few_pictures_are_not_judged(scenes: list[Image.Image]) -> None:
    few = [Example(str(at), list(Verdict)[at % 2], str(at)) for at in range(12)]
    assert check_pixels(dict.fromkeys(Split, few), lambda name: scenes[int(name)]) is None


def test_each_route_is_scored_by_itself_where_it_has_enough(scenes: list[Image.Image]) -> None:
    marks = [marked(image, list(Verdict)[at % 2]) for at, image in enumerate(scenes)]

    def one(at: int) -> Example:
        return Example(str(at), list(Verdict)[at % 2], str(at), "web" if at % 6 < 2 else "few" if at < 3 else "drawn")

    examples = [one(at) for at in range(len(marks))]
    found = check_pixels({Split.TRAIN: examples[:160], Split.TEST: examples[160:]}, lambda name: marks[int(name)])
    assert found is not None
    assert set(found.routes) == {"web", "drawn"}
    assert all(set(guesses) == set(found.cross_validated) for guesses in found.routes.values())
    assert found.routes["web"]["pixels_linear"].tells
    assert not found.near_chance
