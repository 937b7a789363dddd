"""Whether verdicts can be told from pixels alone: plain classifiers learn them from one part and guess another.

What is pictured decides nothing by itself in this benchmark; only the record of the event does. So every classifier
should be right about half the time. One that is not has found a trace that the making of altered pictures left.

Classes weigh the same while learning, and as large a share of pictures is called refuted as there are in the part
learned from, so that a classifier which always gives one answer cannot hide what it knows.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydantic import BaseModel

from components.progress import track
from components.records.case import Case, Gold, Route, Split, Verdict
from components.records.image_bank import ImageBank
from components.storage.atomic import read_jsonl

MARGIN = 5.0
"""How far from 50 % a balanced accuracy may lie, in points."""
_MOST = 4_000
"""Pictures of one split that are looked at; more are sampled."""
_LEAST = 10
"""Pictures of each verdict in each split below which nothing can be learned."""
_SMALL = (24, 18)
_ACROSS, _DOWN, _CELL, _DIRECTIONS = 8, 6, 12, 9
"""Cells of the gradient histograms, pixels of a cell's side, bins of a histogram."""
_BINS = 16
_COMPONENTS = 24
_FOLDS = 5
_SAMPLES = 2_000
_CONFIDENCE = 0.95

Values = NDArray[np.float32]
Labels = NDArray[np.bool_]
Model = Callable[[], Any]


class Guess(BaseModel):
    """How well one classifier does; percent."""

    balanced_accuracy: float
    low: float
    """Bounds of the 95 % bootstrap interval over pictures, within each class."""
    high: float

    @property
    def tells(self) -> bool:
        """Whether it is surely further than the margin above chance."""
        return self.low > 50 + MARGIN


class PixelCheck(BaseModel):
    """What classifiers make of the pixels."""

    pictures: dict[Split, int]
    transferred: dict[str, Guess]
    """By classifier: learned from the training split, guessed on the test split."""
    cross_validated: dict[str, Guess]
    """By classifier: both splits together in five parts, no event in two of them."""
    pixels_alone: float
    """Balanced accuracy of the best classifier when cross-validated, percent."""
    routes: dict[str, dict[str, Guess]] = {}
    """The same cross-validated guesses by route and classifier, where a route has enough pictures."""
    near_chance: bool
    """Whether that is at most 5 points above 50, and no classifier is surely above on the test split or a route."""


class Example(NamedTuple):
    """A picture and what is known of it."""

    sha256: str
    verdict: Verdict
    event_id: str
    route: str = Route.CONSTRUCTED


def check_pixels(
    examples: Mapping[Split, Sequence[Example]], read: Callable[[str], Image.Image], seed: int = 0
) -> PixelCheck | None:
    """Learn verdicts from pixels, and tell how well they are guessed; None when there are too few pictures.

    Args:
        examples: pictures of both splits.
        read: gives a picture by its SHA-256.
        seed: of samples, classifiers and bootstrap.

    """
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(seed)
    chosen = {split: _sampled(rng, examples[split]) for split in Split}
    verdicts = {split: np.array([one.verdict is Verdict.REFUTED for one in chosen[split]]) for split in Split}
    if any(min(part.sum(), (~part).sum()) < _LEAST for part in verdicts.values()):
        return None
    everything = [*chosen[Split.TRAIN], *chosen[Split.TEST]]
    labels = np.concatenate([verdicts[Split.TRAIN], verdicts[Split.TEST]])
    events = np.unique([one.event_id for one in everything], return_inverse=True)[1]
    views = _views([one.sha256 for one in everything], read)
    known, asked = np.split(np.arange(len(labels)), [len(chosen[Split.TRAIN])])
    ways = _rows_by_route(everything, labels)
    transferred, cross_validated = {}, {}
    routes: dict[str, dict[str, Guess]] = {route: {} for route in ways}
    with threadpool_limits(1):  # so little work is only slowed down by threads that wait for one another
        for name, (view, model) in _classifiers(seed).items():
            called = _guess(model, views[view][known], labels[known], views[view][asked])
            transferred[name] = _score(called, labels[asked], seed)
            called = _by_folds(model, views[view], labels, events, seed)
            cross_validated[name] = _score(called, labels, seed)
            for route, rows in ways.items():
                routes[route][name] = _score(called[rows], labels[rows], seed)
    best = max(guess.balanced_accuracy for guess in cross_validated.values())
    return PixelCheck(
        pictures={split: len(chosen[split]) for split in Split},
        transferred=transferred,
        cross_validated=cross_validated,
        pixels_alone=best,
        routes=routes,
        near_chance=best <= 50 + MARGIN
        and not any(guess.tells for guesses in (transferred, *routes.values()) for guess in guesses.values()),
    )


def check_pixels_of(public: Path, private: Path) -> PixelCheck | None:
    """The same for a finished benchmark: its folder, and that of its gold records."""
    examples = {}
    for split in Split:
        gold = {one.case_id: one for one in read_jsonl(private / f"{split.value}.jsonl", Gold)}
        examples[split] = [
            Example(case.image_sha256, known.factual_status, known.event_id, known.route)
            for case in read_jsonl(public / f"{split.value}.jsonl", Case)
            for known in [gold[case.case_id]]
        ]
    return check_pixels(examples, ImageBank(public).open)


def _rows_by_route(examples: Sequence[Example], labels: Labels) -> dict[str, NDArray[np.int64]]:
    """Which examples each route has; none for a route that has few of a verdict."""
    names = np.array([one.route for one in examples])
    rows = {route: np.flatnonzero(names == route) for route in sorted(set(names.tolist()))}
    return {route: at for route, at in rows.items() if min(labels[at].sum(), (~labels[at]).sum()) >= _LEAST}


def _sampled(rng: np.random.Generator, examples: Sequence[Example]) -> list[Example]:
    if len(examples) <= _MOST:
        return list(examples)
    return [examples[at] for at in np.sort(rng.choice(len(examples), _MOST, replace=False))]


def _views(digests: Sequence[str], read: Callable[[str], Image.Image]) -> dict[str, Values]:
    """What classifiers see of each picture, by the name of the view, (pictures, values)."""
    seen = [_seen(read(digest)) for digest in track(digests, "checking pixels", len(digests), "pictures")]
    return {name: np.stack([views[name] for views in seen]) for name in seen[0]}


def _seen(image: Image.Image) -> dict[str, Values]:
    image = image.convert("RGB")
    small: Values = np.asarray(image.resize(_SMALL, Image.Resampling.BOX)).astype(np.float32) / np.float32(255)
    pixels = np.asarray(image)
    shares = [np.bincount(pixels[..., at].ravel() // _BINS, minlength=256 // _BINS) for at in range(3)]
    coarse = pixels // 64
    mixed = np.bincount((coarse[..., 0] * 16 + coarse[..., 1] * 4 + coarse[..., 2]).ravel(), minlength=64)
    colours = np.concatenate([*shares, mixed]) / (image.width * image.height)
    return {"pixels": small.ravel(), "edges": _edges(image), "colours": colours.astype(np.float32)}


def _edges(image: Image.Image) -> Values:
    """Histograms of oriented gradients, one a cell, each of length 1."""
    grey = np.asarray(image.convert("L").resize((_ACROSS * _CELL, _DOWN * _CELL), Image.Resampling.BOX), np.float32)
    down, across = np.gradient(grey)
    turn = (np.arctan2(down, across) % np.pi / np.pi * _DIRECTIONS).astype(np.int64) % _DIRECTIONS
    rows, columns = np.indices(grey.shape) // _CELL
    bins = ((rows * _ACROSS + columns) * _DIRECTIONS + turn).ravel()
    strength = np.bincount(bins, np.hypot(down, across).ravel(), _ACROSS * _DOWN * _DIRECTIONS)
    cells = strength.reshape(-1, _DIRECTIONS)
    scaled: Values = (cells / (np.linalg.norm(cells, axis=1, keepdims=True) + 1)).ravel().astype(np.float32)
    return scaled


def _classifiers(seed: int) -> dict[str, tuple[str, Model]]:
    """What each classifier sees, and how it is made."""
    from sklearn.decomposition import PCA
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    def linear() -> Any:
        return make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=200))

    def boosted() -> Any:
        return GradientBoostingClassifier(n_estimators=80, max_features="sqrt", subsample=0.7, random_state=seed)

    def forest() -> Any:
        trees = RandomForestClassifier(100, min_samples_leaf=4, random_state=seed)
        return make_pipeline(PCA(_COMPONENTS, random_state=seed), trees)

    return {
        "pixels_linear": ("pixels", linear),
        "edges_linear": ("edges", linear),
        "colours_linear": ("colours", linear),
        "colours_boosted": ("colours", boosted),
        "components_forest": ("pixels", forest),
    }


def _guess(model: Model, known: Values, labels: Labels, asked: Values) -> Labels:
    """Which pictures are called refuted: the likeliest, as large a share as in the part learned from."""
    rows = _even(labels)
    likely = model().fit(known[rows], labels[rows]).predict_proba(asked)[:, 1]
    called = np.zeros(len(asked), bool)
    called[np.argsort(-likely, kind="stable")[: round(float(labels.mean()) * len(asked))]] = True
    return called


def _even(labels: Labels) -> NDArray[np.int64]:
    """Rows to learn from: all of the larger class, and as many of the smaller one, repeated in turn."""
    classes = np.flatnonzero(labels), np.flatnonzero(~labels)
    most = max(map(len, classes))
    return np.concatenate([np.resize(rows, most) for rows in classes])


def _by_folds(model: Model, values: Values, labels: Labels, events: NDArray[np.int64], seed: int) -> Labels:
    from sklearn.model_selection import StratifiedGroupKFold

    called = np.zeros(len(labels), bool)
    for learned, asked in StratifiedGroupKFold(_FOLDS, shuffle=True, random_state=seed).split(values, labels, events):
        called[asked] = _guess(model, values[learned], labels[learned], values[asked])
    return called


def _score(called: Labels, labels: Labels, seed: int) -> Guess:
    rng = np.random.default_rng(seed)
    rights = [called[labels], ~called[~labels]]
    drawn = np.mean([rng.binomial(len(right), right.mean(), _SAMPLES) / len(right) for right in rights], axis=0)
    tail = 50 * (1 - _CONFIDENCE)
    low, high = np.percentile(drawn, [tail, 100 - tail])
    value = float(np.mean([right.mean() for right in rights]))
    return Guess(
        balanced_accuracy=round(100 * value, 1), low=round(100 * float(low), 1), high=round(100 * float(high), 1)
    )
