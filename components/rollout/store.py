"""What a rollout has finished so far, on disk: episodes, and the failures that count against each one's attempts."""

from collections import Counter
from pathlib import Path

from components.records.episode import Episode
from components.storage.ledger import Ledger


class EpisodeStore:
    """Two ledgers in one folder; both only grow, and both survive a kill."""

    def __init__(self, folder: Path) -> None:
        self._episodes = Ledger(folder / "episodes.jsonl")
        self._failures = Ledger(folder / "failures.jsonl")

    def episodes(self) -> dict[str, Episode]:
        """Finished episodes by id."""
        found = [Episode.model_validate(record) for record in self._episodes.read()]
        return {episode.episode_id: episode for episode in found}

    def failed_attempts(self) -> Counter[str]:
        """How often each episode has failed, in this run or an earlier one."""
        return Counter(record["episode_id"] for record in self._failures.read())

    def finish(self, episode: Episode) -> None:
        """Keep a finished episode; it is never run again."""
        self._episodes.append(episode)

    def fail(self, episode_id: str, error: BaseException) -> None:
        """Keep a failed attempt with what was wrong."""
        self._failures.append({"episode_id": episode_id, "error": f"{type(error).__name__}: {error}"})
