"""Small gold records and episodes, written out by hand."""

import io
import json

from PIL import Image

from components.records.case import Attribute, Case, Check, ErrorType, Evidence, Gold, Verdict
from components.records.episode import (
    Episode,
    FailureClass,
    Observation,
    Report,
    Step,
    StepKind,
    Termination,
    ToolCall,
    Turn,
)
from components.records.image_bank import ImageBank, asset_path

OFFICIAL = "https://harvest-gala.example/2031"
PHOTO = "https://harvest-gala.example/2031.png"
TRUE = {"date": "14 March 2031", "venue": "Rowan Hall", "host": "Mara Venn", "count": "9"}
PAGE = (
    "Harvest Gala was held on 14 March 2031 at Rowan Hall. The host was Mara Venn. There were 9 lanterns.\n"
    f"picture: {PHOTO}"
)
SAME = {
    "date": "date 14 March 2031 vs 14 March 2031 same",
    "venue": "venue Rowan Hall vs Rowan Hall same",
    "host": "host Mara Venn same person",
    "count": "count 9 vs 9 same",
}
TOOLS = (
    "perceive_scene",
    "ocr_with_position",
    "count_objects",
    "text_search",
    "visit",
    "text_image_search",
    "reverse_image_search",
    "compare_with_reference",
    "crop_and_inspect",
    "current_time",
    "finish_investigation",
)
ALTERED = {"date": "12 March 2031", "venue": "Alder Court", "host": "Tom Reed", "count": "7"}
DIFFERENT = {
    "date": "date 12 March 2031 vs 14 March 2031 differs",
    "venue": "venue Alder Court vs Rowan Hall differs",
    "host": "host Mara Venn different person",
    "count": "count 7 vs 9 differs",
}
TYPES = {
    "date": ErrorType.TEMPORAL_DISPLACEMENT,
    "venue": ErrorType.GEOGRAPHIC_DISPLACEMENT,
    "host": ErrorType.IDENTITY_SUBSTITUTION,
    "count": ErrorType.NUMERICAL_ALTERATION,
}


def make_case(case_id: str = "c1") -> Case:
    return Case(case_id=case_id, image_path=f"assets/sha256/00/{'0' * 64}.png", image_sha256="0" * 64)


def make_gold(altered: str | None = None, case_id: str = "c1", style: str = "plain") -> Gold:
    """A supported case, or one refuted by the attribute `altered`."""
    checks = tuple(
        Check(attribute=Attribute(name), depicted=ALTERED[name] if name == altered else value, documented=value)
        for name, value in TRUE.items()
    )
    return Gold(
        case_id=case_id,
        factual_status=Verdict.REFUTED if altered else Verdict.SUPPORTED,
        target_claim="Mara Venn hosted the Harvest Gala.",
        acceptable_evidence=(Evidence(source_id="p1", canonical_url=OFFICIAL, exact_span="x", stance="supports"),),
        checks=checks,
        object_kind="lantern",
        error_type=TYPES[altered] if altered else None,
        event_id="e1",
        event_title="Harvest Gala",
        person_ids=("mara",),
        official_urls=(OFFICIAL,),
        style=style,
    )


def observe(tool: str, text: str, *, url: str | None = None, failure: FailureClass | None = None) -> Observation:
    return Observation(
        observation_id="o0",
        tool=tool,
        status="error" if failure else "success",
        failure=failure,
        text=text,
        source_url=url,
    )


def seen_in(altered: str | None = None) -> list[Observation]:
    """What a full investigation of the picture of `make_gold(altered)` observes: o1 to o5."""
    shown = TRUE | ({altered: ALTERED[altered]} if altered else {})
    return [
        observe("ocr_with_position", f"Harvest Gala\n{shown['venue']}\n{shown['date']}"),
        observe("count_objects", f"lantern: {shown['count']}"),
        observe("text_search", f"Harvest Gala 2031 - harvest-gala.example\n{OFFICIAL}"),
        observe("visit", PAGE, url=OFFICIAL),
        observe("compare_with_reference", "different person" if altered == "host" else "same person", url=PHOTO),
    ]


ALL_CITED = ("o1", "o2", "o4", "o5")


def explain(altered: str | None = None) -> str:
    return "; ".join(DIFFERENT[name] if name == altered else SAME[name] for name in TRUE)


def make_episode(
    observations: list[Observation],
    report: Report | None,
    *,
    case_id: str = "c1",
    policy: str = "scripted",
    seed: int = 1,
    corrections: int = 0,
) -> Episode:
    """An episode with these observations, numbered in order, and this report."""
    steps: list[Step] = []
    for number, item in enumerate(observations, start=1):
        named = item.model_copy(update={"observation_id": f"o{number}"})
        call = ToolCall(name=item.tool, arguments_json=json.dumps({"url": item.source_url} if item.source_url else {}))
        steps.append(_step(len(steps), StepKind.ACTION, call=call, observation=named, thought=f"look {number}"))
    for _ in range(corrections):
        steps.append(_step(len(steps), StepKind.CORRECTION, feedback="Call one tool."))
    if report is not None:
        steps.append(_step(len(steps), StepKind.FINISH))
        steps.append(_step(len(steps), StepKind.REPORT))
    return Episode(
        episode_id=f"{case_id}--{policy}--s{seed}",
        case=make_case(case_id),
        policy=policy,
        seed=seed,
        exposed_tools=TOOLS,
        action_budget=24,
        steps=tuple(steps),
        report=report,
        termination=Termination.FINISHED if report else Termination.PROTOCOL_FAILURE,
        started_at="2031-01-01T00:00:00+00:00",
        duration_s=1.0,
    )


def good_episode(altered: str | None = None, case_id: str = "c1", **options: object) -> Episode:
    """An episode whose verdict and grounds are right for `make_gold(altered)`."""
    report = Report(
        verdict=Verdict.REFUTED if altered else Verdict.SUPPORTED, explanation=explain(altered), cited=ALL_CITED
    )
    return make_episode(seen_in(altered), report, case_id=case_id, **options)  # type: ignore[arg-type]


def _step(index: int, kind: StepKind, **fields: object) -> Step:
    return Step(index=index, kind=kind, turn=Turn(text="turn"), **fields)  # type: ignore[arg-type]


def picture(bank: ImageBank, colour: tuple[int, int, int]) -> str:
    buffer = io.BytesIO()
    Image.new("RGB", (320, 240), colour).save(buffer, format="PNG")
    return bank.put(buffer.getvalue())


def with_picture(episode: Episode, digest: str) -> Episode:
    case = Case(case_id=episode.case.case_id, image_path=asset_path(digest), image_sha256=digest)
    return episode.model_copy(update={"case": case})
