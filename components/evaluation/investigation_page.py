"""One investigation as a page: the picture, the conclusion, and every turn that led to it, in one file."""

from pathlib import Path

from components.evaluation.templating import template_environment, thumbnail
from components.records.episode import Episode
from components.records.image_bank import ImageBank
from components.rollout.step_view import view_step
from components.storage.atomic import write_text

PICTURE_SIDE, SHOWN_SIDE = 480, 240
"""Longest sides of thumbnails, pixels: of the picture under investigation, and of one that a tool returned."""


def write_investigation(path: Path, episode: Episode, bank: ImageBank) -> Path:
    """Write the page of an investigation; it needs no other file, no script and no network.

    Args:
        path: where to.
        episode: what happened.
        bank: where all its pictures are found.

    """
    report = episode.report
    tools = {item.observation_id: item.tool for item in episode.observations}
    html = (
        template_environment("components.evaluation")
        .get_template("investigation.html.jinja")
        .render(
            episode=episode,
            verdict=report.verdict.value if report else "no verdict",
            clauses=report.explanation.split("; ") if report else (),
            cited=[(name, tools.get(name, "unknown")) for name in report.cited] if report else (),
            picture=thumbnail(episode.case.image_sha256, bank, PICTURE_SIDE),
            side=PICTURE_SIDE,
            steps=[view_step(step, lambda digest: thumbnail(digest, bank, SHOWN_SIDE)) for step in episode.steps],
        )
    )
    return write_text(path, html)
