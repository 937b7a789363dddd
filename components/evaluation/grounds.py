"""Whether cited observations bear out a check: what was really seen in the picture, and what a page really says."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from components.evaluation.explanation import contains
from components.records.case import Attribute, Check, Gold
from components.records.episode import Observation
from components.records.kinds import counted
from components.tools.base import LEAD_TOOLS

_READS_PRINT = frozenset({"ocr_with_position", "crop_and_inspect"})


_GLANCED = {Attribute.SIDE: "on the {0}", Attribute.ACTION: "action {0}", Attribute.SKY: "sky {0}"}
"""How a glance tells what it sees."""


def seen(check: Check, gold: Gold, cited: Sequence[Observation], all_successful: Sequence[Observation]) -> bool:
    """Whether a cited observation of the picture shows the depicted value.

    For a person that is a comparison with a picture of the documented one; where that picture was found may be told by
    any successful observation. For the photo it is a comparison with a picture on a cited page that gives its year.
    """
    match check.attribute:
        case Attribute.COUNT:
            return any(_counted(item, gold.object_kind) == check.depicted for item in cited)
        case Attribute.HOST | Attribute.GUEST:
            expected = "same person" if check.holds else "different person"
            return any(
                _result(item).startswith(expected) and _shows_person(item.source_url or "", check, all_successful)
                for item in _comparisons(cited)
            )
        case Attribute.PHOTO:
            pages = [item for item in cited if item.tool == "visit" and contains(_result(item), check.depicted)]
            return any(
                "same scene" in _result(item) and any((item.source_url or "") in page.text.split() for page in pages)
                for item in _comparisons(cited)
            )
        case Attribute.SIDE | Attribute.ACTION | Attribute.SKY:
            told = _GLANCED[check.attribute].format(check.depicted)
            return any(item.tool == "perceive_scene" and contains(_result(item), told) for item in cited)
        case _:
            return any(item.tool in _READS_PRINT and contains(_result(item), check.depicted) for item in cited)


def _comparisons(cited: Sequence[Observation]) -> list[Observation]:
    return [item for item in cited if item.tool == "compare_with_reference" and item.source_url]


def documented(check: Check, gold: Gold, cited: Sequence[Observation]) -> bool:
    """Whether a cited page that records the event contains the documented value word for word."""
    accepted = {_same_page(url) for url in (*gold.official_urls, *(e.canonical_url for e in gold.acceptable_evidence))}
    pages = [item for item in cited if item.tool == "visit" and item.source_url]
    return any(
        _same_page(page.source_url or "") in accepted and _says(_result(page), check, gold.object_kind)
        for page in pages
    )


def _says(text: str, check: Check, object_kind: str) -> bool:
    if check.attribute is Attribute.COUNT:
        return contains(text, counted(object_kind, int(check.documented)))
    return contains(text, check.documented)


def _result(observation: Observation) -> str:
    """The text without the line that names the observation."""
    first, _, rest = observation.text.partition("\n")
    return rest if first.strip() == observation.observation_id else observation.text


def _counted(observation: Observation, object_kind: str) -> str | None:
    """The number that a count of the right kind returned."""
    if observation.tool != "count_objects":
        return None
    match = re.match(rf"{re.escape(object_kind)}s?:\s*(\d+)", _result(observation).strip(), re.IGNORECASE)
    return match[1] if match else None


def _shows_person(picture_url: str, check: Check, successful: Sequence[Observation]) -> bool:
    """Whether the picture was found under the documented person's name: in a result's caption, or on a page.

    A page that names a guest does not say which of the people in its picture that is.
    """
    for observation in successful:
        lines = _result(observation).split("\n")
        places = [number for number, line in enumerate(lines) if picture_url in line.split()]
        if not places:
            continue
        by_page = observation.tool == "visit" and check.attribute is Attribute.HOST
        if by_page and contains("\n".join(lines), check.documented):
            return True
        if observation.tool in LEAD_TOOLS and any(
            contains(" ".join(lines[max(0, place - 1) : place + 1]), check.documented) for place in places
        ):
            return True
    return False


def _same_page(url: str) -> str:
    parts = urlsplit(url.strip())
    return f"{parts.netloc.casefold()}{parts.path.rstrip('/')}?{parts.query}"
