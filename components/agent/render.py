"""What a policy sees of an investigation: the one place where a case and its steps become messages.

Teacher, student, trainer and judge all read what these functions return.
"""

from collections.abc import Mapping, Sequence

from components.agent import prompts
from components.records.case import Case
from components.records.conversation import Message, Role
from components.records.episode import Episode, Observation, Step, StepKind, Turn
from components.tools import messages


def messages_for(case: Case, steps: Sequence[Step], *, direct: bool = False) -> tuple[Message, ...]:
    """Everything a policy is shown after `steps`, its own turns included."""
    shown = list(opening(case, direct=direct))
    attached = {case.image_sha256: "the case"}
    for step in steps:
        shown.append(assistant_message(step.turn))
        shown.extend(follow_up(step, attached))
        if step.observation is not None:
            attached = dict.fromkeys(step.observation.images, step.observation.observation_id) | attached
    return tuple(shown)


def messages_of(episode: Episode) -> tuple[Message, ...]:
    """What the policy saw in a finished episode, then its last turn; nothing was shown after that."""
    direct = not episode.exposed_tools
    if not episode.steps:
        return opening(episode.case, direct=direct)
    shown = messages_for(episode.case, episode.steps[:-1], direct=direct)
    return (*shown, assistant_message(episode.steps[-1].turn))


def opening(case: Case, *, direct: bool = False) -> tuple[Message, ...]:
    """The system's sentence, and the picture with the question."""
    question = Message("user", prompts.question(direct), images=(case.image_sha256,))
    return Message("system", prompts.system()), question


def assistant_message(turn: Turn) -> Message:
    """A turn, verbatim and with the ids that were sampled, and what they are ids of."""
    return Message("assistant", turn.text, token_ids=turn.token_ids, vocabulary=turn.vocabulary)


def follow_up(step: Step, attached: Mapping[str, str]) -> tuple[Message, ...]:
    """What the policy is shown after its turn; `attached` names, by hash, whose pictures it has been shown before."""
    if step.observation is not None:
        return observation_messages(step.observation, attached, step.control)
    if not step.feedback:
        return ()
    return (Message(_feedback_role(step), step.feedback),)


def observation_messages(
    observation: Observation, attached: Mapping[str, str], control: str = ""
) -> tuple[Message, ...]:
    """The result under its id; its pictures follow as a `user` message, which every chat template keeps.

    A picture is attached once in an investigation; the second time words say whose it is.
    """
    name = observation.observation_id
    again = dict.fromkeys(attached[digest] for digest in observation.images if digest in attached)
    lines = [name, observation.text, *map(messages.same_picture, again), *([control] if control else [])]
    result = Message("tool", "\n".join(lines), observation_id=name)
    fresh = tuple(dict.fromkeys(digest for digest in observation.images if digest not in attached))
    return (result, Message("user", "", images=fresh)) if fresh else (result,)


def budget_feedback() -> str:
    """What ends an investigation that has used all its actions and did not finish by itself."""
    return f"{messages.BUDGET_USED} {prompts.report_request()}"


def _feedback_role(step: Step) -> Role:
    """A refused call is answered by its tool; everything else is said by the user."""
    refused = step.kind is StepKind.CORRECTION and step.call is not None and step.feedback != budget_feedback()
    return "tool" if refused else "user"
