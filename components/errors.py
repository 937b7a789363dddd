"""The errors that users meet: one sentence that names the item and the mend, and an exit code."""

import difflib
from collections.abc import Sequence


class EviflowError(Exception):
    """Something failed in a way the user can act on; the message says what and how to mend it."""

    exit_code = 1


class UsageError(EviflowError):
    """The command, the configuration or an input file is wrong (exit code 2)."""

    exit_code = 2


class PreflightError(EviflowError):
    """The work cannot start here: something it needs is held or missing (exit code 3)."""

    exit_code = 3


def unknown_name(kind: str, wrong: str, known: Sequence[str]) -> UsageError:
    """The error for a name that there is not, with the nearest right one; `kind` says of what, in the singular."""
    nearest = max(known, key=lambda name: difflib.SequenceMatcher(None, wrong, name).ratio())
    return UsageError(f"there is no {kind} `{wrong}`; the nearest right name is `{nearest}`, of {', '.join(known)}")
