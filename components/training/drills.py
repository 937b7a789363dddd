"""Drills: the micro student's stand-in for the pre-training that a large model brings.

A student drawn from random numbers can neither carry a name from one place to another nor tell whether two names are
the same. Attention that finds an earlier occurrence and copies what followed (an induction head; Olsson et al., 2022)
forms late and all at once, and in whole episodes, where few tokens are copies, later than there is time for. Sequences
of random names said twice are nothing but copies, so there it forms in half a minute; then pairs of names, each with
the word for same or different behind it, teach comparing. The drills hold no fact of the world: names and numbers are
drawn uniformly, and no picture, question or answer occurs in them.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from components.config.schema import DrillParams
from components.training.losses import weighted_cross_entropy_sum
from components.training.optimizer import MuonWithAdamW
from components.training.renaming import Renaming

if TYPE_CHECKING:
    import torch

WARMUP_STEPS = 20
LONGEST_GAP = 24
CHANGED_SHARE = 0.6
"""Of the names in a value that differs."""

VERSUS, SAME, DIFFERENT, NEXT, SPACE = " vs", " same", " differs", ";", " "
SHAPES = ("n", "nn", "nnn", "sn", "snnsn")
"""Values as names (n) and spaces (s): a word, two, three, a number, a date."""


class Vocabulary(NamedTuple):
    """The ids that drills are made of."""

    names: np.ndarray
    """int64; whatever can be part of a name, a date or a count."""
    other_form: np.ndarray
    """int64, (vocabulary,): a name as it stands elsewhere, after a line break instead of a space."""
    versus: int
    same: int
    different: int
    next: int
    space: int


class Batch(NamedTuple):
    """The sequences of one step."""

    token_ids: np.ndarray
    """int64, (sequences, tokens)."""
    copied: np.ndarray
    """bool, the same shape: tokens that follow from an earlier telling."""
    judged: np.ndarray
    """bool, the same shape: the word for same or different."""


def vocabulary(renaming: Renaming, tokenizer: Any) -> Vocabulary:
    """The ids of drills on all names that may be renamed; raises ValueError when the tokenizer splits a fixed word."""
    words = [tokenizer.encode(word) for word in (VERSUS, SAME, DIFFERENT, NEXT, SPACE)]
    if any(len(ids) != 1 for ids in words):
        raise ValueError("the tokenizer splits a word of the comparison drills; train it on reviewed episodes")
    return Vocabulary(renaming.ids, renaming.other_form(), *(ids[0] for ids in words))


def drill_batch(step: int, words: Vocabulary, params: DrillParams) -> Batch:
    """The sequences of a 0-based step, which with the seed determines them: copies, later mostly comparisons."""
    generator = np.random.default_rng([params.seed, step])
    compares = 0 if step < params.copy_steps else params.batch_size * 2 // 3
    told_twice, copied = _copies(params.batch_size - compares, words, params.length, generator, reworded=compares > 0)
    pairs, judged = _comparisons(compares, told_twice.shape[1], words, generator)
    nothing = np.zeros_like(told_twice, dtype=bool)
    return Batch(
        np.concatenate([told_twice, pairs]),
        np.concatenate([copied, np.zeros_like(judged)]),
        np.concatenate([nothing, judged]),
    )


def _copies(
    count: int, words: Vocabulary, length: int, generator: np.random.Generator, *, reworded: bool
) -> tuple[np.ndarray, np.ndarray]:
    """`length` names, some others, the same again; all of the second telling but its first token can be known.

    With `reworded`, half of the sequences tell the names in their other form the second time.
    """
    gap = int(generator.integers(0, LONGEST_GAP))
    told = generator.choice(words.names, (count, length))
    between = generator.choice(words.names, (count, gap))
    again = told.copy()
    if reworded:
        again[: count // 2] = words.other_form[told[: count // 2]]
    sequences = np.concatenate([told, between, again], axis=1)
    copied = np.zeros_like(sequences, dtype=bool)
    copied[:, length + gap + 1 :] = True
    return sequences, copied


def _comparisons(
    count: int, length: int, words: Vocabulary, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Chains of `LABEL VALUE vs VALUE same; LABEL VALUE vs OTHER differs;`, cut to `length` tokens."""
    sequences = np.zeros((count, length), dtype=np.int64)
    for row in sequences:
        chain: list[int] = []
        while len(chain) < length:
            label = int(generator.choice(words.names))
            first, second = _pair(words, generator)
            word = words.same if first == second else words.different
            chain += [label, *first, words.versus, *second, word, words.next]
        row[:] = chain[:length]
    return sequences, (sequences == words.same) | (sequences == words.different)


def _pair(words: Vocabulary, generator: np.random.Generator) -> tuple[list[int], list[int]]:
    """A value, and the same or another of the same shape."""
    shape = np.array(list(generator.choice(SHAPES)))
    names = np.flatnonzero(shape == "n")
    first = np.full(len(shape), words.space)
    first[names] = generator.choice(words.names, len(names))
    second = first.copy()
    if generator.random() < 0.5:
        changed = names[generator.random(len(names)) < CHANGED_SHARE]
        changed = changed if len(changed) else generator.choice(names, 1)
        second[changed] = generator.choice(words.names, len(changed))
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

    torch.set_num_threads(params.threads)
    torch.use_deterministic_algorithms(True)
    model.train()
    optimizer = MuonWithAdamW(model, params)
    losses: dict[str, float] = {}
    for step in range(params.copy_steps + params.compare_steps):
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
