"""Draws docs/error-types.png: for each error type a training picture as documented, and as it is with the error.

.venv/bin/python -m docs.draw_error_types
"""

from dataclasses import replace
from pathlib import Path

from PIL import Image, ImageDraw

from components.config.schema import BenchmarkParams, WorldParams
from components.curation.plan import CasePlan, plan_cases
from components.curation.render import render
from components.records.case import ErrorType, Split
from components.world.entities import Facts
from components.world.facts import build_facts
from components.world.styles import font

TARGET = Path(__file__).with_name("error-types.png")
COLUMNS, GAP, CAPTION = 3, 12, 26
SIZE = (224, 168)
"""Of one picture, pixels."""


def main() -> None:
    """Draw the sheet, families in columns."""
    facts = build_facts(WorldParams())
    plans = [plan for plan in plan_cases(facts, BenchmarkParams()) if plan.event.split is Split.TRAIN and plan.titled]
    width, height = 2 * SIZE[0] + 4, SIZE[1] + CAPTION
    rows = len(ErrorType) // COLUMNS
    sheet = Image.new("RGB", (COLUMNS * (width + GAP) + GAP, rows * (height + GAP) + GAP), "white")
    for at, kind in enumerate(ErrorType):
        plan = next(plan for plan in plans if plan.error_type is kind)
        place = (GAP + at // rows * (width + GAP), GAP + at % rows * (height + GAP))
        sheet.paste(pair(plan, facts, (width, height)), place)
    sheet.quantize(160).save(TARGET, optimize=True)


def pair(plan: CasePlan, facts: Facts, size: tuple[int, int]) -> Image.Image:
    """As documented on the left, with the error on the right, named above."""
    assert plan.error_type is not None, "a faithful picture has no error"
    tile = Image.new("RGB", size, "white")
    name = plan.error_type.value.replace("_", " ")
    ImageDraw.Draw(tile).text((0, 4), f"{name}: documented, altered", fill=(40, 40, 48), font=font("Sans-Bold", 13))
    for left, shown in ((0, replace(plan, error_type=None)), (SIZE[0] + 4, plan)):
        picture = render(shown, 0, facts, WorldParams()).image
        tile.paste(picture.resize(SIZE, Image.Resampling.LANCZOS), (left, CAPTION))
    return tile


if __name__ == "__main__":
    main()
