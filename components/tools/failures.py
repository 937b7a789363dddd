"""From a service's failure to what a policy reads; no outage is ever told as an empty result."""

from collections.abc import Iterator
from contextlib import contextmanager

from components.records.episode import FailureClass
from components.tools import messages
from components.tools.base import ToolFailure
from components.tools.clients.errors import NotThere, NotUploaded, OffLimits, ServiceError, Unusable


@contextmanager
def attributed(source_url: str | None = None) -> Iterator[None]:
    """Turn what clients raise into a ToolFailure of the right class."""
    try:
        yield
    except ServiceError as error:
        payload = {"service": error.service, "reason": error.reason}
        text = messages.unavailable(error.service)
        charged = not isinstance(error, NotUploaded)
        raise ToolFailure(FailureClass.INFRASTRUCTURE, text, payload, source_url=source_url, charged=charged) from error
    except NotThere as error:
        payload = {"reason": str(error)}
        raise ToolFailure(FailureClass.EMPTY_RESULT, messages.NOT_THERE, payload, source_url=source_url) from error
    except OffLimits as error:
        payload = {"reason": str(error)}
        raise ToolFailure(FailureClass.POLICY, messages.OFF_LIMITS, payload, source_url=source_url) from error
    except Unusable as error:
        payload = {"reason": str(error)}
        raise ToolFailure(FailureClass.INFRASTRUCTURE, messages.BAD_PICTURE, payload, source_url=source_url) from error


def nothing(text: str, **payload: object) -> ToolFailure:
    """The service works, and there is nothing."""
    return ToolFailure(FailureClass.EMPTY_RESULT, text, payload)
