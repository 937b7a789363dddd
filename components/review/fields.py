"""What reviewers may edit in a case's record, which edits make no sense, and the record with the edits in it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from components.records.base import Record
from components.records.case import Check, ErrorType, Evidence, Gold, Verdict

NO_ERROR = "none"
"""The error type of a supported case, as reviewers see it."""
WORDED = ("claim", "explanation", "evidence")
"""Free text that may be changed and not left out."""


class Field(Record):
    """Something in an item that a reviewer may edit."""

    name: str
    title: str
    value: str
    choices: tuple[str, ...] = ()
    """The only values there are; empty for free text."""


class Span(NamedTuple):
    """A documented fact in the words of its page, however many details it documents."""

    url: str
    text: str


def spans_of(evidence: Sequence[Evidence]) -> list[Span]:
    """Every span once, page by page, in the order of the evidence."""
    pages: dict[str, dict[str, None]] = {}
    for item in evidence:
        pages.setdefault(item.canonical_url, {}).setdefault(item.exact_span)
    return [Span(url, text) for url, texts in pages.items() for text in texts]


def case_fields(gold: Gold, explanation: str) -> list[Field]:
    """What may be edited: claim, label, error type, explanation, every detail, and the evidence by its spans."""
    verdicts = tuple(verdict.value for verdict in Verdict)
    kinds = (NO_ERROR, *(kind.value for kind in ErrorType))
    kind = gold.error_type.value if gold.error_type else NO_ERROR
    fields = [
        Field(name="claim", title="Claim", value=gold.target_claim),
        Field(name="label", title="Label", value=gold.factual_status.value, choices=verdicts),
        Field(name="error_type", title="Error type", value=kind, choices=kinds),
        Field(name="explanation", title="Explanation", value=explanation),
    ]
    for check in gold.checks:
        name = check.attribute.value
        fields.append(Field(name=f"pictured.{name}", title=f"Pictured {name}", value=check.depicted))
        fields.append(Field(name=f"documented.{name}", title=f"Documented {name}", value=check.documented))
    for number, span in enumerate(spans_of(gold.acceptable_evidence), 1):
        fields.append(Field(name=_evidence_name(number), title=f"Evidence on {span.url}", value=span.text))
    return fields


def refusal(
    fields: Sequence[Field], checks: Sequence[Check], pages: Sequence[str], edits: Mapping[str, str]
) -> str | None:
    """Why a case cannot be taken with these edits; None when it can.

    Args:
        fields: what may be edited, as `case_fields` gives it.
        checks: the details as they are.
        pages: the text of the page of each span, in the order of `spans_of`.
        edits: new values by field name.

    """
    for name, new in edits.items():
        if name.split(".")[0] in WORDED and not new.strip():
            return f"{name} cannot be left empty; reject the case instead"
    for number, text in enumerate(pages, 1):
        span = edits.get(_evidence_name(number))
        if span is not None and span not in text:
            return f"{_evidence_name(number)} does not stand on its page, word for word: {span[:80]!r}"
    values = {field.name: edits.get(field.name, field.value) for field in fields}
    supported = values["label"] == Verdict.SUPPORTED.value
    if checks and supported != all(check.holds for check in _checks(checks, edits)):
        return f"the label would be {values['label']}, but the details say otherwise; edit both"
    if supported and values["error_type"] != NO_ERROR:
        return f"a supported case has no error type; set it to {NO_ERROR} as well"
    return None


def explain(checks: Sequence[Check]) -> str:
    """What the checks come to, in sentences: first what differs, then what agrees."""
    differs = [
        f"The picture shows the {check.attribute.value} {check.depicted}; the record says {check.documented}."
        for check in checks
        if not check.holds
    ]
    holds = [f"{check.attribute.value} {check.documented}" for check in checks if check.holds]
    agrees = [f"Picture and record agree on {_listed(holds)}."] if holds else []
    return " ".join([*differs, *agrees])


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]


def edited(gold: Gold, explanation: str, edits: Mapping[str, str]) -> Gold:
    """The record with the edits in it, and with its explanation, which follows edited details unless edited itself.

    Args:
        gold: as it was shown.
        explanation: as it was shown.
        edits: new values by field name, none of them refused.

    """
    checks = _checks(gold.checks, edits)
    derived = explanation if checks == gold.checks else explain(checks)
    kind = edits.get("error_type", gold.error_type.value if gold.error_type else NO_ERROR)
    return gold.model_copy(
        update={
            "factual_status": Verdict(edits.get("label", gold.factual_status.value)),
            "target_claim": edits.get("claim", gold.target_claim),
            "explanation": edits.get("explanation", derived),
            "error_type": None if kind == NO_ERROR else ErrorType(kind),
            "checks": checks,
            "acceptable_evidence": tuple(_evidence(gold, checks, edits)),
        }
    )


def _evidence_name(number: int) -> str:
    return f"evidence.{number}"


def _checks(checks: Sequence[Check], edits: Mapping[str, str]) -> tuple[Check, ...]:
    return tuple(
        Check(
            attribute=check.attribute,
            depicted=edits.get(f"pictured.{check.attribute.value}", check.depicted),
            documented=edits.get(f"documented.{check.attribute.value}", check.documented),
        )
        for check in checks
    )


def _evidence(gold: Gold, checks: Sequence[Check], edits: Mapping[str, str]) -> list[Evidence]:
    """The evidence in its new words; where a detail was edited, it bears on the picture as the detail now does."""
    names = {span: _evidence_name(number) for number, span in enumerate(spans_of(gold.acceptable_evidence), 1)}
    stances = {
        new.attribute.value: "supports" if new.holds else "refutes"
        for old, new in zip(gold.checks, checks, strict=True)
        if old != new
    }
    return [
        item.model_copy(
            update={
                "exact_span": edits.get(names[Span(item.canonical_url, item.exact_span)], item.exact_span),
                "stance": stances.get(item.source_id.rpartition(":")[2], item.stance),
            }
        )
        for item in gold.acceptable_evidence
    ]
