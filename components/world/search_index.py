"""Full-text search: BM25 over words, as a web search engine would rank them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

_WORD = re.compile(r"[^\W_]+")
_SILENT = re.compile(r"an?|and|are|as|at|be|by|for|from|has|in|is|its?|o[fnr]|th(?:at|e|is)|to|was|were|wi(?:ll|th)")


def words(text: str) -> list[str]:
    """The words that are searched for: case-folded, without the most common ones."""
    return [word for word in _WORD.findall(text.casefold()) if not _SILENT.fullmatch(word)]


@dataclass(frozen=True)
class TextIndex:
    """A BM25 index; documents are known by their position.

    Args:
        documents: the words of each document.

    """

    documents: Sequence[Sequence[str]]

    def search(self, query: str, limit: int) -> list[int]:
        """Positions of the best documents that share a word with `query`, best first; earlier wins a tie."""
        known = [word for word in words(query) if self.documents and word in self._bm25.vocab_dict]
        if not known:
            return []
        scores: np.ndarray = self._bm25.get_scores(known)
        best = np.argsort(-scores, kind="stable")[:limit]
        return [int(position) for position in best if scores[position] > 0]

    @cached_property
    def _bm25(self) -> Any:
        import bm25s

        index = bm25s.BM25()
        # A document without words would break the index; no query can find this one.
        index.index([list(document) or ["\x00"] for document in self.documents], show_progress=False)
        return index


def snippet(text: str, query: str, length: int = 160) -> str:
    """The piece of `text` around the first word of `query` that occurs in it, cut at words."""
    flat = " ".join(text.split())
    places = [
        match.start() for word in words(query) for match in [re.search(rf"\b{re.escape(word)}\b", flat, re.I)] if match
    ]
    start = max(0, min(places, default=0) - length // 4)
    start = flat.rfind(" ", 0, start) + 1 if start else 0
    piece = flat[start : start + length]
    cut = piece.rsplit(" ", 1)[0] if start + length < len(flat) else piece
    return f"{'... ' if start else ''}{cut}{' ...' if start + length < len(flat) else ''}"
