import re

import pytest

from components.config.schema import Params
from components.config.tools import ToolParams
from components.errors import UsageError
from components.rollout.choices import EVERY_TOOL, choose_tools, with_transport
from components.tools.base import ToolFamily


def test_tools_are_chosen_by_name_or_by_family() -> None:
    assert choose_tools(None, None) == EVERY_TOOL
    assert choose_tools("visit, text_search,", None).only == {"visit", "text_search"}
    assert choose_tools(None, "visual,web_search").without == {ToolFamily.VISUAL, ToolFamily.WEB_SEARCH}
    assert choose_tools("", None).only == frozenset()


@pytest.mark.parametrize(
    ("only", "without", "sentence"),
    [
        ("visitt", None, "there is no tool `visitt`; the nearest right name is `visit`, of perceive_scene, "),
        ("visit,ocr", None, "there is no tool `ocr`; the nearest right name is `"),
        (None, "web", "there is no family of tools `web`; the nearest right name is `web_search`, of web_search, "),
    ],
)
def test_a_wrong_name_is_answered_with_the_nearest_right_one(
    only: str | None, without: str | None, sentence: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        choose_tools(only, without)


def test_a_transport_takes_the_place_of_that_in_the_settings() -> None:
    params = Params(tools=ToolParams(search_results=5))
    assert with_transport(params, None) is params
    assert with_transport(params, "live").tools == ToolParams(search_results=5, transport="live")


def test_a_transport_that_there_is_not_or_that_does_not_go_is_refused() -> None:
    with pytest.raises(UsageError, match="there is no transport `lvie`; the nearest right name is `live`, of world"):
        with_transport(Params(), "lvie")
    with pytest.raises(UsageError, match=r"--transport record: reader `direct` cannot be used with transport `record`"):
        with_transport(Params(tools=ToolParams(reader="direct")), "record")
