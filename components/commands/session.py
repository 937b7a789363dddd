"""What every command is given: the checkout, and how to fail."""

import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from components.config.paths import Paths
from components.errors import EviflowError, UsageError


@dataclass
class Session:
    """Options that stand before the command's name."""

    root: Path = field(default_factory=Path)
    debug: bool = False

    @property
    def paths(self) -> Paths:
        """Where everything lies.

        Raises:
            UsageError: `root` is no checkout.

        """
        root = self.root.resolve()
        if not (root / "params.yaml").is_file():
            raise UsageError(f"{root} has no params.yaml; run inside a checkout of EviFlow, or name one with --root")
        return Paths(root)


def guarded(session: Session, action: Callable[[], object]) -> int:
    """Run `action`; an error becomes one sentence on standard error, and the exit code that it stands for."""
    try:
        action()
    except EviflowError as error:
        return _fail(session, f"{error}", error.exit_code)
    except KeyboardInterrupt:
        return _fail(session, "interrupted; run the same command again to go on", 130)
    except Exception as error:  # the boundary to the user: a fault of ours, shown in one line
        text = str(error).strip().split("\n")[0]
        return _fail(session, f"unexpected {type(error).__name__}: {text} (--debug shows where)", 1)
    return 0


def _fail(session: Session, sentence: str, exit_code: int) -> int:
    if session.debug:
        traceback.print_exc()
    print(f"eviflow: {sentence}", file=sys.stderr)
    return exit_code
