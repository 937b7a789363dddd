"""Teacher episodes as reviewers see them: each step with its thought, call, observation and pictures."""

from components.config.paths import Paths
from components.evaluation.gold import load_gold
from components.evaluation.review import every_episode
from components.records.case import Check, Gold, Split, Verdict
from components.records.episode import Episode
from components.review.items import Item
from components.rollout.step_view import StepView, view_step


class EpisodeItem(Item):
    """An episode beside the private record of its case."""

    picture: str
    """SHA-256 of the case's picture."""
    policy: str
    termination: str
    verdict: str
    """Of the report; empty when there is none."""
    explanation: str
    cited: tuple[str, ...]
    label: Verdict
    claim: str
    checks: tuple[Check, ...]
    steps: tuple[StepView, ...]

    @property
    def pictures(self) -> frozenset[str]:
        """The case's picture and those that tools returned."""
        return frozenset([self.picture, *(digest for step in self.steps for digest in step.pictures)])


def episode_items(paths: Paths) -> list[EpisodeItem]:
    """Every teacher episode: those of the first phase sorted by id, then those of each re-roll.

    Raises:
        EviflowError: the episodes or the private records are not there.

    """
    gold = load_gold(paths, Split.TRAIN)
    return [episode_item(episode, gold[episode.case.case_id]) for episode in every_episode(paths)]


def episode_item(episode: Episode, gold: Gold) -> EpisodeItem:
    """One episode as reviewers see it."""
    report = episode.report
    return EpisodeItem(
        item_id=episode.episode_id,
        title=gold.event_title,
        step_count=len(episode.steps),
        picture=episode.case.image_sha256,
        policy=episode.policy,
        termination=episode.termination.value,
        verdict=report.verdict.value if report else "",
        explanation=report.explanation if report else "",
        cited=report.cited if report else (),
        label=gold.factual_status,
        claim=gold.target_claim,
        checks=gold.checks,
        steps=tuple(view_step(step) for step in episode.steps),
    )
