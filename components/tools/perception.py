"""Looking, as a capability that tools use: by pixels (`perception_pixels`) or by a model (`perception_model`).

Which of the two looks is decided once, by `tools.perception`; the tools, their arguments, their limits and what
becomes of a failure are the same.
"""

from collections.abc import Sequence
from typing import Literal, Protocol

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
from components.tools.sight import Sight

Box = tuple[float, float, float, float]
"""x1, y1, x2, y2 as shares of width and height."""
Aspect = Literal["shadow", "perspective", "scale", "lighting", "edges", "physics", "all"]
CheckType = Literal["ai_generation", "manipulation", "physical_consistency", "all"]
Scope = Literal["subject", "relation", "scene", "text", "integrity"]


class Perception(Protocol):
    """Whoever looks. Every method raises ToolFailure when it cannot look; that is never told as "nothing there"."""

    def countable(self, target: str) -> str | None:
        """What `target` is counted as; None for what cannot be told from other things."""
        ...

    async def perceive(self, image: Sight) -> Scene:
        """The scene as a whole."""
        ...

    async def count(self, image: Sight, target: str, box: Box | None) -> Count:
        """How many there are of what `countable` gave, in the picture or in a part of it."""
        ...

    async def closeup(self, part: Sight, question: str, expected_property: str) -> CloseUp:
        """What an enlarged part shows."""
        ...

    async def inspect(
        self, image: Sight, question: str, expected_property: str, scope: Scope, regions: Sequence[Box]
    ) -> Inspection:
        """The answer to a question, from the picture and up to four parts of it."""
        ...

    async def consistency(self, image: Sight, aspect: Aspect) -> Consistency:
        """Whether the picture fits together in one respect."""
        ...

    async def anomalies(
        self, image: Sight, check_type: CheckType, focus_areas: Sequence[str], context: str
    ) -> Anomalies:
        """What is odd in the picture."""
        ...

    async def compare(self, image: Sight, reference: Sight, focus: str, expected_property: str) -> ReferenceComparison:
        """What the picture and a reference have in common."""
        ...

    async def describe(self, image: Sight) -> SearchWords:
        """Words that an image search may find the picture by."""
        ...

    async def extract(self, passages: Sequence[str], question: str, context: str) -> Extraction:
        """Which passages of a page answer a question."""
        ...
