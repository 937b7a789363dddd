"""Every sentence of failure or correction that a policy can read, in one place.

Outages, empty results and refusals never share a sentence, so that neither policy nor judge takes one for another.
"""

from collections.abc import Sequence

# Turns that cannot be read.
NO_CALL = "Make exactly one tool call in a turn."
MANY_CALLS = "Make only one tool call in a turn."
BROKEN_CALL = "The tool call is malformed; close every tag and give each parameter once."
CUT_OFF = "The turn was cut off; write less."
REPORT_TOO_EARLY = "Call finish_investigation before the report."
NO_REPORT = "Write the report as JSON between <answer> and </answer>."
MANY_REPORTS = "Write exactly one report."
BROKEN_REPORT = "The report must be a JSON object with verdict, explanation and cited."
BAD_VERDICT = "The verdict must be supported or refuted."
NO_EXPLANATION = "The report needs an explanation."

# The end of the budget; the request for the report follows in the same message.
BUDGET_USED = "All actions are used."


def control(used: int, budget: int, citable: int, barren: int, limits: Sequence[tuple[str, int, int]]) -> str:
    """Where an investigation stands.

    Args:
        used: executed calls.
        budget: calls that may be executed in all.
        citable: observations that a report may cite; their number, so that the packet is as long on every turn.
        barren: calls since the last one of these.
        limits: of each tool that has been called and may not be called without end: name, calls, most calls.

    """
    tools = "".join(f"; {tool} {calls} of {most}" for tool, calls, most in limits)
    return f"[actions {used} of {budget}; citable {citable}; {barren} without gain{tools}]"


def same_picture(name: str) -> str:
    """Instead of a picture that the policy has before its eyes already; `name` is an observation, or the case."""
    return f"the same picture as that of {name}"


# What tools answer when there is nothing.
NOTHING_FOUND = "nothing found"
NO_TEXT = "no text found"
NOT_THERE = "there is nothing at this address"
NO_PAGE_TEXT = "the page has no readable text"
NOT_COMPARABLE = "not comparable"
NOT_ANSWERED = "no passage of the page answers the question"
NO_WORDS = "the picture shows nothing to search for"

# Instead of a title that gives orders.
TITLE_WITHHELD = "(a title that is not shown)"
# Instead of a text that gives orders, in what a model tells of a picture.
TEXT_WITHHELD = "(a text that is not shown)"


def more_lines(number: int) -> str:
    """At the end of a result that was longer than a policy reads."""
    return f"({number} more lines are not shown)"


# What looking by pixels cannot do; it says so instead of guessing.
NOT_READ = "pixels were measured; the question was not read"
NOT_MEASURED = "nothing of this can be measured"
NOT_JUDGED = "pixels were measured; nothing was judged"

# Instead of a guess that the picture was generated.
ORIGIN_PROVES_NOTHING = "how the picture was made proves nothing"


def signs_of_generation(number: int) -> str:
    """Instead of anomalies that only say how the picture was made."""
    return f"signs of generation, which are not shown: {number}"


# What tools answer when a service or a file is broken.
BLOCKED_PAGE = "the page refuses readers"
TOO_SLOW = "no result in time"
BAD_PICTURE = "the picture cannot be opened"

# What tools answer when the source policy forbids the answer.
BLOCKED_REDIRECT = "the page leads to a blocked site"

# What tools answer when an address leads off the public web.
OFF_LIMITS = "this address is not on the public web"


def unavailable(service: str) -> str:
    """A service could not be used; says nothing about what it would have found."""
    return f"{service} is out of service"


def unknown_tool(name: str) -> str:
    """The called tool is not offered now."""
    return f"{name} is not available now."


def missing_argument(tool: str, argument: str) -> str:
    """A required argument is absent or empty."""
    return f"{tool} needs {argument}."


def surplus_argument(tool: str, argument: str) -> str:
    """An argument that the tool does not have."""
    return f"{tool} takes no {argument}."


def bad_argument(tool: str, argument: str) -> str:
    """An argument whose value cannot be read."""
    return f"{argument} of {tool} cannot be read."


def cannot_count(target: str) -> str:
    """The counted thing is none that can be told from others."""
    return f"{target} cannot be counted."


BAD_BOXES = "anchor_regions must be at most four boxes x1,y1,x2,y2, with x1 < x2 and y1 < y2."
BAD_BOX = "bbox must be x1,y1,x2,y2 between 0 and 1, with x1 < x2 and y1 < y2."
BOX_ARGUMENTS = {"bbox": BAD_BOX, "anchor_regions": BAD_BOXES}
DUPLICATE = "This was searched before."
VISITED = "This page was opened before."
COMPARED = "This picture was compared before."
BLOCKED_URL = "This site is blocked."
BLOCKED_QUERY = "The query names a blocked site."
NOT_A_URL = "The url must start with http:// or https://."
NOT_OFFERED = "Compare only pictures that a search or a page offered."


def unknown_citation(observation_id: str) -> str:
    """A report cites what was never observed."""
    return f"There is no observation {observation_id}."


def clock_citation(observation_id: str) -> str:
    """A report cites the clock."""
    return f"{observation_id} is the time and cannot be cited."


def failed_citation(observation_id: str) -> str:
    """A report cites an observation that failed."""
    return f"{observation_id} failed and cannot be cited."


def lead_citation(observation_id: str) -> str:
    """A report cites search results, which are leads and not evidence."""
    return f"{observation_id} is a search result and cannot be cited."


def repeated_citation(observation_id: str) -> str:
    """A report cites one observation twice."""
    return f"{observation_id} is cited twice."
