"""Which posted pictures can become cases: those whose recovered source is the true one, and that pass the screen."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from components.config.paths import Paths
from components.config.schema import Params
from components.curation.collecting.find import Found, Post, posts_on
from components.curation.collecting.sources import recover_sources
from components.curation.evidence import topic_of
from components.curation.plan import CasePlan
from components.curation.readahead import Posted, viewing_ahead
from components.curation.render import Candidate, as_posted, checks_of
from components.curation.screen import Reason, Screen, View
from components.progress import track
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
    views = _views(posts, facts, params, paths)
    for post, view, found in zip(posts, views, recover_sources(posts, params, paths), strict=True):
        truth = facts.post[post.page_url]
        candidate = as_posted(_plan(truth, facts), truth, web.read(post.sha256), facts, params.world)
        split = candidate.plan.event.split
        reasons = _untrue(found, candidate, truth) or screen.reasons(candidate, view)
        if reasons or isinstance(found, Reason):
            # It stays on the web, so nothing that is drawn may look like it either.
            screen.remember(split, view.looks)
            rejected[split].append(reasons)
        else:
            offered.append(replace(candidate.plan, found=found))
    return Collection(offered, rejected, web)


def _views(posts: Sequence[Post], facts: Facts, params: Params, paths: Paths) -> list[View]:
    """What can be said of every posted picture; its text is then read, so that recovering its source asks the cache."""
    posted = [Posted(_plan(facts.post[post.page_url], facts), facts.post[post.page_url], post.sha256) for post in posts]
    with viewing_ahead(posted, facts, params, paths) as ready:
        return list(track(ready, "viewing posts", len(posted), "posts"))


def _plan(truth: Circulating, facts: Facts) -> CasePlan:
    """The case that a post makes, if its source is recovered."""
    return CasePlan(
        case_id="",
        event=facts.event[truth.event_id],
        error_type=truth.error_type,
        titled=truth.titled,
        seed=truth.post_url,
    )


def _untrue(found: Found | Reason, candidate: Candidate, truth: Circulating) -> list[Reason]:
    """Why a recovery cannot be trusted: there is none, or the world knows better."""
    if isinstance(found, Reason):
        return [found]
    right = (topic_of(candidate.plan.event), truth.error_type, checks_of(candidate))
    return [] if (found.topic, found.error_type, found.checks) == right else [Reason.SOURCE_MISMATCH]
