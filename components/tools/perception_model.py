"""Looking with a vision-language model: temperature 0, replies of a given form, everything else an outage."""

import asyncio
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

from PIL import Image

from components.tools import messages
from components.tools import perception_prompts as prompts
from components.tools.clients.chat import picture_part
from components.tools.failures import attributed, nothing
from components.tools.findings import Finding
from components.tools.perception import Aspect, Box, CheckType, Scope
from components.tools.perception_found import (
    Anomalies,
    CloseUp,
    Consistency,
    Count,
    Extraction,
    Inspection,
    ReferenceComparison,
    Scene,
    SearchWords,
)
from components.tools.perception_replies import ChatModel, contact_sheet, read_reply, schema_for
from components.tools.reading import best
from components.tools.sight import Sight
from components.tools.views import cropped, views_of

MOST_PASSAGES, MOST_CHARS = 24, 18_000
"""Of a page, what a model is shown."""
_EDITS = frozenset({"addition", "removal", "modification"})
"""The differences that are signs of an edit."""
_NO = "nothing in particular"

T = TypeVar("T", bound=Finding)


class ModelPerception:
    """A model behind the protocol that classical vision stands behind in the closed world.

    Args:
        chat: the model.
        yxyx: whether it writes boxes in thousandths as y1, x1, y2, x2.
        one_picture: whether it takes one picture in a request; several become a contact sheet.
        extra: further fields of every request.

    """

    def __init__(
        self,
        chat: ChatModel,
        *,
        yxyx: bool = False,
        one_picture: bool = False,
        extra: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self._chat = chat
        self._extra = extra
        self._yxyx = yxyx
        self._one_picture = one_picture

    def countable(self, target: str) -> str | None:
        """Everything is."""
        return target

    async def perceive(self, image: Sight) -> Scene:
        """The scene with its entities and relations."""
        return await self._ask(Scene, 4000, prompts.PERCEIVE, [image])

    async def count(self, image: Sight, target: str, box: Box | None) -> Count:
        """The model's count; a part is cropped, so that nothing else is counted, and boxes are the part's."""
        shown = image if box is None else cropped(image, box)
        found = await self._ask(Count, 500, prompts.COUNT.format(target=target), [shown])
        return found.model_copy(update={"target": target})

    async def closeup(self, part: Sight, question: str, expected_property: str) -> CloseUp:
        """What the part shows."""
        asked = prompts.CLOSEUP.format(question=question, expected=expected_property or _NO)
        return await self._ask(CloseUp, 1000, asked, [part])

    async def inspect(
        self, image: Sight, question: str, expected_property: str, scope: Scope, regions: Sequence[Box]
    ) -> Inspection:
        """The answer to a question; what is told of a view that there is not is dropped."""
        views = views_of(image, scope, regions)
        asked = prompts.INSPECT.format(scope=scope, question=question, expected=expected_property)
        found = await self._ask(Inspection, 2400, asked, views)
        kept = tuple(item for item in found.observations if item.view_index < len(views))
        dropped = len(found.observations) - len(kept)
        warnings = (*found.warnings, *([f"{dropped} observations of views that there are not"] if dropped else []))
        return found.model_copy(update={"observations": kept, "warnings": warnings})

    async def consistency(self, image: Sight, aspect: Aspect) -> Consistency:
        """Whether the picture fits together."""
        found = await self._ask(Consistency, 1000, prompts.CONSISTENCY.format(aspect=aspect), [image])
        return found.model_copy(update={"aspect_checked": aspect})

    async def anomalies(
        self, image: Sight, check_type: CheckType, focus_areas: Sequence[str], context: str
    ) -> Anomalies:
        """What is odd in the picture."""
        areas = ", ".join(focus_areas) or _NO
        asked = prompts.ANOMALIES.format(kind=check_type, areas=areas, context=context or _NO)
        return await self._ask(Anomalies, 8192, asked, [image])

    async def compare(self, image: Sight, reference: Sight, focus: str, expected_property: str) -> ReferenceComparison:
        """Equal pixels are told by code; of others, only what was added, removed or modified is a sign of an edit."""
        if await asyncio.to_thread(_same_pixels, image.image, reference.image):
            return _EQUAL
        asked = prompts.COMPARE.format(focus=focus or _NO, expected=expected_property or _NO)
        found = await self._ask(ReferenceComparison, 8192, asked, [image, reference])
        edited = any(item.type in _EDITS for item in found.differences)
        strength = found.edit_evidence_strength if edited else "none"
        return found.model_copy(update={"edit_evidence_present": edited, "edit_evidence_strength": strength})

    async def describe(self, image: Sight) -> SearchWords:
        """A query in the model's words; raises ToolFailure for one that gives orders."""
        words = await self._ask(SearchWords, 4096, prompts.DESCRIBE, [image])
        if words.query == messages.TEXT_WITHHELD:
            raise nothing(messages.NO_WORDS)
        return words

    async def extract(self, passages: Sequence[str], question: str, context: str) -> Extraction:
        """The model's choice of the passages that share most words with the question; `measured` has no part in it."""
        numbers, room = [], MOST_CHARS
        for at in best(passages, (question, context), MOST_PASSAGES):
            room -= len(passages[at])
            if room >= 0:
                numbers.append(at)
        shown = "\n".join(f"[{at}] {passages[at]}" for at in numbers)
        asked = prompts.EXTRACT.format(question=question, context=context or _NO, passages=shown)
        found = await self._ask(Extraction, 4096, asked, [])
        chosen = found.passage_id if found.passage_id in numbers else -1
        others = tuple(at for at in found.supporting_passage_ids if at in numbers) if chosen >= 0 else ()
        return found.model_copy(update={"passage_id": chosen, "supporting_passage_ids": others})

    async def _ask(self, kind: type[T], max_tokens: int, text: str, pictures: Sequence[Sight]) -> T:
        """One request; raises ToolFailure for a reply that is none."""
        images = [picture.image for picture in pictures]
        if self._one_picture and len(images) > 1:
            images = [contact_sheet(images)]
        parts = await asyncio.to_thread(lambda: [picture_part(image) for image in images])
        messages = (
            {"role": "system", "content": prompts.SYSTEM},
            {"role": "user", "content": [*parts, {"type": "text", "text": text}]},
        )
        with attributed():
            completion = await self._chat.complete(
                messages, max_tokens=max_tokens, temperature=0.0, schema=schema_for(kind), extra=self._extra
            )
            return read_reply(kind, completion, yxyx=self._yxyx)


_EQUAL = ReferenceComparison(
    same_subject_or_scene=True,
    same_capture_or_near_duplicate=True,
    likely_different_original_capture=False,
    overall_observation="the same picture, pixel by pixel",
    confidence=1.0,
    comparison_status="compared",
    comparison_method="deterministic_exact_pixels",
)


def _same_pixels(one: Image.Image, other: Image.Image) -> bool:
    return one.size == other.size and one.convert("RGB").tobytes() == other.convert("RGB").tobytes()
