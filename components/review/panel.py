"""Who reviews, and the tokens by which they are known. Only hashes of tokens are ever written down."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from components.config.paths import Paths
from components.errors import EviflowError, UsageError
from components.records.base import Record
from components.review.decisions import Queue, Role
from components.storage.atomic import write_json

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,30}")
"""A reviewer's name is also the name of a file and a part of an address."""
RESERVED = ("outcomes", "scripted")
"""How no person's name begins: other files have these names."""


class Person(NamedTuple):
    """Somebody at work."""

    name: str
    role: Role


class Panel(Record):
    """Two reviewers and an adjudicator."""

    reviewers: tuple[str, str]
    adjudicator: str
    scripted: bool = False
    """Whether programs stand in for them."""

    @property
    def people(self) -> tuple[Person, ...]:
        """All three."""
        return (
            *(Person(name, Role.REVIEWER) for name in self.reviewers),
            Person(self.adjudicator, Role.ADJUDICATOR),
        )


class _Tokens(Record):
    """SHA-256 of each person's token."""

    hashes: dict[str, str]


def make_panel(reviewers: str, adjudicator: str) -> Panel:
    """A panel of people.

    Args:
        reviewers: two names, separated by a comma.
        adjudicator: a third name.

    Raises:
        UsageError: a name is missing, ill-formed or given twice.

    """
    names = [name.strip() for name in reviewers.split(",") if name.strip()]
    if len(names) != 2:
        raise UsageError(f"--reviewers names {len(names)} people, but two decide on each item, such as `ada,ben`")
    everybody = [*names, adjudicator]
    for name in everybody:
        if name.startswith(RESERVED):
            raise UsageError(f"{name!r} cannot be a reviewer's name: no name begins with {' or '.join(RESERVED)}")
        if not NAME.fullmatch(name):
            raise UsageError(f"{name!r} is no reviewer's name; use lower-case letters, digits, `-` and `_`")
    if len(set(everybody)) < 3:
        raise UsageError(f"{', '.join(everybody)} are not three people; nobody may settle a dispute of their own")
    return Panel(reviewers=(names[0], names[1]), adjudicator=adjudicator)


def review_folder(paths: Paths, queue: Queue) -> Path:
    """Where a queue's panel and ledgers lie."""
    return paths.reviews / queue.value


def load_panel(paths: Paths, queue: Queue) -> Panel | None:
    """The panel that last reviewed a queue, if there is one.

    Raises:
        EviflowError: its file is damaged.

    """
    path = review_folder(paths, queue) / "panel.json"
    try:
        return Panel.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError:
        raise EviflowError(f"{path} is no panel; remove it and name the reviewers again with --reviewers") from None


def save_panel(paths: Paths, queue: Queue, panel: Panel) -> None:
    """Remember who reviews a queue."""
    write_json(review_folder(paths, queue) / "panel.json", panel)


class Gate:
    """Knows people by their tokens.

    Args:
        path: file of the tokens' hashes.
        panel: whose tokens count.

    """

    def __init__(self, path: Path, panel: Panel) -> None:
        self._path = path
        self._people = {person.name: person for person in panel.people}
        self._hashes = _read_hashes(path)

    def issue(self, *, renew: bool = False) -> dict[str, str]:
        """New tokens by name, for those who have none; with `renew` for all, and the old ones end.

        A token is known in the clear only here: afterwards there is its hash.
        """
        wanted: Collection[str] = [name for name in self._people if renew or name not in self._hashes]
        tokens = {name: secrets.token_urlsafe(32) for name in wanted}
        if tokens:
            self._hashes |= {name: _hashed(token) for name, token in tokens.items()}
            write_json(self._path, _Tokens(hashes=self._hashes))
        return tokens

    def admit(self, name: str, token: str) -> Person | None:
        """The person of that name, if the token is theirs; the comparison takes the same time either way."""
        known = self._hashes.get(name, "")
        matches = hmac.compare_digest(_hashed(token), known)
        return self._people.get(name) if matches else None


def _hashed(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _read_hashes(path: Path) -> dict[str, str]:
    try:
        return dict(_Tokens.model_validate_json(path.read_bytes()).hashes)
    except FileNotFoundError:
        return {}
    except ValidationError:
        raise EviflowError(f"{path} is damaged; remove it, and every reviewer gets a new link") from None
