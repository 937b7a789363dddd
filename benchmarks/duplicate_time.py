"""How long screening for near-duplicates takes as a build does it, one picture after another, and what it finds.

Run with `python -m benchmarks.duplicate_time`. First drawn pictures: how many copies of each kind are found, and how
many other pictures of the same event are taken for copies. Then 1,000, 10,000 and 100,000 hashes, distributed like
those of drawn pictures, with planted near-duplicates: time, recall, false alarms.
"""

import argparse
import io
import random
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.fft
from numpy.typing import NDArray
from PIL import Image, ImageEnhance

from benchmarks.reverse_search import random_scene, share
from components.curation.duplicates import RADIUS, Duplicates, Looks, looks
from components.world.draw import Scene, draw_scene
from components.world.facts import COUNTS

PLANTED = 0.02
"""Share of the hashes that are near-duplicates of an earlier one."""
THUMB = (24, 32, 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--drawn", type=int, default=300)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--stacked", type=int, default=10_000, help="largest size for comparing with every hash")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    scenes = [lettered(random.Random(f"{options.seed}-{at}")) for at in range(options.drawn)]
    coefficients = pictures(scenes, options.seed)
    for size in options.sizes:
        hashes(size, coefficients, options.seed, size <= options.stacked)


def lettered(rng: random.Random) -> Scene:
    return replace(random_scene(rng), title="Harvest Gala", below=("Rowan Hall", "12 March 2031"))


def pictures(scenes: list[Scene], seed: int) -> NDArray[np.float64]:
    """Print recall and false alarms over drawn pictures; returns their low-frequency coefficients."""
    index, images = Duplicates(), [draw_scene(scene) for scene in scenes]
    early = sum(bool(index.of(looks(image))) or index.add(looks(image)) < 0 for image in images)
    print(f"{len(scenes)} drawn pictures; taken for copies of one another: {early}")
    for name, edit in COPIES.items():
        print(f"  copy, {name:34}found {share([bool(index.of(looks(edit(image)))) for image in images])} %")
    for name, change in SIBLINGS.items():
        rng = random.Random(f"{name}-{seed}")
        wrong = [bool(index.of(looks(draw_scene(change(scene, rng))))) for scene in scenes]
        print(f"  same event, {name:28}mistaken {share(wrong)} %", flush=True)
    return np.array([low_frequencies(image) for image in images])


def low_frequencies(image: Image.Image) -> NDArray[np.float64]:
    """What the perceptual hash holds against its median, as imagehash computes it."""
    pixels = np.asarray(image.convert("L").resize((64, 64), Image.Resampling.LANCZOS), np.float64)
    transformed = scipy.fft.dct(scipy.fft.dct(pixels, axis=0), axis=1)
    return np.asarray(transformed[:16, :16]).ravel()


def hashes(size: int, coefficients: NDArray[np.float64], seed: int, stacked: bool) -> None:
    """Screen hashes like those of drawn pictures one after another."""
    rng = np.random.default_rng(seed)
    drawn = rng.multivariate_normal(coefficients.mean(axis=0), np.cov(coefficients.T), size, "ignore")
    bits = drawn > np.median(drawn, axis=1, keepdims=True)
    thumbs = rng.integers(0, 256, (size, *THUMB), np.uint8)
    planted = np.sort(rng.choice(np.arange(1, size), round(PLANTED * size), replace=False))
    for at in planted:
        model = rng.integers(0, at)
        bits[at], thumbs[at] = bits[model], thumbs[model]
        bits[at, rng.choice(256, rng.integers(0, RADIUS + 1), replace=False)] ^= True
    index, found, cpu, wall = Duplicates(), [], time.process_time(), time.perf_counter()
    for at in range(size):
        seen = Looks(bits[at], thumbs[at])
        if index.of(seen):
            found.append(at)
        index.add(seen)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    recall, false = np.isin(planted, found).mean(), len(set(found) - set(planted.tolist()))
    print(
        f"{size:>8} hashes: {cpu:7.2f} s CPU, {wall:7.2f} s, {1e6 * cpu / size:6.1f} us each; "
        f"recall {100 * recall:.2f} % of {len(planted)}, false alarms {false}"
        + (f"; comparing with every hash {against_all(bits):.2f} s CPU" if stacked else ""),
        flush=True,
    )


def against_all(bits: NDArray[np.bool_]) -> float:
    """CPU seconds of the plain way: every hash against all before it."""
    start = time.process_time()
    rows = np.packbits(bits, axis=1)
    for at in range(1, len(rows)):
        np.bitwise_count(rows[:at] ^ rows[at]).sum(axis=1).min()
    return time.process_time() - start


def encoded(image: Image.Image, quality: int) -> Image.Image:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return Image.open(buffer).convert("RGB")


COPIES: dict[str, Callable[[Image.Image], Image.Image]] = {
    "the same": lambda image: image,
    "JPEG quality 60": lambda image: encoded(image, 60),
    "half the size": lambda image: image.resize((image.width // 2, image.height // 2), Image.Resampling.LANCZOS),
    "1.5 times the size": lambda image: image.resize((image.width * 3 // 2, image.height * 3 // 2)),
    "brightened by 5 %": lambda image: ImageEnhance.Brightness(image).enhance(1.05),
    "brightened by 8 %": lambda image: ImageEnhance.Brightness(image).enhance(1.08),
    "brightened by 15 %": lambda image: ImageEnhance.Brightness(image).enhance(1.15),
    "darkened by 10 %": lambda image: ImageEnhance.Brightness(image).enhance(0.9),
}
"""What a copy may have gone through."""

OTHER_DATE = ("Rowan Hall", "3 May 2032")

SIBLINGS: dict[str, Callable[[Scene, random.Random], Scene]] = {
    "same style, another drawing": lambda scene, rng: replace(scene, seed=rng.randrange(2**31)),
    "same style, another date": lambda scene, rng: replace(scene, seed=rng.randrange(2**31), below=OTHER_DATE),
    "same style, another count": lambda scene, rng: replace(
        scene, seed=rng.randrange(2**31), count=rng.choice([n for n in COUNTS if n != scene.count])
    ),
    "same drawing, another date": lambda scene, rng: replace(scene, below=OTHER_DATE),
}
"""Other pictures of an event; none is a copy."""


if __name__ == "__main__":
    main()
