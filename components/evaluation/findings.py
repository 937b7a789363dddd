"""What is found wrong with an episode on its way to being learned from: at which gate, of which kind, at which turn."""

from enum import StrEnum

from components.records.admission import Gate
from components.records.base import Record


class Fatal(StrEnum):
    """The strict audit's families; nothing else that it finds keeps an episode out."""

    PROVIDER_FAILURE = "provider_failure"
    """Whoever answers for the policy gave no turn that may be used."""
    TERMINATION_NOT_SUCCESS = "termination_not_success"
    """There is no report, or the investigation was ended for it."""
    TRACE_CORRUPT = "trace_corrupt"
    """Turns, calls and observations do not fit together."""
    MALFORMED = "malformed"
    """What is kept as a JSON object is none."""
    POST_VERDICT = "post_verdict"
    """Something comes after the report."""
    ENGINEERING = "engineering"
    """A tool broke its contract, or executed what it had to refuse."""
    SOURCE_ACCESS = "source_access"
    """Something was read from a source that is out of bounds."""
    POLICY_VIOLATION = "policy_violation"
    """Such a source, or a ready-made verdict, was asked for."""
    EVIDENCE_CALL_NOT_SUCCESSFUL = "evidence_call_not_successful"
    """The report cites a call that failed."""
    INVALID_EVIDENCE = "invalid_evidence"
    """The report cites nothing, or what is no evidence."""


class Notice(StrEnum):
    """What the audit only notes."""

    PROTOCOL_CORRECTION = "protocol_correction"
    """A turn was refused, and the policy was told why."""
    RECOVERED_FAILURE = "recovered_failure"
    """A call failed, and a later one did not."""
    UNRECOVERED_FAILURE = "unrecovered_failure"
    """A call failed, and no later one found anything."""
    CACHE_HIT = "cache_hit"
    """An answer came from a cache."""


class Finding(Record):
    """One thing that was found."""

    gate: Gate
    code: str
    """Its kind, unique within the gate."""
    fatal: bool
    """Whether it keeps the episode out."""
    step: int | None = None
    """Position of the turn that it is about; None for the episode as a whole."""
    sentence: str
    """For a reader."""

    @property
    def reason(self) -> str:
        """Gate and kind, `audit:policy_violation`: what an episode was rejected for."""
        return f"{self.gate.value}:{self.code}"


def fatal(gate: Gate, code: Fatal, sentence: str, step: int | None = None) -> Finding:
    """A finding that keeps the episode out."""
    return Finding(gate=gate, code=code.value, fatal=True, step=step, sentence=sentence)


def notice(code: Notice, sentence: str, step: int) -> Finding:
    """A finding of the audit that is only noted."""
    return Finding(gate=Gate.AUDIT, code=code.value, fatal=False, step=step, sentence=sentence)
