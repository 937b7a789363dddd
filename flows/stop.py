"""How a flow's process is asked to stop."""

import signal
import sys
from types import FrameType


def stop_politely() -> None:
    """Let SIGTERM and a closed terminal end this process by an exception, so that everything is closed on the way out.

    Prefect passes SIGTERM on to the handler that was there before a flow. Without one the process would die at once,
    and Prefect's embedded server would stay behind.
    """
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGHUP, _leave)


def _leave(number: int, frame: FrameType | None) -> None:
    print("eviflow: ended by a signal; run the same command again to go on", file=sys.stderr)
    sys.exit(128 + number)
