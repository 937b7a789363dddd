"""Recovering the sources of all that was posted, in as many processes as recognition may use threads.

Every post is kept from the agent, so that none vouches for another.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from components.config.paths import Paths
from components.config.schema import Params
from components.curation.collecting.find import Found, Post
from components.curation.collecting.portraits import Portraits
from components.curation.collecting.recover import Recovery
from components.curation.curator.desk import Desk
from components.curation.screen import Reason
from components.progress import track
from components.records.image_bank import ImageBank
from components.storage.workers import open_workers
from components.tools.services import Services, open_services
from components.tools.source_policy import SourcePolicy

CHUNK = 8
"""Posts handed to a process at once."""

_agent: "_Agent"


def recover_sources(posts: Sequence[Post], params: Params, paths: Paths) -> list[Found | Reason]:
    """Investigate every posted picture, in order.

    Raises:
        EviflowError: the world is not built.

    """
    blocked = frozenset(url for post in posts for url in (post.page_url, post.image_url))
    recovered = _recovered(posts, _Agent(params.on_world(), paths, SourcePolicy(excluded=blocked)))
    return list(track(recovered, "recovering sources", len(posts), "posts"))


def _recovered(posts: Sequence[Post], agent: "_Agent") -> Iterator[Found | Reason]:
    # Another process reads the whole web first, which a few posts do not repay.
    if agent.params.tools.ocr_threads == 1 or len(posts) <= CHUNK:
        with agent:
            yield from map(agent.recover, posts)
        return
    with open_workers(agent.params.tools.ocr_threads, _start, agent) as workers:
        yield from workers.map(_recover, posts, chunksize=CHUNK)


class _Agent:
    """Recovers one source after another with tools that it opens once."""

    def __init__(self, params: Params, paths: Paths, policy: SourcePolicy) -> None:
        self.params = params
        self._paths = paths
        self._policy = policy

    def __enter__(self) -> Self:
        self._runner, self._stack = asyncio.Runner(), AsyncExitStack()
        self._pictures, self._portraits = ImageBank(self._paths.web), Portraits(self._paths.web)
        self._services = self._runner.run(self._opened())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._runner.run(self._stack.aclose())
        self._runner.close()

    def recover(self, post: Post) -> Found | Reason:
        desk = Desk(self._services, "post", self.params.agent.action_budget, self._pictures.read(post.sha256))
        return self._runner.run(Recovery(post, desk, self._portraits, self._pictures).run())

    async def _opened(self) -> Services:
        bank = ImageBank(self._paths.work / "curator")
        services = open_services(self.params, self._paths, bank, policy=self._policy)
        return await self._stack.enter_async_context(services)


def _start(agent: _Agent) -> None:
    """The tools stay open as long as the process."""
    global _agent
    _agent = agent.__enter__()


def _recover(post: Post) -> Found | Reason:
    return _agent.recover(post)
