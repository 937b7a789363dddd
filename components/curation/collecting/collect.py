"""Which posted pictures can become cases: those whose recovered source is the true one, and that pass the screen."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from components.config.paths import Paths
from components.config.schema import Params
from components.curation.collecting.find import Found, posts_on
from components.curation.collecting.recover import recover_sources
from components.curation.evidence import topic_of
from components.curation.plan import CasePlan
from components.curation.render import Candidate, as_posted, checks_of
from components.curation.screen import Reason, Screen
from components.records.case import Split
from components.records.image_bank import ImageBank
from components.world.entities import Circulating, Facts


class Collection(NamedTuple):
    """What was found on the web."""

    offered: Sequence[CasePlan] = ()
    """May become cases; without case ids."""
    rejected: Mapping[Split, Sequence[Sequence[Reason]]] = {}
    """What speaks against each of the others."""
    web: ImageBank | None = None
    """Has the pictures; None when nothing is offered."""


def collect(facts: Facts, params: Params, paths: Paths, screen: Screen) -> Collection:
    """Recover the source of everything that circulates, and screen it; nothing when no case is to be collected.

    Raises:
        EviflowError: the world is not built.

    """
    posts = posts_on(paths.web) if params.benchmark.web_share else []
    if not posts:
        return Collection()
    web = ImageBank(paths.web)
    offered: list[CasePlan] = []
    rejected: dict[Split, list[list[Reason]]] = {split: [] for split in Split}
    for post, found in zip(posts, recover_sources(posts, params, paths), strict=True):
        truth = facts.post[post.page_url]
        plan = _plan(truth, found, facts)
        candidate = as_posted(plan, truth, web.read(post.sha256), facts, params.world)
        if reasons := _untrue(found, candidate, truth) or screen.reasons(candidate):
            # It stays on the web, so nothing that is drawn may look like it either.
            screen.remember(candidate)
            rejected[plan.event.split].append(reasons)
        else:
            offered.append(plan)
    return Collection(offered, rejected, web)


def _plan(truth: Circulating, found: Found | Reason, facts: Facts) -> CasePlan:
    """The case that a post would make, with the label that was found out; the true one where none was."""
    source = found if isinstance(found, Found) else None
    return CasePlan(
        case_id="",
        event=facts.event[truth.event_id],
        error_type=source.error_type if source else truth.error_type,
        titled=truth.titled,
        seed=truth.post_url,
        found=source,
    )


def _untrue(found: Found | Reason, candidate: Candidate, truth: Circulating) -> list[Reason]:
    """Why a recovery cannot be trusted: there is none, or the world knows better."""
    if isinstance(found, Reason):
        return [found]
    right = (topic_of(candidate.plan.event), truth.error_type, checks_of(candidate))
    return [] if (found.topic, found.error_type, found.checks) == right else [Reason.SOURCE_MISMATCH]
