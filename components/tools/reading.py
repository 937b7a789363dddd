"""From a page's markdown to the few sentences that matter: passages, the best of them, and no instructions."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from components.tools.instructions import Instruction, instruction_in
from components.tools.pages.record import MOST_CHARS

_TARGET = r"\((?:[^()]|\([^()]{0,200}\)){0,2000}\)"
_IMAGE = re.compile(rf"!\[[^\[\]]*\]{_TARGET}")
_LINK = re.compile(rf"\[([^\[\]]*)\]{_TARGET}")
"""Neither looks past the next bracket: a page of brackets alone must not cost more than its length."""
_HEADING = re.compile(r"^#{1,6}\s+")
_MARKS = re.compile(r"(?<!\\)(?:[*`]{1,3}(?=\S)|(?<=\S)[*`]{1,3}|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w))")
"""Marks of emphasis and code; an underscore within a word is none."""
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+.!<>~|-])")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_WORD = re.compile(r"[^\W_]+")
_NUMBER_BONUS = 0.01
"""Decides between passages that answer equally well: the one with figures states facts."""
_SECOND_SHARE = 0.5
"""A second passage is shown when it scores at least this share of the best one's score."""

_BLOCKED = re.compile(
    r"captcha|cloudflare|access denied|unusual traffic|are you a robot|verify you are human|enable javascript", re.I
)
_BLOCKED_LENGTH = 600
"""A page longer than this that mentions a captcha is a page about captchas."""


@dataclass(frozen=True)
class Reading:
    """What is left of a page."""

    passages: tuple[str, ...]
    """Each within the limit, in page order."""
    instructions: int
    """Sentences that tried to instruct the reader, and were dropped."""
    kinds: tuple[Instruction, ...] = ()
    """What they tried, each kind once."""


def refuses_readers(markdown: str) -> bool:
    """Whether the page is a captcha or a refusal instead of content."""
    return len(markdown) <= _BLOCKED_LENGTH and _BLOCKED.search(markdown) is not None


def read_markdown(markdown: str, title: str, limit: int) -> Reading:
    """Cut a page into passages of at most `limit` characters, without its title, pictures, links and instructions.

    Of a page that is longer than any page should be, the beginning is read.
    """
    passages: list[str] = []
    tried: list[Instruction] = []
    for paragraph in _paragraphs(markdown[:MOST_CHARS], title):
        sentences = _SENTENCE.split(paragraph)
        found = [instruction_in(sentence) for sentence in sentences]
        tried.extend(kind for kind in found if kind)
        kept = [sentence for sentence, kind in zip(sentences, found, strict=True) if not kind]
        passages.extend(_pack(kept, limit))
    return Reading(tuple(passages), len(tried), tuple(dict.fromkeys(tried)))


def choose(passages: Sequence[str], clues: Sequence[str], limit: int) -> list[str]:
    """The best passage for what is looked for, and a second one if it is good too and both fit; in page order."""
    if not passages:
        return []
    hits, scores = _scores(passages, clues)
    order = sorted(range(len(passages)), key=lambda at: -scores[at])
    chosen = order[:1]
    for at in order[1:2]:
        fits = len(passages[at]) + len(passages[chosen[0]]) + 1 <= limit
        if fits and hits[at] and scores[at] >= _SECOND_SHARE * scores[chosen[0]]:
            chosen.append(at)
    return [passages[at] for at in sorted(chosen)]


def best(passages: Sequence[str], clues: Sequence[str], number: int) -> list[int]:
    """Places of the `number` best passages for what is looked for, in page order."""
    _, scores = _scores(passages, clues)
    return sorted(sorted(range(len(passages)), key=lambda at: -scores[at])[:number])


def _paragraphs(markdown: str, title: str) -> list[str]:
    """Blocks of plain text; a heading leads the block below it, unless it only repeats the title."""
    found: list[str] = []
    heading = ""
    for block in re.split(r"\n\s*\n", _IMAGE.sub("", markdown)):
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        while lines and _HEADING.match(lines[0]):
            text = _plain(_HEADING.sub("", lines.pop(0)))
            heading = "" if _same(text, title) else text
        if lines:
            text = _plain(" ".join(lines))
            found.append(f"{heading}: {text}" if heading else text)
            heading = ""
    return [text for text in found if text and not _same(text, title)]


def _plain(text: str) -> str:
    return " ".join(_ESCAPE.sub(r"\1", _MARKS.sub("", _LINK.sub(r"\1", text))).split())


def _same(left: str, right: str) -> bool:
    return left.casefold().split() == right.casefold().split()


def _pack(sentences: Sequence[str], limit: int) -> list[str]:
    """As many whole sentences to a passage as fit; a sentence that is too long by itself is cut at words."""
    passages: list[str] = []
    for sentence in sentences:
        for piece in _pieces(sentence, limit):
            if passages and len(passages[-1]) + 1 + len(piece) <= limit:
                passages[-1] = f"{passages[-1]} {piece}"
            else:
                passages.append(piece)
    return passages


def _pieces(sentence: str, limit: int) -> list[str]:
    pieces = []
    while len(sentence) > limit:
        cut = sentence.rfind(" ", 1, limit + 1)
        cut = cut if cut > 0 else limit
        pieces.append(sentence[:cut])
        sentence = sentence[cut:].lstrip()
    return [*pieces, sentence] if sentence else pieces


def _scores(passages: Sequence[str], clues: Sequence[str]) -> tuple[list[int], list[float]]:
    """How many of the clues' words each passage has, and the same weighed: a word of every passage counts little."""
    wanted = {word for clue in clues for word in _WORD.findall(clue.casefold())}
    bags = [set(_WORD.findall(passage.casefold())) for passage in passages]
    spread = Counter(word for bag in bags for word in bag)
    found = [bag & wanted for bag in bags]
    scores = [
        sum(math.log2(1 + len(bags) / spread[word]) for word in words)
        + _NUMBER_BONUS * sum(word.isdigit() for word in bag)
        for words, bag in zip(found, bags, strict=True)
    ]
    return [len(words) for words in found], scores
