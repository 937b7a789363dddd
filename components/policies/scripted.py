"""The scripted teacher: a careful investigator that knows only what the tools tell it.

It looks and reads first, then finds the record, then puts every pictured value beside the documented one, and reports
the first contradiction, or full agreement. Where a glance leaves two look-alike kinds open, or a search two editions,
it tries one of them, by seed: of several investigations of a case some choose right at once, and some show how to find
back.
"""

import hashlib
from collections.abc import Sequence

from components.agent.codec import render_call, render_report
from components.policies.inquiry import Inquiry
from components.policies.slips import slip
from components.records.conversation import Conversation
from components.records.episode import Turn


class ScriptedTeacher:
    """A deterministic policy that works through the tools alone; it holds no state between turns."""

    name = "scripted"
    quick = True

    def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
        """One turn for each conversation, in order."""
        return [Turn(text=_turn(conversation)) for conversation in conversations]


def _turn(conversation: Conversation) -> str:
    picture = next(message.images[0] for message in conversation.messages if message.images)
    luck = hashlib.sha256(f"{picture}-{conversation.seed // 2}".encode()).digest()
    inquiry = Inquiry(
        conversation.messages,
        callable_now={tool.name for tool in conversation.tools},
        read_first=luck[0] % 2 == 0,
        second_kind_first=(luck[1] + conversation.seed) % 2 == 0,
        printed_year_first=(luck[2] + conversation.seed) % 2 == 0,
    )
    right = _right_turn(inquiry, conversation)
    return slip(conversation, luck[3:], right) or right


def _right_turn(inquiry: Inquiry, conversation: Conversation) -> str:
    if conversation.stage == "report":
        return render_report("report.", inquiry.report())
    move = inquiry.next_move()
    # The full set's closer look has to be told what it is for.
    needs = (str(tool.parameters.get("required", "")) for tool in conversation.tools if tool.name == move.tool)
    asked = {"focus_question": "What is printed here?"} if any("focus_question" in names for names in needs) else {}
    return render_call(move.thought, move.tool, move.arguments | asked)
