"""Naming a model on a server: `openai:URL#MODEL`."""

import re
from typing import Annotated, NamedTuple
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator

from components.errors import UsageError

PREFIX = "openai:"
FORM = f"{PREFIX}URL#MODEL"
SCRIPTED = "scripted"
_EXAMPLE = f"an example is {PREFIX}http://127.0.0.1:8000/v1#Qwen/Qwen3.5-9B"
_LONGEST_NAME = 80


class ServedModel(NamedTuple):
    """A model, and where it is served."""

    base: str
    """Address up to and with `/v1`."""
    model: str
    """As the server calls it."""

    @property
    def name(self) -> str:
        """What episodes call the policy: fit for the name of a file."""
        return "openai-" + re.sub(r"[^A-Za-z0-9._]+", "-", self.model).strip("-.")[:_LONGEST_NAME]

    @property
    def vocabulary(self) -> str:
        """Whose numbers its token ids are, where nobody says which tokenizer it has."""
        return f"{self.base}#{self.model}"


def is_served(policy: str) -> bool:
    """Whether a policy's name is meant to be that of a model on a server."""
    return policy.startswith(PREFIX)


def read_served_model(text: str) -> ServedModel:
    """The model that `openai:URL#MODEL` names.

    Raises:
        UsageError: it has another form, or a key in it.

    """
    address, _, model = text.removeprefix(PREFIX).partition("#")
    url = _split(address)
    if url is not None and (url.username is not None or url.password is not None or url.query):
        raise UsageError(f"the address of {FORM} may hold no key, since it is recorded; set EVIFLOW_OPENAI_KEY instead")
    if url is None or url.scheme not in ("http", "https") or not url.hostname or not model.strip():
        raise UsageError(f"`{text}` is no {FORM}; {_EXAMPLE}")
    return ServedModel(address.rstrip("/"), model.strip())


def _split(address: str) -> SplitResult | None:
    try:
        url = urlsplit(address)
        _ = url.port
    except ValueError:
        return None
    return url


def _of_a_server(text: str) -> str:
    """Whoever sets it is told the right form; a key that was written into an address is not repeated."""
    try:
        read_served_model(text)
    except UsageError as error:
        if "may hold no key" in str(error):
            raise
        raise ValueError(f"{FORM}; {_EXAMPLE}") from None
    if not is_served(text):
        raise ValueError(f"{FORM}; {_EXAMPLE}")
    return text


def _of_a_teacher(text: str) -> str:
    if text == SCRIPTED:
        return text
    try:
        return _of_a_server(text)
    except ValueError as error:
        raise ValueError(f"{SCRIPTED} or {error}") from None


TeacherName = Annotated[str, AfterValidator(_of_a_teacher)]
"""`scripted` or `openai:URL#MODEL`."""
ServedName = Annotated[str, AfterValidator(_of_a_server)]
"""`openai:URL#MODEL`."""
