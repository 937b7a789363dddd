"""Consistent renaming: a row's names and numbers are swapped for others, the same way wherever they stand.

A small student that sees a few hundred events for many epochs learns them by heart: which host goes with which title.
What it has to learn is to carry values from observation to call and to compare them. A renaming is a permutation, so
equal values stay equal and different ones different; only what may not be relied on changes. The papers' large models
know names from pre-training and need none of this.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from components.records.episode import Episode
from components.training.rows import Row

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

_NAME = re.compile(r"\b[A-Z][a-z]{2,}\b(?: [A-Z][a-z]{2,}\b)*")
_DAYS_AND_COUNTS = {str(number) for number in range(1, 29)}
_YEAR = re.compile(r"(?<!\w)\d{4}(?!\w)")
_RENUMBERED_SHARE = 0.5
_FORMS = ("{0}", " {0}", "{1}", "-{1}", "/{1}")
"""How a word can stand in text, as one token: capitalised or, in addresses, small."""


class Renaming:
    """Permutations of token ids that keep an episode coherent.

    Args:
        pools: what may be exchanged for each other, of `interchangeable`; no word is in two pools.
        tokenizer: the student's.

    """

    def __init__(self, pools: Iterable[Iterable[str]], tokenizer: "PreTrainedTokenizerFast") -> None:
        self._size = len(tokenizer)
        everything = [*pools, _DAYS_AND_COUNTS]
        self._tables = [table for pool in everything for table in _forms_tables(pool, tokenizer)]
        self._observation_id: int = tokenizer.convert_tokens_to_ids("o")
        self._digits = np.array(tokenizer.convert_tokens_to_ids(list("0123456789")))

    def apply(self, row: Row, generator: np.random.Generator) -> Row:
        """The row under a random renaming; its length and weights stay.

        Observations keep their numbers in half of the rows. In the others the numbers of one digit are exchanged, so
        that what is cited has to be looked up, and cannot be guessed from where such things mostly stand.
        """
        table = np.arange(self._size)
        for forms in self._tables:
            table[forms] = generator.permutation(forms)
        before = np.asarray(row.encoded.token_ids)
        after = table[before]
        numbers = np.arange(self._size)
        if generator.random() < _RENUMBERED_SHARE:
            numbers[self._digits[1:]] = generator.permutation(self._digits[1:])
        first = np.flatnonzero(before[:-1] == self._observation_id) + 1
        has_second = np.isin(before[np.minimum(first + 1, len(before) - 1)], self._digits) & (first + 1 < len(before))
        after[first] = np.where(has_second, before[first], numbers[before[first]])
        second = first[has_second] + 1
        after[second] = before[second]
        return replace(row, encoded=replace(row.encoded, token_ids=after.tolist()))


def interchangeable(episodes: Iterable[Episode]) -> list[list[str]]:
    """What the policies of training episodes copied into calls and reports, as pools of words, and years at last."""
    by_place: dict[tuple[str, int], set[str]] = {}
    years: set[str] = set()
    for episode in episodes:
        _collect_words(episode, by_place)
        if episode.report is not None:
            years.update(_YEAR.findall(episode.report.explanation))
    return [sorted(pool) for pool in (*_word_pools(by_place), years)]


def _collect_words(episode: Episode, by_place: dict[tuple[str, int], set[str]]) -> None:
    """Capitalised words by where they were copied to: search tool or clause of a report, and which word of the name.

    So a month is exchanged for a month and a first name for a first name.
    """
    for place, text in _copied(episode):
        for name in _NAME.findall(text):
            for index, word in enumerate(name.split(" ")):
                by_place.setdefault((place, index), set()).add(word)


def _word_pools(by_place: Mapping[tuple[str, int], set[str]]) -> list[set[str]]:
    pools: list[set[str]] = []
    for key in sorted(by_place, reverse=True):
        pools.append(by_place[key].difference(*pools))
    return pools


def _copied(episode: Episode) -> Iterator[tuple[str, str]]:
    """Places that a policy copied names to, and the text it wrote there."""
    for step in episode.steps:
        if step.call is not None and (query := json.loads(step.call.arguments_json).get("query")):
            yield step.call.name, query
    if episode.report is not None:
        for clause in episode.report.explanation.split("; "):
            yield clause.partition(" ")[0], clause


def _forms_tables(words: Iterable[str], tokenizer: "PreTrainedTokenizerFast") -> list[np.ndarray]:
    """Ids of interchangeable words: int64, (words, forms), one table for each set of forms that are single tokens.

    A word is exchanged only for one that can stand in all the same places, so none is renamed here and not there.
    """
    tables: dict[tuple[int, ...], list[list[int]]] = {}
    for word in sorted(words):
        encoded = [tokenizer.encode(form.format(word, word.lower())) for form in _FORMS]
        single = tuple(index for index, ids in enumerate(encoded) if len(ids) == 1)
        tables.setdefault(single, []).append([encoded[index][0] for index in single])
    return [np.array(rows, dtype=np.int64) for forms, rows in tables.items() if forms and len(rows) > 1]
