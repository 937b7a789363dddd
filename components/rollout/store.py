"""What a rollout has finished so far, on disk: episodes, and the failures that count against each one's attempts."""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import overload

from components.records.episode import Episode
from components.storage.ledger import Ledger, Span


class EpisodeStore:
    """Ledgers in one folder; they only grow, and survive a kill.

    Beside the episodes lies an index of where each is. So a run that goes on knows at once what is finished, reads an
    episode when somebody wants it, and keeps none in memory. The index follows from the episodes: what a kill has
    kept from it is found again behind the last one that it knows.
    """

    def __init__(self, folder: Path) -> None:
        self._episodes = Ledger(folder / "episodes.jsonl")
        self._index = Ledger(folder / "index.jsonl")
        self._failures = Ledger(folder / "failures.jsonl")
        self._unknown: dict[str, Span] = {}

    def __contains__(self, episode_id: str) -> bool:
        return episode_id in self._places

    def __len__(self) -> int:
        """Finished episodes."""
        return len(self._places)

    def read(self, episode_id: str) -> Episode:
        """A finished episode; raises EviflowError when it is damaged."""
        return Episode.model_validate(self._episodes.at(self._places[episode_id]))

    def episodes(self) -> dict[str, Episode]:
        """Every finished episode by id."""
        return {episode_id: self.read(episode_id) for episode_id in self._places}

    def failed_attempts(self) -> Counter[str]:
        """How often each episode has failed, in this run or an earlier one."""
        return Counter(record["episode_id"] for record in self._failures.read())

    def finish(self, episodes: Sequence[Episode]) -> None:
        """Keep finished episodes; they are never run again."""
        if not episodes:
            return
        places = self._places
        spans = self._episodes.extend(episodes)
        made = {episode.episode_id: span for episode, span in zip(episodes, spans, strict=True)}
        self._index.extend(_entries(self._unknown | made), durable=False)
        self._unknown = {}
        places.update(made)

    def fail(self, episode_id: str, error: BaseException) -> None:
        """Keep a failed attempt with what was wrong."""
        self._failures.append({"episode_id": episode_id, "error": f"{type(error).__name__}: {error}"})

    @cached_property
    def _places(self) -> dict[str, Span]:
        known = {item["episode_id"]: Span(item["start"], item["length"]) for item in self._index.read()}
        end = max((span.end for span in known.values()), default=0)
        # Whoever looks on writes nothing; the next one who finishes an episode completes the index.
        self._unknown = {record["episode_id"]: span for span, record in self._episodes.read_from(end)}
        return known | self._unknown


class Finished(Sequence[Episode]):
    """Finished episodes in a given order, each read when it is asked for.

    Args:
        store: has them.
        ids: of the episodes.

    """

    def __init__(self, store: EpisodeStore, ids: Sequence[str]) -> None:
        self._store = store
        self._ids = ids

    def __len__(self) -> int:
        return len(self._ids)

    @overload
    def __getitem__(self, at: int) -> Episode: ...

    @overload
    def __getitem__(self, at: slice) -> "Finished": ...

    def __getitem__(self, at: int | slice) -> "Episode | Finished":
        if isinstance(at, slice):
            return Finished(self._store, self._ids[at])
        return self._store.read(self._ids[at])

    @property
    def by_id(self) -> "Finished":
        """The same in the order of their ids."""
        return Finished(self._store, sorted(self._ids))


def _entries(spans: dict[str, Span]) -> list[dict[str, str | int]]:
    return [{"episode_id": name, "start": span.start, "length": span.length} for name, span in spans.items()]
