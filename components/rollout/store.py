"""What a rollout has finished so far, on disk: episodes, and the failures that count against each one's attempts.

Episodes are dealt to shards by a hash of their ids that is the same on every machine and in every run. A shard is a
folder of ledgers with one writer; so processes can share the work, a shard each at a time.
"""

import hashlib
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import overload

from filelock import FileLock, Timeout

from components.errors import EviflowError, PreflightError
from components.records.base import Record
from components.records.episode import Episode
from components.rollout.journal import EpisodeJournal, Journal
from components.storage.atomic import write_json
from components.storage.ledger import Ledger, Span

SHARDS = 8
"""Into how many a rollout is divided where nobody says."""
ATTEMPTS = 2
"""How often an episode may fail before it is recorded as `policy_error`, where nobody says."""
_LAYOUT = "layout.json"


class Layout(Record):
    """What a rollout was begun with; whoever goes on with it keeps to that."""

    shards: int = SHARDS
    attempts: int = ATTEMPTS
    """How often an episode may fail before it is recorded as `policy_error`."""


class EpisodeStore:
    """Ledgers of a shard; they only grow, and survive a kill.

    Beside the episodes lies an index of where each is. So a run that goes on knows at once what is finished, reads an
    episode when somebody wants it, and keeps none in memory. The index follows from the episodes: what a kill has
    kept from it is found again behind the last one that it knows.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
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

    def restarts(self) -> Counter[str]:
        """How often each episode's next attempt had to begin from the beginning."""
        return Counter(record["episode_id"] for record in self._failures.read() if record.get("anew", True))

    def fail(self, episode_id: str, error: BaseException, *, anew: bool = True) -> None:
        """Keep a failed attempt with what was wrong, and whether the next one begins from the beginning."""
        told = f"{type(error).__name__}: {error}"
        self._failures.append({"episode_id": episode_id, "error": told, "anew": anew})

    @cached_property
    def _places(self) -> dict[str, Span]:
        known = {item["episode_id"]: Span(item["start"], item["length"]) for item in self._index.read()}
        end = max((span.end for span in known.values()), default=0)
        # Whoever looks on writes nothing; the next one who finishes an episode completes the index.
        self._unknown = {record["episode_id"]: span for span, record in self._episodes.read_from(end)}
        return known | self._unknown


class RolloutStore:
    """The shards of one rollout.

    Args:
        folder: of the rollout's unfinished work.
        wanted: what a rollout that begins here is begun with; one that goes on keeps to what it was begun with.

    """

    def __init__(self, folder: Path, wanted: Layout | None = None) -> None:
        self._folder = folder
        self._wanted = wanted or Layout()

    @cached_property
    def layout(self) -> Layout:
        """What the rollout was begun with; with it, it is begun."""
        path = self._folder / _LAYOUT
        if not path.exists():
            write_json(path, self._wanted)
        return Layout.model_validate_json(path.read_bytes())

    def begin(self) -> None:
        """Lay down what the rollout is begun with, for whoever else works on it; one that was begun stays as it is."""
        _ = self.layout

    @cached_property
    def shards(self) -> tuple[EpisodeStore, ...]:
        """All of them."""
        return tuple(EpisodeStore(self.shard_folder(number)) for number in range(self.layout.shards))

    def shard_folder(self, number: int) -> Path:
        """Where a shard lies."""
        return self._folder / f"shard-{number:04d}"

    def shard_of(self, episode_id: str) -> int:
        """The number of the shard that an episode belongs to."""
        return int.from_bytes(hashlib.sha256(episode_id.encode()).digest()[:8]) % self.layout.shards

    def __contains__(self, episode_id: str) -> bool:
        return episode_id in self._shard(episode_id)

    def __len__(self) -> int:
        """Finished episodes."""
        return sum(map(len, self.shards))

    def read(self, episode_id: str) -> Episode:
        """A finished episode; raises EviflowError when it is damaged."""
        return self._shard(episode_id).read(episode_id)

    def episodes(self) -> dict[str, Episode]:
        """Every finished episode by id."""
        return {episode_id: episode for shard in self.shards for episode_id, episode in shard.episodes().items()}

    def failed_attempts(self) -> Counter[str]:
        """How often each episode has failed, in this run or an earlier one."""
        return sum((shard.failed_attempts() for shard in self.shards), Counter())

    def restarts(self) -> Counter[str]:
        """How often each episode's next attempt had to begin from the beginning."""
        return sum((shard.restarts() for shard in self.shards), Counter())

    def journal(self, episode_id: str, restarts: int) -> EpisodeJournal:
        """The notes of an unfinished episode since it last began from the beginning; none where they are damaged."""
        notes = Journal(self.shard_folder(self.shard_of(episode_id))).of(episode_id, restarts)
        try:
            _ = notes.kept
        except (EviflowError, ValueError) as error:
            notes.set_aside()
            print(f"eviflow: {episode_id} begins anew, since its notes cannot be read: {error}", file=sys.stderr)
        return notes

    def finish(self, episodes: Sequence[Episode]) -> None:
        """Keep finished episodes; they are never run again."""
        dealt: dict[int, list[Episode]] = {}
        for episode in episodes:
            dealt.setdefault(self.shard_of(episode.episode_id), []).append(episode)
        for number, own in dealt.items():
            self.shards[number].finish(own)

    def fail(self, episode_id: str, error: BaseException, *, anew: bool = True) -> None:
        """Keep a failed attempt with what was wrong, and whether the next one begins from the beginning."""
        self._shard(episode_id).fail(episode_id, error, anew=anew)

    @contextmanager
    def written(self, numbers: Sequence[int] | None = None) -> Iterator[None]:
        """Be the only writer of some shards, or of all, while the block runs.

        Raises:
            PreflightError: somebody else is.

        """
        with ExitStack() as held:
            for number in range(self.layout.shards) if numbers is None else numbers:
                held.enter_context(_locked(self.shard_folder(number)))
            yield

    def _shard(self, episode_id: str) -> EpisodeStore:
        return self.shards[self.shard_of(episode_id)]


class Finished(Sequence[Episode]):
    """Finished episodes in a given order, each read when it is asked for.

    Args:
        store: has them.
        ids: of the episodes.

    """

    def __init__(self, store: RolloutStore, ids: Sequence[str]) -> None:
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


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a shard; the operating system lets go of it when the process dies, however it dies."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / "writer.lock").acquire(blocking=False):
            yield
    except Timeout:
        raise PreflightError(f"another process writes {folder}; wait until it has ended, or stop it") from None


def _entries(spans: dict[str, Span]) -> list[dict[str, str | int]]:
    return [{"episode_id": name, "start": span.start, "length": span.length} for name, span in spans.items()]
