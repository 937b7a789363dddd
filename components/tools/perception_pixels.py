"""Looking with classical vision alone: what it cannot tell it calls ambiguous or uncertain, and names why."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from components.records.kinds import KINDS
from components.tools import messages
from components.tools.failures import nothing
from components.tools.perception import Aspect, Box, CheckType, Scope
from components.tools.perception_found import (
    Anomalies,
    Anomaly,
    CloseUp,
    Consistency,
    Count,
    Extraction,
    Inconsistency,
    Inspection,
    ReferenceComparison,
    Scene,
    SearchWords,
    Seen,
)
from components.tools.reading import choose
from components.tools.sight import Sight
from components.tools.views import cropped, views_of

if TYPE_CHECKING:
    from components.tools.vision_measures import Measure

_MEASURED: dict[str, tuple["Measure", ...]] = {"edges": ("sharpness",), "all": ("noise", "sharpness")}
"""What can be measured of an aspect; of the others, nothing."""
_MOST_PASSAGE_CHARS = 700


class PixelPerception:
    """The closed world's eyes behind the protocol that a model stands behind elsewhere."""

    def countable(self, target: str) -> str | None:
        """The kind that a target names, in singular or plural."""
        name = target.casefold()
        return next((kind for kind in KINDS if name in (kind, f"{kind}s")), None)

    async def perceive(self, image: Sight) -> Scene:
        """A glance, in one sentence."""
        # What is known already needs no thread.
        glance = image.glance if image.knows("glance") else await asyncio.to_thread(lambda: image.glance)
        kind, _, description = glance.text.partition(": ")
        return Scene.model_validate(
            {"image_type": kind, "scene_description": description, "measured": dict(glance.payload)}
        )

    async def count(self, image: Sight, target: str, box: Box | None) -> Count:
        """By shape and colour."""
        if box is None and image.knows("look"):
            number = image.count(target)
        else:
            number = await asyncio.to_thread(lambda: (image if box is None else cropped(image, box)).count(target))
        measured = {"target_object": target, "count": number} | ({"bbox": list(box)} if box else {})
        return Count(target=target, count=number, confidence=None, measured=measured)

    async def closeup(self, part: Sight, question: str, expected_property: str) -> CloseUp:
        """A glance at the part."""
        glance = await asyncio.to_thread(lambda: part.glance)
        return CloseUp(description=glance.text, limitations=(messages.NOT_READ,))

    async def inspect(
        self, image: Sight, question: str, expected_property: str, scope: Scope, regions: Sequence[Box]
    ) -> Inspection:
        """A glance at each view; whether that answers the question is left to whoever asked."""
        views = views_of(image, scope, regions)
        glances = await asyncio.to_thread(lambda: [view.glance.text for view in views])
        seen = [
            Seen(view_index=at, statement=text, property_status="uncertain", confidence=None)
            for at, text in enumerate(glances)
        ]
        return Inspection(
            answer_status="ambiguous",
            summary="what each view shows, by shape and colour",
            observations=tuple(seen),
            limitations=(messages.NOT_READ,),
        )

    async def consistency(self, image: Sight, aspect: Aspect) -> Consistency:
        """Sharpness, and for all aspects noise as well, part by part; never a verdict."""
        spreads = await self._spreads(image, _MEASURED.get(aspect, ()))
        return Consistency(
            consistent=None,
            aspect_checked=aspect,
            details="; ".join(spreads) or messages.NOT_MEASURED,
            inconsistencies=tuple(
                Inconsistency(description=f"{text} stands out", severity="unrated", bbox=box)
                for text, box in spreads.items()
                if box
            ),
            limitations=(messages.NOT_JUDGED,),
        )

    async def anomalies(
        self, image: Sight, check_type: CheckType, focus_areas: Sequence[str], context: str
    ) -> Anomalies:
        """Parts whose noise or sharpness stands out, where these are asked for; what that means is not judged."""
        measured = () if check_type == "physical_consistency" else _MEASURED["all"]
        spreads = await self._spreads(image, measured)
        return Anomalies(
            anomalies=tuple(
                Anomaly(name="outlier", bbox=box, phenomenon=text, severity=None, type="unclassified")
                for text, box in spreads.items()
                if box
            ),
            overall_authenticity="uncertain",
            confidence=None,
            notes="; ".join((*spreads, messages.NOT_JUDGED)),
        )

    async def compare(self, image: Sight, reference: Sight, focus: str, expected_property: str) -> ReferenceComparison:
        """Whether the person and the scene are the same."""
        found = await asyncio.to_thread(image.compare, reference)
        comparable = found.same_person is not None or bool(found.same_scene)
        return ReferenceComparison(
            same_subject_or_scene=bool(found.same_person or found.same_scene) if comparable else None,
            same_capture_or_near_duplicate=None,
            likely_different_original_capture=None,
            overall_observation=found.text,
            confidence=None,
            comparison_status="compared" if comparable else "not_comparable",
            comparison_method="pixels",
            measured=dict(found.payload),
        )

    async def describe(self, image: Sight) -> SearchWords:
        """The names of what repeats, and the signs of action and sky; raises ToolFailure when there is none of it."""
        seen = (await self.perceive(image)).measured
        words = [*seen["pair"], *(seen[sign] for sign in ("action", "sky") if seen[sign])]
        if not words:
            raise nothing(messages.NO_WORDS)
        return SearchWords(query=" ".join(words))

    async def extract(self, passages: Sequence[str], question: str, context: str) -> Extraction:
        """The passages that share most words with question and context; what they say of it is not judged."""
        chosen = choose(passages, (question, context), _MOST_PASSAGE_CHARS)
        ids = [passages.index(passage) for passage in chosen]
        return Extraction(
            rationale="the most words in common",
            passage_id=ids[0] if ids else -1,
            supporting_passage_ids=tuple(ids[1:]),
            summary="",
            relevance="unclear",
            relation_scope="unclear",
            relation_stance="unclear",
            directness="unclear",
            temporal_alignment="unknown",
        )

    async def _spreads(self, image: Sight, measures: Sequence["Measure"]) -> dict[str, Box | None]:
        """Each measure in words, and the box of what stands out."""
        found = await asyncio.to_thread(lambda: [image.spread(measure) for measure in measures])
        return {
            f"{one.measure} {one.middle:g} in the middle, {one.value:g} at most apart": one.box
            if one.stands_out
            else None
            for one in found
        }
