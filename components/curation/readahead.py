"""Drawing cases and looking at them ahead of screening, in as many processes as recognition may use threads.

Recognition is most of the time of the stage and uses little more than one core by itself. Whatever can be said of a
picture without knowing others is said here, and the picture is drawn once. What was read is in the cache on disk,
where a killed run finds it again.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from typing import NamedTuple

from components.config.paths import Paths
from components.config.schema import Params
from components.curation.plan import CasePlan
from components.curation.references import References
from components.curation.render import Candidate, as_posted, render
from components.curation.screen import View, Viewer
from components.records.image_bank import ImageBank
from components.storage.workers import open_workers
from components.tools.ocr import OcrEngine
from components.world.entities import Circulating, Facts

ATTEMPTS = 4
"""How often a case is drawn before it is dropped."""
CHUNK = 2
"""Cases handed to a process at once."""

_artist: "Artist"


class Drawn(NamedTuple):
    """One attempt at a case."""

    candidate: Candidate
    view: View


class Posted(NamedTuple):
    """A picture that was found where it had been posted."""

    plan: CasePlan
    """The case that it would make."""
    truth: Circulating
    sha256: str


class Artist:
    """Draws cases, and looks at what it has drawn.

    Args:
        facts: what is true in the world.
        params: of world and tools.
        paths: where the web and the cache lie.

    """

    def __init__(self, facts: Facts, params: Params, paths: Paths) -> None:
        self._facts, self._params, self._paths = facts, params, paths

    def draw(self, plan: CasePlan, attempt: int) -> Drawn:
        """One attempt at a case."""
        candidate = render(plan, attempt, self._facts, self._params.world)
        return Drawn(candidate, self._viewer.view(candidate))

    def drawn(self, plan: CasePlan) -> list[Drawn]:
        """Attempts up to the first one that nothing speaks against, or all of them."""
        attempts: list[Drawn] = []
        while len(attempts) < ATTEMPTS and not (attempts and attempts[-1].view.good):
            attempts.append(self.draw(plan, len(attempts)))
        return attempts

    def attempts(self, plan: CasePlan, before: Sequence[Drawn] = ()) -> Iterator[Drawn]:
        """Every attempt, those that were drawn before first; others are drawn when they are asked for."""
        yield from before
        yield from (self.draw(plan, attempt) for attempt in range(len(before), ATTEMPTS))

    def view(self, posted: Posted) -> View:
        """Look at a picture as it was posted."""
        data = self._web.read(posted.sha256)
        candidate = as_posted(posted.plan, posted.truth, data, self._facts, self._params.world)
        return self._viewer.view(candidate)

    @cached_property
    def _web(self) -> ImageBank:
        return ImageBank(self._paths.web)

    @cached_property
    def _viewer(self) -> Viewer:
        return Viewer(OcrEngine(self._params.tools, self._paths.cache), References(self._facts, self._paths.web))


def _start(artist: Artist) -> None:
    global _artist
    _artist = artist


def _draw(plan: CasePlan) -> list[Drawn]:
    return _artist.drawn(plan)


def _view(posted: Posted) -> View:
    return _artist.view(posted)


@contextmanager
def drawing_ahead(
    plans: Sequence[CasePlan], facts: Facts, params: Params, paths: Paths
) -> Iterator[Iterator[tuple[CasePlan, Iterator[Drawn]]]]:
    """Yield the plans in order, each with the attempts at it."""
    own = Artist(facts, params, paths)
    if params.tools.ocr_threads == 1:
        yield ((plan, own.attempts(plan)) for plan in plans)
        return
    with _artists(facts, params, paths) as pool:
        drawn = pool.map(_draw, plans, chunksize=CHUNK)
        yield ((plan, own.attempts(plan, before)) for plan, before in zip(plans, drawn, strict=True))


@contextmanager
def viewing_ahead(posted: Sequence[Posted], facts: Facts, params: Params, paths: Paths) -> Iterator[Iterator[View]]:
    """Yield what can be said of posted pictures, in order."""
    if params.tools.ocr_threads == 1 or not posted:
        yield map(Artist(facts, params, paths).view, posted)
        return
    with _artists(facts, params, paths) as pool:
        yield pool.map(_view, posted, chunksize=CHUNK)


def _artists(facts: Facts, params: Params, paths: Paths) -> ProcessPoolExecutor:
    """Processes that draw and look, one for each thread of recognition."""
    alone = params.model_copy(update={"tools": params.tools.model_copy(update={"ocr_threads": 1})})
    return open_workers(params.tools.ocr_threads, _start, Artist(facts, alone, paths))
