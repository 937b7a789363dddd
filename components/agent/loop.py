"""One investigation: a turn in, a step out, until the report is written (EviScene's ReAct loop).

Each turn thinks and makes exactly one call. Only executed calls count against the action budget; finish and the report
are free. A turn that is refused is answered with one sentence and executes nothing; a stage with too many of them
is given up. When the budget is used up only finish remains, and whatever comes then, the report follows.
"""

import time
from datetime import UTC, datetime
from typing import Literal

from components.agent.codec import Parsed, parse_turn
from components.agent.prompts import report_request
from components.agent.render import budget_feedback, messages_for, messages_of
from components.config.schema import AgentParams
from components.errors import EviflowError
from components.records.case import Case
from components.records.conversation import Conversation
from components.records.episode import Episode, Observation, Report, Step, StepKind, Termination, Turn
from components.tools import messages
from components.tools.base import CLOCK, LEAD_TOOLS
from components.tools.memory import Outcome
from components.tools.request_key import asked_by
from components.tools.toolbox import Accepted, Refused, Toolbox

__all__ = ["Investigation", "messages_of"]


class Investigation:
    """The state of one investigation.

    Args:
        case: what is investigated.
        toolbox: its tools; unused when `direct`.
        config: budgets.
        policy: name of the policy, for the record.
        seed: of the policy's sampling, for the record and for the policy.
        direct: go straight to the report, with no tools.

    """

    def __init__(
        self, case: Case, toolbox: Toolbox, config: AgentParams, *, policy: str, seed: int, direct: bool = False
    ) -> None:
        self.case = case
        self._toolbox = toolbox
        self._config = config
        self._policy = policy
        self._seed = seed
        self._direct = direct
        self._stage: Literal["investigate", "report"] = "report" if direct else "investigate"
        self._steps: list[Step] = []
        self._corrections = 0
        self._actions = 0
        self._termination = Termination.FINISHED
        self._report: Report | None = None
        self._outcome: Outcome | None = None
        self._started_at = datetime.now(UTC)
        self._started = time.perf_counter()
        self._duration: float | None = None

    @property
    def done(self) -> bool:
        """Whether there is nothing more to ask the policy."""
        return self._duration is not None

    @property
    def steps(self) -> tuple[Step, ...]:
        """What has happened so far."""
        return tuple(self._steps)

    @property
    def actions_left(self) -> int:
        """Calls that may still be executed; none once the tools have used up their time."""
        return 0 if self._toolbox.out_of_time else self._config.action_budget - self._actions

    def conversation(self) -> Conversation:
        """What the policy may use for its next turn."""
        tools = self._toolbox.exposed(self.actions_left) if self._stage == "investigate" else ()
        shown = messages_for(self.case, self._steps, direct=self._direct)
        offered = () if self._direct else self._toolbox.schemas
        return Conversation(messages=shown, tools=tools, offered=offered, stage=self._stage, seed=self._seed)

    @property
    def outcome(self) -> Outcome | None:
        """What the last turn's call has found, for whoever keeps it; None where the turn executed nothing."""
        return self._outcome

    async def advance(self, turn: Turn, known: Outcome | None = None) -> Step:
        """Take the policy's turn: execute its call, read its report, or refuse it.

        Args:
            turn: what the policy said.
            known: what its call had found before a kill, which stands for executing it; None where nothing is kept.

        Raises:
            EviflowError: `known` does not belong to this turn.

        """
        if self.done:
            raise ValueError(f"the investigation of {self.case.case_id} has ended; start another")
        self._outcome = known
        parsed = parse_turn(turn.text)
        if turn.finish_reason == "length":
            parsed = Parsed(parsed.thought, problem=messages.CUT_OFF, reports=self._stage == "report")
        step = self._take_report(turn, parsed) if self._stage == "report" else await self._investigate(turn, parsed)
        if known is not None and step.observation is None:
            tool = known.observation.tool
            raise EviflowError(f"what is kept of {tool} belongs to another turn of {self.case.case_id}")
        self._steps.append(step)
        return step

    def abort(self) -> None:
        """End the investigation because the policy cannot produce a turn."""
        self._end(Termination.POLICY_ERROR)

    def episode(self) -> Episode:
        """The record of the investigation; complete once it is done."""
        seconds = time.perf_counter() - self._started if self._duration is None else self._duration
        return Episode(
            episode_id=f"{self.case.case_id}--{self._policy}--s{self._seed}",
            case=self.case,
            policy=self._policy,
            seed=self._seed,
            exposed_tools=() if self._direct else self._toolbox.names,
            tool_set=self._toolbox.tool_set,
            action_budget=self._config.action_budget,
            steps=tuple(self._steps),
            report=self._report,
            termination=self._termination,
            started_at=self._started_at.isoformat(timespec="milliseconds"),
            duration_s=round(seconds, 3),
        )

    async def _investigate(self, turn: Turn, parsed: Parsed) -> Step:
        if parsed.call is None:
            return self._correct(turn, parsed, messages.REPORT_TOO_EARLY if parsed.reports else parsed.problem)
        checked = self._toolbox.check(parsed.call, self.actions_left)
        if isinstance(checked, Refused):
            return self._correct(turn, parsed, checked.sentence)
        if checked.tool is None:
            self._enter_report()
            return self._step(StepKind.FINISH, turn, parsed, feedback=report_request())
        self._actions += 1
        observation = await self._observe(checked)
        return self._step(
            StepKind.ACTION, turn, parsed, observation=observation, control=self._control_after(observation)
        )

    async def _observe(self, call: Accepted) -> Observation:
        """Execute the call, unless it is known what it had found."""
        if self._outcome is not None:
            return self._toolbox.recall(call, self._outcome)
        with asked_by(f"{self.case.case_id} s{self._seed} o{self._actions}"):
            observation = await self._toolbox.execute(call, f"o{self._actions}")
        assert self._toolbox.learned is not None, "a call has been executed"
        self._outcome = Outcome(observation=observation, learned=self._toolbox.learned)
        return observation

    def _control_after(self, observation: Observation) -> str:
        """What the policy is told of its budget; empty when it is not."""
        if not self._config.control_packet:
            return ""
        seen = [*(step.observation for step in self._steps if step.observation), observation]
        citable = [at for at, one in enumerate(seen, start=1) if not _problem_with(one.observation_id, one)]
        barren = len(seen) - max(citable, default=0)
        return messages.control(self._actions, self._config.action_budget, len(citable), barren, self._toolbox.limits)

    def _take_report(self, turn: Turn, parsed: Parsed) -> Step:
        if parsed.report is None:
            return self._correct(turn, parsed, parsed.problem if parsed.reports else messages.NO_REPORT)
        if problem := self._citation_problem(parsed.report):
            return self._correct(turn, parsed, problem)
        self._report = parsed.report
        self._end(self._termination)
        return self._step(StepKind.REPORT, turn, parsed)

    def _citation_problem(self, report: Report) -> str:
        """Why the report's citations cannot stand; empty when they can."""
        observations = {step.observation.observation_id: step.observation for step in self._steps if step.observation}
        for position, name in enumerate(report.cited):
            if name in report.cited[:position]:
                return messages.repeated_citation(name)
            if problem := _problem_with(name, observations.get(name)):
                return problem
        return ""

    def _correct(self, turn: Turn, parsed: Parsed, sentence: str) -> Step:
        """Refuse a turn; the stage ends with it when no action or no correction is left."""
        if self._stage == "investigate" and self.actions_left <= 0:
            self._termination = Termination.BUDGET
            self._enter_report()
            return self._step(StepKind.CORRECTION, turn, parsed, feedback=budget_feedback())
        self._corrections += 1
        if self._corrections >= self._config.corrections_per_stage:
            self._end(Termination.PROTOCOL_FAILURE)
        return self._step(StepKind.CORRECTION, turn, parsed, feedback=sentence)

    def _enter_report(self) -> None:
        self._stage = "report"
        self._corrections = 0

    def _end(self, termination: Termination) -> None:
        self._termination = termination
        self._duration = time.perf_counter() - self._started

    def _step(
        self,
        kind: StepKind,
        turn: Turn,
        parsed: Parsed,
        *,
        observation: Observation | None = None,
        feedback: str = "",
        control: str = "",
    ) -> Step:
        return Step(
            index=len(self._steps),
            kind=kind,
            turn=turn,
            thought=parsed.thought,
            call=parsed.call,
            observation=observation,
            feedback=feedback,
            control=control,
        )


def _problem_with(name: str, observation: Observation | None) -> str:
    """Why `name` cannot be cited; only a successful observation that is more than a lead can."""
    if observation is None:
        return messages.unknown_citation(name)
    if not observation.succeeded:
        return messages.failed_citation(name)
    if observation.tool == CLOCK:
        return messages.clock_citation(name)
    if observation.tool in LEAD_TOOLS:
        return messages.lead_citation(name)
    return ""
