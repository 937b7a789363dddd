"""Telling what a page says from what it orders: a page is data, and whoever reads it takes no orders from it.

A sentence that addresses its reader as a program, orders a verdict, plays a system message or a tool call, or asks for
something to be opened or given away is dropped before anybody decides on anything, and counted by kind. Ordinary
sentences are left alone; where a page orders people about, it may lose a sentence too many.
"""

import re
import unicodedata
from enum import StrEnum

from components.tools.pages.invisible import without_invisible


class Instruction(StrEnum):
    """What a sentence tries (EviScene's five patterns, and two more)."""

    OVERRIDE = "override"
    """To have other instructions or sources ignored."""
    SYSTEM = "system"
    """To pass for a message of the system."""
    ADDRESS = "address"
    """To speak to programs, also to hand them "evidence"."""
    VERDICT = "verdict"
    """To have a certain answer given."""
    TOOL = "tool"
    """To pass for a tool call, or to have one made."""
    PROMPT = "prompt"
    """To have the prompt given away."""
    ERRAND = "errand"
    """To have an address opened, or something sent there."""


_PROGRAMS = (
    r"(?:ai|a\.i\.|llms?|(?:large )?language models?|chat ?bots?|crawlers?"
    r"|(?:ai|automated|autonomous|verification|research|machine|fact-?checking) "
    r"(?:agents?|assistants?|readers?|models?|systems?|tools?|verifiers?|checkers?|reviewers?))"
)
_PICTURE = r"(?:pictures?|images?|photos?|photographs?|cases?|claims?|depictions?|scenes?)"
_VERDICT = r"(?:supported|refuted|genuine|authentic|real|true|fake|false|factual)"
_TOOLS = (
    r"(?:finish_investigation|perceive_scene|ocr_with_position|count_objects|text_search|text_image_search"
    r"|reverse_image_search|compare_with_reference|crop_and_inspect|current_time|check_consistency"
    r"|analyze_visual_anomalies|focused_visual_inspection)"
)

_PATTERNS: tuple[tuple[Instruction, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        (
            Instruction.OVERRIDE,
            r"\b(?:ignore|disregard|forget|override)\b.{0,40}"
            r"\b(?:instructions?|prompts?|rules|other (?:pages?|sites?|sources?|evidence)|sources)\b",
        ),
        (
            Instruction.SYSTEM,
            r"\b(?:system|developer)\s+(?:prompt|message|instruction|override)s?\b"
            r"|^\W*(?:system|developer)\s*:|<\|?/?(?:im_start|im_end|system|endoftext)|\[/?(?:inst|system)\]|<</?sys>>",
        ),
        (Instruction.PROMPT, r"\b(?:reveal|print|repeat|output)\b.{0,30}\b(?:prompt|instructions)\b"),
        (
            Instruction.TOOL,
            rf"\b{_TOOLS}\b|</?\s*(?:tool_call|tool_response|function|parameter|answer|think)\b"
            r"|\"(?:name|tool|function)\"\s*:\s*\".{0,60}\"(?:arguments|parameters)\"",
        ),
        (
            Instruction.ADDRESS,
            r"\b(?:if|as) you are an? (?:ai|assistant|language model|agent|bot|program|crawler)\b"
            r"|\b(?:note|message|attention|memo) (?:to|for|of)?:? ?(?:automated|ai|all ai|assistants?)\b"
            r"|\b(?:evidence|notice|information|guidance|facts?|attention|proof|records?)\b.{0,30}"
            rf"\b(?:for|to|of|by)\b.{{0,20}}\b{_PROGRAMS}(?!\w)|^\W*(?:dear |attention,? )?{_PROGRAMS}\s*[:,]",
        ),
        (
            Instruction.VERDICT,
            r"\b(?:you|assistants?|agents?|readers?|models?) (?:must|should|have to) "
            r"(?:answer|report|conclude|say|cite|treat|judge)\b"
            rf"|\b(?:report|mark|label|classify|treat|rate|judge|declare|accept) (?:the|this|that|every|any|all|each)?"
            rf" ?(?:\w+ )?{_PICTURE} (?:as|to be) {_VERDICT}\b"
            rf"|\b(?:verdict|answer)\b\W{{0,4}}(?:is|=|:)\W{{0,4}}(?:supported|refuted)\b",
        ),
        (
            Instruction.ERRAND,
            r"\b(?:open|visit|fetch|load|call|request|go to|navigate to|follow|send|post|submit|upload|append)\b"
            r".{0,100}\bhttps?://",
        ),
    )
)

_LOOKALIKES = str.maketrans("аеорсухіјѕԁһӏΑΒΕΖΗΙΚΜΝΟΡΤΧοі", "aeopcyxijsdhlABEZHIKMNOPTXoi")  # noqa: RUF001
"""Cyrillic and Greek letters that look like Latin ones; put back before patterns are tried, never in what is shown."""
_SPACED = re.compile(r"\b(?:\w ){4,}\w\b")
_SEPARATORS = re.compile(r"[-_+./=&?]|%20")


def instruction_in(sentence: str) -> Instruction | None:
    """What a sentence tries, or None for one that only says something."""
    plain = unicodedata.normalize("NFKC", without_invisible(sentence)).translate(_LOOKALIKES)
    plain = _SPACED.sub(lambda match: match[0].replace(" ", ""), plain)
    return next((kind for kind, pattern in _PATTERNS if pattern.search(plain)), None)


def instructs_in_address(url: str) -> bool:
    """Whether an address spells out an instruction, which a reader would see with it."""
    path = url.partition("://")[2]
    return any(instruction_in(text) for text in (path, _SEPARATORS.sub(" ", path)))
