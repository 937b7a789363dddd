from dataclasses import replace
from typing import get_args

import pytest
from PIL import Image

from components.config.paths import Paths
from components.config.schema import Params
from components.curation.benchmark import read_facts
from components.curation.build import WorldSummary
from components.curation.plan import CasePlan, plan_cases
from components.curation.readahead import drawing_ahead
from components.curation.references import References
from components.curation.render import Candidate, render
from components.curation.screen import Reason, Screen, Viewer
from components.records.case import Split
from components.tools.ocr import OcrEngine
from components.world.draw import draw_scene, encode_png
from components.world.entities import FaceSpec

pytestmark = pytest.mark.slow
"""Printed text is read with real OCR."""


@pytest.fixture(scope="module")
def candidate(small_params: Params, small_world: tuple[Paths, WorldSummary]) -> Candidate:
    facts = read_facts(small_world[0].facts)
    plan = next(plan for plan in plan_cases(facts, small_params.benchmark) if plan.titled and plan.error_type is None)
    return render(plan, 0, facts, small_params.world)


@pytest.fixture(scope="module")
def viewer(small_params: Params, small_world: tuple[Paths, WorldSummary]) -> Viewer:
    paths, _ = small_world
    return Viewer(OcrEngine(small_params.tools, paths.cache), References(read_facts(paths.facts), paths.web))


def redrawn(candidate: Candidate, image: Image.Image) -> Candidate:
    return replace(candidate, image=image, data=encode_png(image))


def test_a_good_candidate_is_taken_and_its_twin_is_a_duplicate(viewer: Viewer, candidate: Candidate) -> None:
    screen, view = Screen(), viewer.view(candidate)
    assert view.good
    assert screen.reasons(candidate, view) == []
    assert screen.reasons(candidate, view) == [Reason.DUPLICATE_WITHIN]


def test_a_twin_in_the_other_split_is_named_as_such(viewer: Viewer, candidate: Candidate) -> None:
    split = Split.TEST if candidate.plan.event.split is Split.TRAIN else Split.TRAIN
    event = candidate.plan.event.model_copy(update={"split": split})
    twin = replace(candidate, plan=CasePlan(**{**vars(candidate.plan), "event": event}))
    screen = Screen()
    assert screen.reasons(candidate, viewer.view(candidate)) == []
    assert screen.reasons(twin, viewer.view(twin)) == [Reason.DUPLICATE_ACROSS]


def stranger(face: FaceSpec) -> FaceSpec:
    """A face that differs in skin, hair colour and beard."""
    options = {name: get_args(FaceSpec.model_fields[name].annotation) for name in ("skin", "hair_colour", "beard")}
    others = {name: [value for value in values if value != getattr(face, name)] for name, values in options.items()}
    return face.model_copy(update={name: values[0] for name, values in others.items()})


def test_a_wrong_count_and_a_wrong_face_are_seen_and_nothing_is_read(viewer: Viewer, candidate: Candidate) -> None:
    face = stranger(candidate.scene.face)
    image = draw_scene(replace(candidate.scene, count=candidate.scene.count % 12 + 1, face=face))
    view = viewer.view(redrawn(candidate, image))
    assert set(view.unclear) >= {Reason.COUNT_UNCLEAR, Reason.FACE_UNCLEAR}
    assert view.unread == ()


def test_lettering_that_reads_otherwise_is_named(viewer: Viewer, candidate: Candidate) -> None:
    scene = replace(candidate.scene, title="Another Title", below=(*candidate.scene.below[:-1], "1 May 2031"))
    other = redrawn(candidate, draw_scene(scene))
    assert Screen().reasons(other, viewer.view(other)) == [Reason.TITLE_UNREADABLE, Reason.DATE_UNREADABLE]


def test_processes_draw_what_one_alone_draws(small_params: Params, small_world: tuple[Paths, WorldSummary]) -> None:
    paths, _ = small_world
    facts = read_facts(paths.facts)
    plans = plan_cases(facts, small_params.benchmark)[:6]
    drawn = []
    for threads in (1, 2):
        tools = small_params.tools.model_copy(update={"ocr_threads": threads})
        with drawing_ahead(plans, facts, small_params.model_copy(update={"tools": tools}), paths) as ready:
            drawn.append([(plan, *next(attempts)) for plan, attempts in ready])
    for (plan, one, view), (same, other, seen) in zip(*drawn, strict=True):
        assert (plan, one.data, view.unclear, view.unread) == (same, other.data, seen.unclear, seen.unread)
        assert (view.looks.bits == seen.looks.bits).all()
