"""Finished episodes on their way to disk: those that end together are written together."""

import asyncio
from collections.abc import Sequence

from components.records.episode import Episode
from components.rollout.store import RolloutStore


class Writer:
    """Writes to a store, and lets nobody go on before what it has brought is on disk.

    Args:
        store: is written by nobody else.

    """

    def __init__(self, store: RolloutStore) -> None:
        self._store = store
        self._waiting: list[Episode] = []
        self._flush: asyncio.Task[None] | None = None

    async def keep(self, episodes: Sequence[Episode]) -> None:
        """Return when `episodes` are on disk."""
        if not episodes:
            return
        self._waiting += episodes
        if self._flush is None:
            self._flush = asyncio.get_running_loop().create_task(self._soon())
        await asyncio.shield(self._flush)

    def flush(self) -> None:
        """Write at once what is waiting; for the end, however it comes."""
        episodes, self._waiting, self._flush = self._waiting, [], None
        self._store.finish(episodes)

    async def _soon(self) -> None:
        # Whatever ends in the same round of the event loop is written along.
        await asyncio.sleep(0)
        self.flush()
