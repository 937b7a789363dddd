"""Setting a review up, serving its page, letting programs decide, and telling how far it is."""

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from filelock import FileLock, Timeout

from components.config.paths import Paths
from components.errors import PreflightError, UsageError
from components.records.admitted import teacher_bank
from components.records.case import Split
from components.records.image_bank import ImageBank
from components.review.decisions import Queue
from components.review.desk import Desk
from components.review.episode_items import episode_items
from components.review.items import Item, case_items
from components.review.panel import Gate, Panel, load_panel, review_folder, save_panel
from components.review.scripted import PANEL, check_nobody_reviewed, review_all, right_decisions
from components.review.status import ReviewStatus, write_status


class Assignment(NamedTuple):
    """What is to be reviewed."""

    queue: Queue
    splits: tuple[Split, ...] = tuple(Split)
    """Of cases; all teacher episodes are of training cases."""


class Link(NamedTuple):
    """Somebody's way in."""

    name: str
    role: str
    url: str
    """With the token for somebody new, without it for somebody who has a link already."""
    new: bool


def load_items(paths: Paths, assignment: Assignment) -> Sequence[Item]:
    """What is under review, in order.

    Raises:
        EviflowError: it is not there.

    """
    if assignment.queue is Queue.EPISODES:
        return episode_items(paths)
    return case_items(paths, assignment.splits)


def status(paths: Paths, assignment: Assignment) -> ReviewStatus:
    """Count what the last panel's review has come to, and write it down.

    Raises:
        UsageError: nobody has reviewed yet.

    """
    panel = load_panel(paths, assignment.queue)
    if panel is None:
        raise UsageError(f"nobody reviews {assignment.queue.value} yet; name people with --reviewers and --adjudicator")
    desk = Desk(panel, load_items(paths, assignment), review_folder(paths, assignment.queue))
    return write_status(paths, assignment.queue, desk)


def review_scripted(paths: Paths, assignment: Assignment, seed: int) -> ReviewStatus:
    """Let programs decide in people's place.

    Raises:
        UsageError: people have decided here.
        PreflightError: the queue is being reviewed right now.

    """
    queue = assignment.queue
    with _only_writer(paths, queue):
        check_nobody_reviewed(paths, queue, load_panel(paths, queue))
        items = load_items(paths, assignment)
        save_panel(paths, queue, PANEL)
        desk = Desk(PANEL, items, review_folder(paths, queue))
        review_all(desk, right_decisions(paths, queue, items), seed)
        return write_status(paths, queue, desk)


def serve(
    paths: Paths,
    assignment: Assignment,
    panel: Panel | None,
    *,
    host: str,
    port: int,
    renew: bool,
    announce: Callable[[Sequence[Link]], None],
) -> None:
    """Serve the review page until interrupted.

    Args:
        paths: the checkout.
        assignment: what is reviewed.
        panel: who reviews; None for those who did the last time.
        host: address to listen on.
        port: port to listen on; 0 for a free one.
        renew: replace every token.
        announce: is given the links once requests are accepted at them.

    Raises:
        UsageError: nobody was named, now or earlier.
        PreflightError: the queue is being reviewed already, or the port is taken.
        EviflowError: there is nothing to review.

    """
    queue = assignment.queue
    with _only_writer(paths, queue):
        people = panel or _last_people(paths, queue)
        desk = Desk(people, load_items(paths, assignment), review_folder(paths, queue))
        with _listening(host, port) as listener:
            save_panel(paths, queue, people)
            gate = Gate(paths.work / "review" / f"{queue.value}-tokens.json", people)
            base = f"http://{_spelled(host)}:{listener.getsockname()[1]}/{queue.value}"
            announce(_links(people, base, gate.issue(renew=renew)))
            try:
                _run(queue, desk, gate, _bank(paths, queue), listener)
            finally:
                write_status(paths, queue, desk)


def _run(queue: Queue, desk: Desk, gate: Gate, bank: ImageBank, listener: socket.socket) -> None:
    import uvicorn

    from components.review.app import ReviewApp

    config = uvicorn.Config(
        ReviewApp(queue, desk, gate, bank).build(), log_level="warning", access_log=False, timeout_graceful_shutdown=5
    )
    server = uvicorn.Server(config)
    server.run(sockets=[listener])
    # It ends by a signal; whether the signal is raised again before the loop has closed is a race.
    if server.should_exit:
        raise KeyboardInterrupt


def _last_people(paths: Paths, queue: Queue) -> Panel:
    panel = load_panel(paths, queue)
    if panel is None or panel.scripted:
        raise UsageError("who reviews? Name two people and a third, such as --reviewers ada,ben --adjudicator eve")
    return panel


def _links(panel: Panel, base: str, tokens: dict[str, str]) -> list[Link]:
    return [
        Link(
            person.name,
            person.role.value,
            f"{base}/{person.name}/" + (f"#token={tokens[person.name]}" if person.name in tokens else ""),
            person.name in tokens,
        )
        for person in panel.people
    ]


def _bank(paths: Paths, queue: Queue) -> ImageBank:
    if queue is Queue.CASES:
        return ImageBank(paths.candidates, also=[paths.web])
    return teacher_bank(paths)


@contextmanager
def _only_writer(paths: Paths, queue: Queue) -> Iterator[None]:
    """Ledgers have one writing process; the lock ends with it, however it ends."""
    folder = paths.work / "review"
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / f"{queue.value}.lock")
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise PreflightError(
            f"`eviflow data review` runs already for the {queue.value} of {paths.root}; use its links, or stop it first"
        ) from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise PreflightError(f"cannot listen on {host}:{port}: {error.strerror}; choose another --port") from None
        listener.listen()
        yield listener


def _spelled(host: str) -> str:
    if host in ("0.0.0.0", "::"):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host
