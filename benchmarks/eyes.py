"""How well the tools' eyes see random scenes of every style, and how long a look takes.

Run with `python -m benchmarks.eyes --scenes 600`; add `--ocr` to read the lettering as well.
"""

import argparse
import random
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import cv2
import numpy as np
from PIL import Image

from components.config.schema import ToolParams, WorldParams
from components.records.kinds import KINDS, pair_of
from components.tools import vision
from components.tools.ocr import OcrEngine
from components.world.draw import Scene, draw_portrait, draw_scene, encode_png
from components.world.entities import Person
from components.world.facts import COUNTS, build_facts
from components.world.styles import STYLES

T = TypeVar("T")
Outcomes = dict[str, list[bool]]
Times = dict[str, list[float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ocr", action="store_true")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    outcomes, times = measure(options.scenes, options.seed, options.ocr)
    for name, right in outcomes.items():
        print(f"{name:24}{100 * np.mean(right):7.2f} %   of {len(right)}")
    for name, seconds in times.items():
        print(f"{name:24}{1e3 * np.median(seconds):7.2f} ms  median, {1e3 * np.quantile(seconds, 0.95):.2f} p95")


def measure(scenes: int, seed: int, ocr: bool) -> tuple[Outcomes, Times]:
    """Outcomes and CPU times by what was looked for."""
    rng = random.Random(seed)
    facts = build_facts(WorldParams())
    outcomes: Outcomes = defaultdict(list)
    times: Times = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        engine = OcrEngine(ToolParams(), Path(folder)) if ocr else None
        for _ in range(scenes):
            person = rng.choice(facts.people)
            event = rng.choice(facts.events)
            scene = random_scene(rng, person, (event.title, event.venue, event.date))
            image = draw_scene(scene)
            look(scene, image, outcomes, times)
            recognise(rng, person, facts.people, image, outcomes, times)
            if engine and scene.title:
                lines = timed(times, "ocr", lambda: engine.read(encode_png(image)))  # noqa: B023
                outcomes["lettering read exactly"].append([line.text for line in lines] == [scene.title, *scene.below])
    return outcomes, times


def random_scene(rng: random.Random, person: Person, printed: tuple[str, str, str]) -> Scene:
    lettered = rng.random() < 0.7
    return Scene(
        face=person.face,
        kind=rng.choice(KINDS),
        count=rng.choice(COUNTS),
        composition=rng.randrange(2**31),
        style=rng.choice(list(STYLES)),
        seed=rng.randrange(2**31),
        title=printed[0] if lettered else None,
        below=printed[1:] if lettered else (),
    )


def look(scene: Scene, image: Image.Image, outcomes: Outcomes, times: Times) -> None:
    seen = timed(times, "glance", lambda: vision.glance(image))
    outcomes["pair"].append(seen.pair == pair_of(scene.kind))
    outcomes["person there"].append(seen.people == 1)
    outcomes["lettering there or not"].append(seen.has_text == bool(scene.below))
    look_alike = next(kind for kind in pair_of(scene.kind) if kind != scene.kind)
    outcomes["count exact"].append(timed(times, "count", lambda: vision.count_kind(image, scene.kind)) == scene.count)
    outcomes["look-alike counts zero"].append(vision.count_kind(image, look_alike) == 0)


def recognise(
    rng: random.Random,
    person: Person,
    people: tuple[Person, ...],
    image: Image.Image,
    outcomes: Outcomes,
    times: Times,
) -> None:
    """The person against their own portrait, anybody else's, and the most alike person's."""

    def portrait(who: Person) -> Image.Image:
        return draw_portrait(who.face, rng.choice(list(STYLES)), rng.randrange(2**31))

    own = portrait(person)
    same = timed(times, "compare", lambda: vision.compare_faces(image, own))
    outcomes["same face"].append(same.verdict == "same")
    others = [other for other in people if other is not person]
    alike = [other for other in others if other.face.distance(person.face) == 2] or others
    for name, candidates in (("different face", others), ("different, alike face", alike)):
        verdict = vision.compare_faces(image, portrait(rng.choice(candidates))).verdict
        outcomes[name].append(verdict == "different")


def timed(times: Times, name: str, work: Callable[[], T]) -> T:
    start = time.process_time()
    result = work()
    times[name].append(time.process_time() - start)
    return result


if __name__ == "__main__":
    main()
