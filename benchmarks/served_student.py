"""The trained policy behind a chat server against the same policy in this process, token by token.

Run with `PYTHONPATH=tests python -m benchmarks.served_student --root FOLDER` where `make demo` has run. The server
speaks vLLM's format on loopback and decodes greedily, so whatever differs was lost on the way through it: a message
that was told otherwise, a call that was read otherwise, or ids that were not the student's own.
"""

import argparse
import base64
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from openai_double import ChatServer, reply
from pytest_httpserver import HTTPServer
from served_teacher import conversation_of
from werkzeug import Request, Response

from components.config.load import load_params
from components.config.paths import Paths
from components.config.schema import Params
from components.config.serving import ServingParams
from components.policies.local import LocalPolicy
from components.records.case import Split
from components.records.conversation import Policy
from components.records.episode import Episode
from components.records.image_bank import ImageBank
from components.rollout.cases import load_cases
from components.rollout.policies import served_policy
from components.rollout.run import roll_out
from components.rollout.slot import Job


class StudentServer(ChatServer):
    """Answers with the trained policy, which reads nothing but the requests."""

    def __init__(self, server: HTTPServer, params: Params, paths: Paths, folder: Path) -> None:
        self._seen = ImageBank(folder)
        self._policy = student(params, paths, self._seen)
        self._guard = threading.Lock()
        super().__init__(server)

    def _reply(self, request: Request) -> Response:
        body = request.get_json()
        self.bodies.append(body)
        self._keep_pictures(body)
        with self._guard:
            (turn,) = self._policy.act([conversation_of(body)])
        return reply(turn.text, ids=turn.token_ids, logprobs=turn.logprobs, finish=turn.finish_reason)()

    def _keep_pictures(self, body: dict[str, Any]) -> None:
        parts = [part for message in body["messages"] for part in message["content"] or () if isinstance(part, dict)]
        for part in parts:
            if part["type"] == "image_url":
                self._seen.put(base64.b64decode(part["image_url"]["url"].partition(",")[2]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=Path())
    parser.add_argument("--episodes", type=int, default=16)
    options = parser.parse_args()
    paths = Paths(options.root.resolve())
    params = load_params(paths.params).model_copy(update={"serving": ServingParams(tokenizer="models/sft")})
    cases = load_cases(paths, Split.TEST)[: options.episodes]
    jobs = [Job(case, params.evaluation.seed) for case in cases]
    with tempfile.TemporaryDirectory() as folder:
        bank = ImageBank(Path(folder) / "bank", also=[paths.benchmark, paths.web])
        with serving(params, paths, Path(folder) / "seen") as server:
            served = _timed(jobs, served_policy(server.policy, params, paths, bank), params, paths, bank)
            print(f"{len(server.bodies)} requests")
        local = _timed(jobs, student(params, paths, bank), params, paths, bank)
    same = sum(_said(one) == _said(other) for one, other in zip(served, local, strict=True))
    reports = sum(one.report == other.report for one, other in zip(served, local, strict=True))
    print(f"of {len(jobs)} episodes {same} are the same, token by token, and {reports} have the same report")


@contextmanager
def serving(params: Params, paths: Paths, folder: Path) -> Iterator[StudentServer]:
    with HTTPServer(threaded=True) as server:
        yield StudentServer(server, params, paths, folder)


def student(params: Params, paths: Paths, bank: ImageBank) -> LocalPolicy:
    return LocalPolicy(
        paths.sft_policy,
        bank,
        name="sft",
        max_new_tokens=params.evaluation.max_new_tokens,
        max_length=params.policy.max_length,
        batch_size=1,
    )


def _timed(jobs: list[Job], policy: Policy, params: Params, paths: Paths, bank: ImageBank) -> list[Episode]:
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        found = list(
            roll_out(
                params.on_world(),
                paths,
                jobs,
                policy,
                bank=bank,
                folder=Path(folder),
                concurrency=4,
                title=policy.name,
            )
        )
    print(f"{policy.name}: {len(found)} episodes in {time.perf_counter() - started:.0f} s")
    return found


def _said(episode: Episode) -> list[tuple[str, tuple[int, ...] | None]]:
    return [(step.turn.vocabulary, step.turn.token_ids) for step in episode.steps]


if __name__ == "__main__":
    main()
