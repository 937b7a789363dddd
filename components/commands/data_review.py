"""`eviflow data review`: two people decide on each candidate or episode, a third settles what they disagree on."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from components.commands.session import Session
from components.errors import UsageError
from components.records.case import Split

if TYPE_CHECKING:
    from components.config.paths import Paths
    from components.review.panel import Panel
    from components.review.serve import Assignment, Link
    from components.review.status import ReviewStatus

EXAMPLE = """Example:

    eviflow data review --reviewers ada,ben --adjudicator eve

    eviflow data review --status"""


def review(
    context: typer.Context,
    reviewers: Annotated[str | None, typer.Option(help="Two names: who decides. By default as the last time.")] = None,
    adjudicator: Annotated[str | None, typer.Option(help="A third name: who settles disagreement.")] = None,
    episodes: Annotated[
        bool, typer.Option("--episodes", help="Review teacher episodes instead of candidates.")
    ] = False,
    split: Annotated[Split | None, typer.Option(help="Only the candidates of this split.")] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 for a free one.", min=0, max=65535)] = 8810,
    renew: Annotated[bool, typer.Option("--renew", help="Replace every link; the old ones end.")] = False,
    status: Annotated[bool, typer.Option("--status", help="Only tell how far the review is.")] = False,
    scripted: Annotated[bool, typer.Option("--scripted", help="Let programs stand in for all three people.")] = False,
    seed: Annotated[int, typer.Option(help="With --scripted: which items the programs err on.")] = 0,
) -> None:
    """Serve the review page for the candidates: a link for each of two reviewers and an adjudicator, until interrupted.

    Reviewers do not see each other's decisions. Every decision is on disk before the page says so.
    """
    from components.review import serve
    from components.review.decisions import Queue

    session: Session = context.obj
    paths, panel = session.paths, _panel(reviewers, adjudicator)
    if status and scripted:
        raise UsageError("--status only tells and --scripted decides; use one of them")
    if (status or scripted) and (panel or renew):
        raise UsageError("--reviewers, --adjudicator and --renew belong to serving; leave out --status and --scripted")
    if episodes and split is not None:
        raise UsageError("teacher episodes are of training cases only; --split goes without --episodes")
    splits = (split,) if split else tuple(Split)
    assignment = serve.Assignment(Queue.EPISODES if episodes else Queue.CASES, splits)
    if status:
        _show(serve.status(paths, assignment), paths)
    elif scripted:
        _show(serve.review_scripted(paths, assignment, seed), paths)
    else:
        _serve(paths, assignment, panel, host, port, renew)


def _panel(reviewers: str | None, adjudicator: str | None) -> "Panel | None":
    from components.review.panel import make_panel

    if reviewers is None and adjudicator is None:
        return None
    if reviewers is None or adjudicator is None:
        raise UsageError("--reviewers and --adjudicator go together: two people decide and a third settles")
    return make_panel(reviewers, adjudicator)


def _serve(paths: "Paths", assignment: "Assignment", panel: "Panel | None", host: str, port: int, renew: bool) -> None:
    from components.review import serve

    def announce(links: "Sequence[Link]") -> None:
        for link in links:
            known = "" if link.new else "   (the link given out earlier; --renew makes new ones)"
            typer.echo(f"{link.role:<12}{link.name:<12}{link.url}{known}")
        typer.echo("Each link is one person's key: give it to nobody else. Ctrl-C ends.")

    serve.serve(paths, assignment, panel, host=host, port=port, renew=renew, announce=announce)


def _show(status: "ReviewStatus", paths: "Paths") -> None:
    from components.review.status import report_path

    typer.echo(f"review of {status.queue.value}")
    for name, value in _rows(status):
        typer.echo(f"  {name:<15}{value}")
    typer.echo(f"written to {report_path(paths, status.queue)}")


def _rows(status: "ReviewStatus") -> list[tuple[str, str]]:
    names = (*status.reviewers, status.adjudicator)
    rates = status.error_rates
    by = [f"{name} {status.decided[name]}" + (f" (errs {rates[name]:.0%})" if name in rates else "") for name in names]
    stale = [f"{name} {count}" for name, count in status.stale.items() if count]
    changed = [("changed since", f"{', '.join(stale)}: to be decided again")] if stale else []
    return [
        ("decided by", "programs, standing in for people" if status.scripted else "people"),
        ("decisions", ", ".join(by)),
        *changed,
        ("items", str(status.items)),
        ("settled", f"{status.settled} ({', '.join(f'{name} {count}' for name, count in status.by_decision.items())})"),
        ("disagreements", f"{status.disagreements} ({status.adjudicated} settled, {status.waiting} waiting)"),
        ("open", str(status.open)),
        ("agreement", _agreement(status)),
    ]


def _agreement(status: "ReviewStatus") -> str:
    found = status.agreement
    if found is None:
        return "no item has both decisions yet"
    share = f"{found.share:.1%} of {found.items} items"
    if found.kappa is None:
        return f"{share}; kappa is not defined while both make one and the same choice"
    return f"{share}; Cohen's kappa {found.kappa:.2f} [{found.low:.2f}, {found.high:.2f}]"
