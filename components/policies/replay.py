"""A policy that plays recorded turns again: for tests, and to look at an old episode with today's tools."""

from collections.abc import Iterable, Sequence

from components.records.conversation import Conversation
from components.records.episode import Episode, Turn


class ReplayPolicy:
    """Answers each conversation with the turn that was given at that point of a recorded episode.

    An episode is recognised by its case's picture and its seed, the point by the turns taken so far.
    """

    quick = True

    def __init__(self, episodes: Iterable[Episode], name: str = "replay") -> None:
        self.name = name
        self._turns = {
            (episode.case.image_sha256, episode.seed): [step.turn for step in episode.steps] for episode in episodes
        }

    def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
        """The recorded turns; raises LookupError where none was recorded."""
        return [self._turn(conversation) for conversation in conversations]

    def _turn(self, conversation: Conversation) -> Turn:
        picture = next(digest for message in conversation.messages for digest in message.images)
        taken = sum(message.role == "assistant" for message in conversation.messages)
        turns = self._turns.get((picture, conversation.seed), [])
        if taken >= len(turns):
            raise LookupError(f"no turn {taken} was recorded for picture {picture[:12]} and seed {conversation.seed}")
        return turns[taken]
