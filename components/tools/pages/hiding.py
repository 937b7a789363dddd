"""Taking out of a page what people do not see: it is there for machines, and often to give them orders."""

import re
from collections.abc import Iterator

from lxml.html import HtmlElement

_STYLE_CHARS = 200_000
"""Of style sheets, how much is looked at."""
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"([^{}]{1,500})\{([^{}]{0,2000})\}")
_SIMPLE = re.compile(r"(?:[a-z][a-z0-9]*)?([.#])([\w-]+)", re.IGNORECASE)
"""Selectors of one class or id; others are left to browsers."""

_END = r"\s*(?:;|!|$)"
_HIDING = re.compile(
    r"(?:^|[;\s])(?:"
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)"
    rf"|opacity\s*:\s*(?:0+(?:\.0*)?|\.0+)%?{_END}"
    rf"|font-size\s*:\s*(?:0(?:\.0+)?(?:px|pt|em|rem|%)?|[01]?(?:\.\d+)?(?:px|pt)){_END}"
    rf"|(?:max-)?(?:height|width)\s*:\s*[01](?:px)?{_END}"
    r"|text-indent\s*:\s*-\d{3,}|(?:left|top|right|bottom|margin-left|margin-top)\s*:\s*-\d{4,}"
    r"|clip\s*:\s*rect\(\s*[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?"
    r"|clip-path\s*:\s*(?:inset\((?:50|100)%|circle\(0)"
    r"|transform\s*:\s*scale\(\s*0(?:\.0+)?\s*[,)]"
    r"|color\s*:\s*(?:transparent|rgba\((?:[^,)]*,){3}\s*0(?:\.0+)?\s*\))"
    r")",
    re.IGNORECASE,
)
_WHITE = re.compile(
    r"(?<![\w-])color\s*:\s*(?:white|#fff(?:fff)?|rgb\(\s*255\s*,\s*255\s*,\s*255\s*\))\s*(?:;|!|$)", re.IGNORECASE
)
_GROUND = re.compile(r"(?<![\w-])background(?:-color|-image)?\s*:\s*([^;]+)", re.IGNORECASE)
_PALE = re.compile(r"white|#fff(?:fff)?|transparent|none|rgb\(\s*255\s*,\s*255\s*,\s*255\s*\)", re.IGNORECASE)


def drop_hidden(tree: HtmlElement) -> int:
    """Take hidden elements out of a page, with all that is in them; returns how many.

    It goes by attributes, inline styles and plain style sheets. What scripts hide is not known here.
    """
    dropped = 0
    for element in list(_hidden(tree)):
        parent = element.getparent()
        if parent is not None and element is not tree:
            # The text behind an element is not in it, and stays.
            element.drop_tree()
            dropped += 1
    return dropped


def _hidden(tree: HtmlElement) -> Iterator[HtmlElement]:
    marks = _hiding_marks(tree)
    for element in tree.iter("*"):
        closed = element.tag in ("template", "dialog") and element.get("open") is None
        if closed or element.get("hidden") is not None or _hides(element) or not marks.isdisjoint(_marks_of(element)):
            yield element


def _hides(element: HtmlElement) -> bool:
    if element.tag == "font" and _PALE.fullmatch((element.get("color") or "-").strip()):
        return _on_white(element)
    style = element.get("style")
    if not style or element.tag in ("html", "body"):
        return False
    style = _COMMENT.sub("", style)
    return _HIDING.search(style) is not None or (_WHITE.search(style) is not None and _on_white(element))


def _on_white(element: HtmlElement) -> bool:
    """Whether nothing around an element has another ground than white, as far as inline styles say."""
    around: HtmlElement | None = element
    while around is not None:
        ground = _GROUND.search(around.get("style") or "")
        if ground:
            return _PALE.fullmatch(ground[1].strip()) is not None
        around = around.getparent()
    return True


def _hiding_marks(tree: HtmlElement) -> frozenset[str]:
    """Classes and ids, with their sign, that the page's own style sheets hide."""
    sheets = "\n".join(sheet.text or "" for sheet in tree.iter("style"))[:_STYLE_CHARS]
    sheets = _COMMENT.sub("", sheets)
    marks = set[str]()
    for selectors, body in _RULE.findall(sheets):
        if _HIDING.search(body):
            found = (_SIMPLE.fullmatch(selector.strip()) for selector in selectors.split(","))
            marks.update(f"{match[1]}{match[2]}" for match in found if match)
    return frozenset(marks)


def _marks_of(element: HtmlElement) -> Iterator[str]:
    yield f"#{element.get('id')}"
    yield from (f".{name}" for name in (element.get("class") or "").split())
