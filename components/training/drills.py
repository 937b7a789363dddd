"""Drills: the micro student's stand-in for the pre-training that a large model brings.

A student drawn from random numbers can neither carry a name from one place to another nor tell whether two names are
the same. Attention that finds an earlier occurrence and copies what followed (an induction head; Olsson et al., 2022)
forms late and all at once, and in whole episodes, where few tokens are copies, later than there is time for. Sequences
of random names said twice are nothing but copies, so there it forms in half a minute; then pairs of names, each with
the word for same or different behind it, teach comparing. The drills hold no fact of the world: words and numbers are
drawn uniformly from the vocabulary, and no picture, question or answer occurs in them.
"""

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from components.config.schema import DrillParams
from components.policies.embedding import Written, written_words
from components.records.marks import MARK
from components.training.determinism import prepare_torch
from components.training.losses import weighted_cross_entropy_sum
from components.training.optimizer import MuonWithAdamW

if TYPE_CHECKING:
    import torch

WARMUP_STEPS = 20
LONGEST_GAP = 24
GROWING_SHARE = 0.6
"""Of the long steps: over these, sequences grow to their full length."""
CHANGED_SHARE = 0.6
"""Of the words in a value that differs."""

VERSUS, SAME, DIFFERENT, NEXT = " vs", " same", " differs", ";"
COMPARED_SHARE = 2 / 3
"""Of the sequences, once comparing has begun."""
TOLD_OF = 3
"""Of so many sequences that compare, all but one mention their values before."""
FEWEST_WORDS = 20
"""Of a rewording: with fewer, a sequence would say little but repetitions."""
LONGEST_VALUE = 3
"""Words: a date has as many."""


class Vocabulary(NamedTuple):
    """The ids that drills are made of."""

    words: np.ndarray
    """int64; every word and number that comparisons are not made with."""
    rewordings: tuple[np.ndarray, ...]
    """int64, (words, 2) each: words as tokens in two forms of writing."""
    versus: int
    same: int
    different: int
    next: int
    mark: int
    """Of a word that differs."""


class Batch(NamedTuple):
    """The sequences of one step."""

    token_ids: np.ndarray
    """int64, (sequences, tokens)."""
    copied: np.ndarray
    """bool, the same shape: tokens that follow from an earlier telling."""
    judged: np.ndarray
    """bool, the same shape: marks of what differs, and the word for same or different."""


def vocabulary(tokenizer: Any) -> Vocabulary:
    """The ids of drills with a tokenizer; raises ValueError when it splits a word that comparisons are made with."""
    fixed = [tokenizer.encode(word) for word in (VERSUS, SAME, DIFFERENT, NEXT, MARK)]
    if any(len(ids) != 1 for ids in fixed):
        raise ValueError("the tokenizer splits a word of the comparison drills; train it on reviewed episodes")
    said = [ids[0] for ids in fixed]
    written = {
        token_id: form
        for token_id, form in written_words(tokenizer).items()
        if _is_whole(form.word) and token_id not in said
    }
    return Vocabulary(np.array(sorted(written)), _rewordings(written), *said)


def _rewordings(written: dict[int, Written]) -> tuple[np.ndarray, ...]:
    """Words in every two forms that at least `FEWEST_WORDS` have in common, the same form twice included."""
    forms: dict[tuple[str, bool], dict[str, int]] = {}
    for token_id, (lead, word) in written.items():
        forms.setdefault((lead, word.islower()), {})[word.casefold()] = token_id
    tables = []
    for first, second in itertools.product(forms.values(), repeat=2):
        common = sorted(first.keys() & second.keys())
        if len(common) >= FEWEST_WORDS:
            tables.append(np.array([[first[word], second[word]] for word in common]))
    return tuple(tables)


def _is_whole(word: str) -> bool:
    """Not a letter or a syllable that only the tokenizer knows."""
    return len(word) > 2 or word.isdigit()


def drill_batch(step: int, words: Vocabulary, params: DrillParams) -> Batch:
    """The sequences of a 0-based step, which with the seed determines them.

    First copies alone, then mostly comparisons, then both over the length of an episode: what was learned within a
    hundred tokens does not hold among five hundred. Sequences grow to that length little by little, since a student
    that is put before long ones at once may forget how to compare.
    """
    generator = np.random.default_rng([params.seed, step])
    rows, gap = params.batch_size, int(generator.integers(0, LONGEST_GAP))
    long_step = step - params.copy_steps - params.compare_steps
    if long_step >= 0:
        short = 2 * params.length + LONGEST_GAP
        grown = min(1.0, (long_step + 1) / (GROWING_SHARE * params.long_steps))
        length = round(short + grown * max(0, params.long_length - short))
        rows = max(3, rows * short // length)
        gap = length - 2 * params.length
    compares = 0 if step < params.copy_steps else round(COMPARED_SHARE * rows)
    told_twice, copied = _copies(rows - compares, words, params.length, gap, generator, reworded=compares > 0)
    pairs, repeated, judged = _comparisons(compares, told_twice.shape[1], words, generator)
    nothing = np.zeros_like(told_twice, dtype=bool)
    return Batch(
        np.concatenate([told_twice, pairs]),
        np.concatenate([copied, repeated]),
        np.concatenate([nothing, judged]),
    )


def _copies(
    count: int, words: Vocabulary, length: int, gap: int, generator: np.random.Generator, *, reworded: bool
) -> tuple[np.ndarray, np.ndarray]:
    """`length` words, `gap` others, the same again; all of the second telling but its first token can be known.

    With `reworded`, half of the sequences keep to one form of writing in each telling, often another one in the second.
    """
    told = generator.choice(words.words, (count, length))
    between = generator.choice(words.words, (count, gap))
    again = told.copy()
    for row in range(count // 2 if reworded and words.rewordings else 0):
        table = words.rewordings[generator.integers(len(words.rewordings))]
        told[row], again[row] = generator.choice(table, length).T
    sequences = np.concatenate([told, between, again], axis=1)
    copied = np.zeros_like(sequences, dtype=bool)
    copied[:, length + gap + 1 :] = True
    return sequences, copied


def _comparisons(
    count: int, length: int, words: Vocabulary, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Chains of `LABEL VALUE vs VALUE same; LABEL VALUE vs OTHER* differs;`, cut to `length` tokens.

    A mark stands behind each word of the second value that is not the first's, so that comparing is a matter of one
    word at a time. Most sequences mention all values before they compare them, as a note and a page do; there the
    second value, once it is begun, is known too.

    Returns:
        Sequences, int64, (count, length); and which of their tokens are copied, and which judged, bool.

    """
    sequences = np.zeros((count, length), dtype=np.int64)
    copied, judged = (np.zeros_like(sequences, dtype=bool) for _ in range(2))
    for index in range(count):
        told = index % TOLD_OF > 0
        noted: list[int] = []
        mentioned: list[int] = []
        chain = _Chain()
        while len(noted) + len(mentioned) + len(chain.token_ids) < length:
            label, filler = generator.choice(words.words, 2).tolist()
            first, second = _pair(words, generator)
            if told:
                noted += [label, *first]
                mentioned = [filler, *second, *mentioned]
            chain.compare(label, first, second, words)
        before = len(noted) + len(mentioned)
        sequences[index] = [*noted, *mentioned, *chain.token_ids][:length]
        for places, mask in ((chain.copied if told else [], copied), (chain.judged(told=told), judged)):
            where = before + np.array(places, dtype=np.int64)
            mask[index, where[where < length]] = True
    return sequences, copied, judged


class _Chain:
    """Comparisons one after another, and the places of what can be known of them."""

    def __init__(self) -> None:
        self.token_ids: list[int] = []
        self.copied: list[int] = []
        self._relations: list[int] = []
        self._marks: list[int] = []
        self._last_marks: list[int] = []

    def judged(self, *, told: bool) -> list[int]:
        """Places of judgements. Where the second value is not told before, only its last word is judged by itself.

        Anywhere else a missing mark could not be learned there, for nobody knows the word that comes instead.
        """
        return [*self._relations, *self._last_marks, *(self._marks if told else [])]

    def compare(self, label: int, first: list[int], second: list[int], words: Vocabulary) -> None:
        """Add a comparison."""
        self.token_ids += [label, *first, words.versus]
        for at, (ours, theirs) in enumerate(zip(first, second, strict=True)):
            if at:
                self.copied.append(len(self.token_ids))
            self.token_ids.append(theirs)
            if ours != theirs:
                place = self._last_marks if at == len(first) - 1 else self._marks
                place.append(len(self.token_ids))
                self.token_ids.append(words.mark)
        self._relations.append(len(self.token_ids))
        self.token_ids += [words.same if first == second else words.different, words.next]


def _pair(words: Vocabulary, generator: np.random.Generator) -> tuple[list[int], list[int]]:
    """A value, and the same or another of the same length."""
    length = int(generator.integers(1, LONGEST_VALUE + 1))
    first = generator.choice(words.words, length)
    second = first.copy()
    if generator.random() < 0.5:
        changed = np.flatnonzero(generator.random(length) < CHANGED_SHARE)
        changed = changed if len(changed) else generator.integers(0, length, 1)
        second[changed] = generator.choice(words.words, len(changed))
    return first.tolist(), second.tolist()


def run_drills(
    model: Any, words: Vocabulary, params: DrillParams, on_step: Callable[[int], None] = lambda step: None
) -> dict[str, float]:
    """Train `model` in place; returns the losses of the last step that had each part, nats per token.

    Args:
        model: the student.
        words: the ids to make drills of.
        params: sizes, steps, seed and optimizer.
        on_step: called after each step with its 1-based number.

    """
    import torch

    prepare_torch(params.threads)
    model.train()
    optimizer = MuonWithAdamW(model, params)
    losses: dict[str, float] = {}
    for step in range(params.steps):
        parts = _losses(model, drill_batch(step, words, params))
        torch.stack(list(parts.values())).sum().backward()
        optimizer.step(min(1.0, (step + 1) / WARMUP_STEPS))
        losses |= {name: float(loss.detach()) for name, loss in parts.items()}
        on_step(step + 1)
    return losses


def _losses(model: Any, batch: Batch) -> dict[str, "torch.Tensor"]:
    """The mean loss of copied tokens and of judgements, as far as the batch has any."""
    import torch

    token_ids = torch.from_numpy(batch.token_ids)
    hidden = model.model.language_model(input_ids=token_ids, use_cache=False).last_hidden_state[:, :-1]
    losses = {}
    for name, mask in (("copy", batch.copied), ("compare", batch.judged)):
        where = torch.from_numpy(mask)[:, 1:]
        targets = token_ids[:, 1:][where]
        if targets.numel():
            weights = torch.full((targets.numel(),), 1 / targets.numel())
            losses[name] = weighted_cross_entropy_sum(hidden[where], model.lm_head.weight, targets, weights)
    return losses
