"""The errors that users meet: one sentence that names the item and the mend, and an exit code."""


class EviflowError(Exception):
    """Something failed in a way the user can act on; the message says what and how to mend it."""

    exit_code = 1


class UsageError(EviflowError):
    """The command, the configuration or an input file is wrong (exit code 2)."""

    exit_code = 2


class PreflightError(EviflowError):
    """The work cannot start here: something it needs is held or missing (exit code 3)."""

    exit_code = 3
