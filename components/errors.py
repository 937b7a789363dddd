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


class BudgetReached(EviflowError):
    """A stage has spent its budget before it was done; what is finished is kept (exit code 4)."""

    exit_code = 4


class Drained(EviflowError):
    """A stage was asked to end before it was done; what is finished is kept (exit code 143, as of SIGTERM)."""

    exit_code = 143


def stage_failure(stage: str, exit_code: int) -> EviflowError:
    """What to say of a stage whose process has ended with `exit_code`, having said why itself."""
    again = "and run the same command again"
    if exit_code == BudgetReached.exit_code:
        return BudgetReached(f"stage `{stage}` has spent its budget, see above; raise it {again}")
    if exit_code == Drained.exit_code:
        return Drained(f"stage `{stage}` was asked to end, see above; run the same command again to go on")
    return EviflowError(f"stage `{stage}` failed, see above; mend it {again}")


def nearest(wrong: str, known: Sequence[str]) -> str:
    """The one of `known` that is most like `wrong`."""
    return max(known, key=lambda name: difflib.SequenceMatcher(None, wrong, name).ratio())


def unknown_name(kind: str, wrong: str, known: Sequence[str]) -> UsageError:
    """The error for a name that there is not, with the nearest right one; `kind` says of what, in the singular."""
    near = nearest(wrong, known)
    return UsageError(f"there is no {kind} `{wrong}`; the nearest right name is `{near}`, of {', '.join(known)}")
