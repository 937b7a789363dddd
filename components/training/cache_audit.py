"""Results that were taken from a cache for another picture.

A cache whose keys lack the picture gives two photographs one description. So, of the tools that look at the case's
picture, equal answers to equal calls on different pictures are compared, and those that came from a cache are named. A
picture that several cases share, and equal results that were found anew, are nothing to complain about.
"""

from collections import defaultdict

from components.records.base import Record
from components.records.episode import Episode, Step
from components.tools.base import ToolFamily
from components.tools.registry import FULL_TOOL_CLASSES, TOOL_CLASSES

LOOKING = frozenset(kind.name for kind in (*TOOL_CLASSES, *FULL_TOOL_CLASSES) if kind.family is ToolFamily.VISUAL) | {
    "reverse_image_search",
    "compare_with_reference",
}
"""Tools whose answer depends on the case's picture."""


class CacheAudit(Record):
    """What was found."""

    hits: int
    """Observations that came from a cache."""
    cross_image_hits: int
    """Those of them that another picture's equal call has answered alike."""
    cross_image_episodes: tuple[str, ...]
    """Ids of the episodes that have any."""


class CacheAuditor:
    """Takes in episodes one after another."""

    def __init__(self) -> None:
        self._pictures: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        self._hits: list[tuple[tuple[str, str, str], str]] = []
        self._all_hits = 0

    def add(self, episode: Episode) -> None:
        """Take in the observations of one episode."""
        for step in episode.steps:
            found = step.observation
            if found is None:
                continue
            self._all_hits += found.cache_hit
            if found.tool in LOOKING:
                key = _key(step)
                self._pictures[key].add(episode.case.image_sha256)
                if found.cache_hit:
                    self._hits.append((key, episode.episode_id))

    @property
    def found(self) -> CacheAudit:
        """Of the episodes so far."""
        crossed = [episode_id for key, episode_id in self._hits if len(self._pictures[key]) > 1]
        return CacheAudit(
            hits=self._all_hits, cross_image_hits=len(crossed), cross_image_episodes=tuple(dict.fromkeys(crossed))
        )


def _key(step: Step) -> tuple[str, str, str]:
    """The call and its answer."""
    assert step.observation is not None
    arguments = step.call.arguments_json if step.call else ""
    return step.observation.tool, arguments, f"{step.observation.text}\n{step.observation.payload_json}"
