"""How a service fails. None of these is ever shown as an empty result."""


class ServiceError(Exception):
    """A service gave no answer.

    Args:
        service: what was asked, in words a policy may read: "search".
        reason: what happened, for the record; holds no key.

    """

    reply: bytes = b""
    """What came instead, without keys; empty where nothing came, or where nobody keeps it."""

    def __init__(self, service: str, reason: str) -> None:
        super().__init__(service, reason)
        self.service = service
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.service}: {self.reason}"


class Overloaded(ServiceError):
    """The service asks to come back later, or broke; the only failure that is tried again.

    Args:
        service: as above.
        reason: as above.
        wait_s: seconds that the service asks to wait; None when it does not say.

    """

    def __init__(self, service: str, reason: str, wait_s: float | None = None) -> None:
        super().__init__(service, reason)
        self.wait_s = wait_s


class Rejected(ServiceError):
    """The service does not take our key, or we have no credit left; trying again would not help."""


class Quarantined(ServiceError):
    """A reply that came and may not be used: no tool runs on it, and it is kept as it came.

    Args:
        service: as above.
        reason: as above.
        reply: the body, without keys.

    """

    def __init__(self, service: str, reason: str, reply: bytes) -> None:
        super().__init__(service, reason)
        self.reply = reply


class NotUploaded(ServiceError):
    """A picture could not be laid where a search would look at it: the search itself was never made."""


class NotThere(Exception):
    """The service works, and what was asked for does not exist."""


class OffLimits(Exception):
    """The address is none of the public web, or may not be opened at all."""


class Unusable(Exception):
    """What came back is no picture, or one too large to open."""
