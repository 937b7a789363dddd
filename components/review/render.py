"""An item as a piece of HTML, escaped throughout, and as what the page's script needs beside it."""

from functools import lru_cache
from typing import Any
from urllib.parse import quote

import jinja2

from components.evaluation.templating import template_environment
from components.review.desk import Sight
from components.review.items import CaseItem


@lru_cache
def _environment() -> jinja2.Environment:
    environment = template_environment("components.review")
    # Also the slash, which jinja's own filter leaves as it is.
    environment.filters["segment"] = lambda text: quote(text, safe="")
    return environment


def item_html(sight: Sight) -> str:
    """The item with the opinions on it, as HTML."""
    name = "case" if isinstance(sight.item, CaseItem) else "episode"
    template = _environment().get_template(f"{name}.html.jinja")
    return template.render(item=sight.item, opinions=sight.opinions, titles=_titles(sight))


def item_json(sight: Sight) -> dict[str, Any]:
    """What a request for an item is answered with."""
    own = sight.own
    return {
        "item_id": sight.item.item_id,
        "title": sight.item.title,
        "digest": sight.digest,
        "revision": sight.revision,
        "upon": sight.upon,
        "steps": sight.item.step_count,
        "editable": bool(sight.item.fields),
        "fields": [field.model_dump(mode="json") for field in sight.item.fields],
        "own": _plain(own) if own else None,
        # Without names, times and revisions: the adjudicator weighs reasons, not people.
        "opinions": [_plain(opinion) for opinion in sight.opinions],
        "html": item_html(sight),
    }


def _plain(decision: Any) -> dict[str, Any]:
    return dict(decision.model_dump(mode="json", include={"choice", "edits", "comment", "first_bad_step"}))


def _titles(sight: Sight) -> dict[str, str]:
    return {field.name: field.title for field in sight.item.fields}
