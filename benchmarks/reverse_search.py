"""How often reverse image search puts the original first after an edit, over an index of drawn photographs.

Run with `python -m benchmarks.reverse_search`; `--pictures 10000 --queries 500` are the defaults and take some minutes.
Each edit is applied by itself to a sample; the perceptual hash alone is measured beside the index. "Drawn anew" is
what untitled cases need: the same event in another style, with grain and lettering of its own, and one detail altered.
"""

import argparse
import io
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageEnhance
from scipy.stats import binomtest

from components.records.kinds import KINDS
from components.world.draw import Scene, draw_scene, encode_png
from components.world.facts import COUNTS, random_face
from components.world.image_features import Features, features
from components.world.image_index import ImageIndex
from components.world.styles import STYLES, font
from components.world.web import REACH

Edit = Callable[[Image.Image, random.Random], Image.Image]
CHUNK = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    scenes = [random_scene(random.Random(f"scene-{options.seed}-{at}")) for at in range(options.pictures)]
    start = time.perf_counter()
    with ProcessPoolExecutor(options.processes, get_context("spawn")) as pool:
        found = list(pool.map(drawn_features, scenes, chunksize=CHUNK))
    print(f"drew {len(scenes)} photographs in {time.perf_counter() - start:.0f} s", flush=True)
    pictures = [item[0] for item in found]
    start = time.process_time()
    index = ImageIndex(pictures)
    arranged = time.process_time() - start
    print(f"features: {1e3 * np.mean([item[1] for item in found]):.2f} ms CPU a picture, decoding included")
    print(f"arranging {len(scenes)}: {arranged:.2f} s CPU, {index.nbytes / len(scenes):.0f} bytes a picture")
    hashes = np.array([item.phash for item in pictures])
    sample = random.Random(options.seed).sample(range(len(scenes)), min(options.queries, len(scenes)))
    print(f"\n{'':16}{'index':>24}{'hash alone':>24}{'query':>10}{'own distance':>22}{'next':>8}")
    for name in (*EDITS, "drawn anew"):
        print(row(name, scenes, sample, index, hashes, options.seed), flush=True)


def random_scene(rng: random.Random) -> Scene:
    """An official photograph: nothing printed."""
    return Scene(
        face=random_face(rng),
        kind=rng.choice(KINDS),
        count=rng.choice(COUNTS),
        composition=rng.randrange(2**31),
        style=rng.choice(list(STYLES)),
        seed=rng.randrange(2**31),
    )


def drawn_features(scene: Scene) -> tuple[Features, float]:
    """The features of a drawn scene, and the CPU seconds that they took without the drawing."""
    data = encode_png(draw_scene(scene))
    start = time.process_time()
    found = features(data)
    return found, time.process_time() - start


def row(
    name: str, scenes: Sequence[Scene], sample: Sequence[int], index: ImageIndex, hashes: NDArray[np.uint8], seed: int
) -> str:
    by_index, by_hash, times, own, other = [], [], [], [], []
    for at in sample:
        data = edited(name, scenes[at], random.Random(f"{name}-{seed}-{at}"))
        start = time.process_time()
        query = features(data)
        matches = index.search(query, 10, 1.0)
        times.append(time.process_time() - start)
        by_index.append(bool(matches) and matches[0].position == at and matches[0].distance <= REACH)
        by_hash.append(int(np.bitwise_count(hashes ^ query.phash).sum(axis=1).argmin()) == at)
        own.append(next((match.distance for match in matches if match.position == at), 1.0))
        other.append(next((match.distance for match in matches if match.position != at), 1.0))
    spread = " ".join(f"{value:.2f}" for value in np.quantile(own, [0.5, 0.95, 1]))
    nearest = f"{np.quantile(other, 0.05):.2f}"
    return (
        f"{name:16}{share(by_index):>24}{share(by_hash):>24}{1e3 * np.median(times):>7.1f} ms{spread:>22}{nearest:>8}"
    )


def share(right: Sequence[bool]) -> str:
    """Percent with a 95 % interval (Wilson)."""
    interval = binomtest(sum(right), len(right)).proportion_ci(0.95, "wilson")
    return f"{100 * np.mean(right):.1f} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def edited(name: str, scene: Scene, rng: random.Random) -> bytes:
    """The file that is searched for."""
    if name == "drawn anew":
        return encode_png(draw_scene(drawn_anew(scene, rng)))
    image = EDITS[name](draw_scene(scene), rng)
    buffer = io.BytesIO()
    if name == "JPEG 40":
        image.save(buffer, "JPEG", quality=40)
        return buffer.getvalue()
    return encode_png(image)


def drawn_anew(scene: Scene, rng: random.Random) -> Scene:
    """Another picture of the same event: its person or its count may be altered, and venue and date are printed."""
    changes: list[dict[str, object]] = [
        {},
        {"face": random_face(rng)},
        {"count": rng.choice([n for n in COUNTS if 1 <= abs(n - scene.count) <= 4])},
    ]
    return replace(
        scene,
        style=rng.choice([name for name in STYLES if name != scene.style]),
        seed=rng.randrange(2**31),
        below=("Rowan Hall", "12 March 2031"),
        **rng.choice(changes),
    )  # type: ignore[arg-type]


def cropped(image: Image.Image, rng: random.Random) -> Image.Image:
    """A window anywhere, four fifths of each side: 64 % of the area."""
    width, height = round(0.8 * image.width), round(0.8 * image.height)
    left, top = rng.randint(0, image.width - width), rng.randint(0, image.height - height)
    return image.crop((left, top, left + width, top + height))


def cropped_area(image: Image.Image, rng: random.Random) -> Image.Image:
    """A window anywhere, 80 % of the area."""
    width, height = round(0.8**0.5 * image.width), round(0.8**0.5 * image.height)
    left, top = rng.randint(0, image.width - width), rng.randint(0, image.height - height)
    return image.crop((left, top, left + width, top + height))


def halved(image: Image.Image, rng: random.Random) -> Image.Image:
    return image.resize((image.width // 2, image.height // 2), Image.Resampling.LANCZOS)


def unchanged(image: Image.Image, rng: random.Random) -> Image.Image:
    return image


def brightened(image: Image.Image, rng: random.Random) -> Image.Image:
    """By 20 to 50 %; light grounds burn out."""
    return ImageEnhance.Brightness(image).enhance(rng.uniform(1.2, 1.5))


def bannered(image: Image.Image, rng: random.Random) -> Image.Image:
    """A strip of any colour with text, 12 to 20 % of the height, over the top or the bottom."""
    image, height = image.copy(), round(rng.uniform(0.12, 0.2) * image.height)
    top = rng.choice((0, image.height - height))
    ground = (rng.randrange(256), rng.randrange(256), rng.randrange(256))
    pen = ImageDraw.Draw(image)
    pen.rectangle([0, top, image.width, top + height], fill=ground)
    ink = (0, 0, 0) if sum(ground) > 380 else (255, 255, 255)
    pen.text((10, top + height / 2), "BREAKING: see what happened", ink, font("Sans-Bold", height // 2), anchor="lm")
    return image


EDITS: dict[str, Edit] = {
    "cropped, sides": cropped,
    "cropped, area": cropped_area,
    "halved": halved,
    "JPEG 40": unchanged,
    "brightened": brightened,
    "banner": bannered,
}
"""What is done to a photograph before it is searched for."""


if __name__ == "__main__":
    cv2.setNumThreads(1)
    main()
