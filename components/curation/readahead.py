"""Reading printed text ahead of screening, in as many processes as recognition may use threads.

Recognition is most of the time of the stage and uses little more than one core by itself. Its answers go to the cache
on disk, where screening finds them; so a process that dies costs time and nothing else.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

from components.config.schema import Params
from components.curation.plan import CasePlan
from components.curation.render import render
from components.tools.ocr import OcrEngine
from components.world.entities import Facts

CHUNK = 2
"""Cases handed to a process at once."""

_reader: "_Reader"


class _Reader:
    """What one process keeps between cases."""

    def __init__(self, facts: Facts, params: Params, cache: Path) -> None:
        self._facts, self._world = facts, params.world
        self._engine = OcrEngine(params.tools.model_copy(update={"ocr_threads": 1}), cache)

    def read(self, plan: CasePlan) -> None:
        self._engine.read(render(plan, 0, self._facts, self._world).data)


def _start(facts: Facts, params: Params, cache: Path) -> None:
    global _reader
    _reader = _Reader(facts, params, cache)


def _read(plan: CasePlan) -> CasePlan:
    _reader.read(plan)
    return plan


@contextmanager
def reading_ahead(plans: Sequence[CasePlan], facts: Facts, params: Params, cache: Path) -> Iterator[Iterator[CasePlan]]:
    """Yield the plans in order, each once the text of its first drawing is in the cache."""
    processes = params.tools.ocr_threads
    if processes == 1:
        yield iter(plans)
        return
    context = get_context("spawn")
    with ProcessPoolExecutor(processes, context, initializer=_start, initargs=(facts, params, cache)) as pool:
        yield pool.map(_read, plans, chunksize=CHUNK)
