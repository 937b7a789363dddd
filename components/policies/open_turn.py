"""A turn while it is decoded: what of its conversation is known, what the model reads next, what has been chosen."""

from collections.abc import Sequence

import numpy as np
import torch

from components.policies.drafts import as_text
from components.policies.encoding import Encoded
from components.policies.prefixes import Prefix
from components.policies.sampling import Chosen


class OpenTurn:
    """One conversation, of which some tokens were read in earlier turns and the others are to be read first.

    Args:
        row: the conversation.
        known: how many of its tokens need not be read.
        behind: the position right behind each of them, int64, (known,).
        positions: time, height and width of the other tokens, (3, others).
        images: the pictures among the others.
        draws: the random numbers of the turn's tokens, as many as it may have.

    """

    def __init__(
        self,
        row: Encoded,
        known: int,
        behind: np.ndarray,
        positions: Sequence[Sequence[int]],
        images: Sequence[str],
        draws: Sequence[float],
    ) -> None:
        self.row = row
        self.chosen: list[Chosen] = []
        self.fed = row.token_ids[known:]
        """What the model reads next; the guesses come last. Nothing once the turn has ended."""
        self.guesses: list[int] = []
        self.positions = positions
        """Time, height and width of `fed`, (3, fed)."""
        self.images = images
        """Pictures among `fed`."""
        self.text = as_text(row.token_ids)
        """The conversation and what has been chosen, as characters."""
        reached = np.maximum.accumulate(np.max(positions, axis=0)) + 1
        self._behind = [*behind.tolist(), *reached.tolist()]
        self._draws = draws

    @property
    def choices(self) -> int:
        """How many tokens are chosen in the next step: one after each guess, and one before."""
        return 1 + len(self.guesses) if self.fed else 0

    @property
    def next_draws(self) -> Sequence[float]:
        """Their random numbers."""
        return self._draws[len(self.chosen) : len(self.chosen) + self.choices]

    @property
    def room(self) -> int:
        """How many more tokens the turn may have."""
        return len(self._draws) - len(self.chosen)

    def take(self, choices: Sequence[Chosen], stop_id: int) -> int:
        """Take what was chosen before and after each guess, as far as the guesses hold and the turn goes on.

        Returns:
            How many of `fed` the turn keeps.

        """
        held = 0
        while held < len(self.guesses) and self.guesses[held] == choices[held].token_id != stop_id:
            held += 1
        kept = len(self.fed) - len(self.guesses) + held
        if self.chosen:
            self._behind += range(self._behind[-1] + 1, self._behind[-1] + 1 + kept)
        new = choices[: held + 1]
        self.chosen += new
        self.text += as_text([one.token_id for one in new])
        self.fed, self.guesses, self.positions, self.images = [], [], [(), (), ()], []
        if self.room and new[-1].token_id != stop_id:
            self.feed([])
        return kept

    def feed(self, guesses: list[int]) -> None:
        """Let the model read what was chosen last, and what is guessed to follow."""
        self.guesses = guesses[: self.room - 1]
        self.fed = [self.chosen[-1].token_id, *self.guesses]
        self.positions = [range(self._behind[-1], self._behind[-1] + len(self.fed))] * 3

    def prefix(self, keys: torch.Tensor, values: torch.Tensor) -> Prefix:
        """What the next turn goes on from; the last token has been chosen and not read."""
        token_ids = np.array([*self.row.token_ids, *(one.token_id for one in self.chosen[:-1])])
        return Prefix(token_ids, tuple(self.row.images), np.array(self._behind), keys, values)
