"""`eviflow data import` and `eviflow data export`: cases in and out of the checkout."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from components.commands.session import Session
from components.errors import UsageError
from components.records.case import Split

if TYPE_CHECKING:
    from components.curation.transfer.importing import ImportSummary

IMPORT_EXAMPLE = (
    "Example:\n\n    eviflow data import photos --table labels.csv --mapping fields.yaml --into mine --dry-run"
)
EXPORT_EXAMPLE = "Example:\n\n    eviflow data export data/imported/mine --to copy --private data/private/imported/mine"
ROWS_REFUSED = 4
"""Exit code of an import that is done, but for some rows."""


def import_data(
    context: typer.Context,
    source: Annotated[Path, typer.Argument(help="A folder, a .zip, or a table whose pictures lie beside it.")],
    into: Annotated[str, typer.Option(help="What to call the import: data/imported/NAME.", metavar="NAME")],
    split: Annotated[Split, typer.Option(help="Which split the cases are to be.")] = Split.TEST,
    table: Annotated[
        str | None, typer.Option(help="The CSV, JSONL or Parquet table; found when there is only one.")
    ] = None,
    mapping: Annotated[Path | None, typer.Option(help="YAML that says which column is which field.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check everything and write nothing.")] = False,
) -> None:
    """Import pictures and their labels; refused rows are named, the rest is imported (exit code 4)."""
    from components.curation.transfer.importing import ImportRequest, import_cases, try_import
    from components.curation.transfer.mapping import FieldMap, load_mapping
    from components.storage.lock import hold_checkout

    session: Session = context.obj
    paths = session.paths
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", into):
        raise UsageError(f"--into {into!r} is no plain name; use letters, digits, hyphens and underscores")
    request = ImportRequest(source, into, split, table, load_mapping(mapping) if mapping else FieldMap())
    if dry_run:
        summary = try_import(request, paths)
    else:
        with hold_checkout(paths.work):
            summary = import_cases(request, paths)
    _show(summary, split, dry_run)
    if summary.refused:
        raise typer.Exit(ROWS_REFUSED)


def export_data(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="Public cases: data/evilens_f, or data/imported/NAME.")],
    to: Annotated[Path, typer.Option(help="The folder to write; must not be there yet.")],
    layout: Annotated[str, typer.Option("--format", help="released or datasets.")] = "released",
    private: Annotated[
        Path | None, typer.Option(help="Folder of the gold records; without it only public fields are exported.")
    ] = None,
    split: Annotated[Split | None, typer.Option(help="One split; all that there are when not given.")] = None,
) -> None:
    """Export cases in the released layout, or as a folder for Hugging Face `datasets`."""
    from components.curation.transfer.exporting import ExportFormat, export_cases

    if layout not in list(ExportFormat):
        raise UsageError(f"--format {layout!r} is unknown; the formats are {', '.join(ExportFormat)}")
    done = export_cases(folder, to, ExportFormat(layout), private, split)
    counted = ", ".join(f"{name.value} {count}" for name, count in done.cases.items())
    fields = "with labels, claims and sources" if done.private else "public fields only"
    typer.echo(f"{to}: {counted} cases, {fields}")


def _show(summary: "ImportSummary", split: Split, dry_run: bool) -> None:
    """Print the mapping that was found, the counts, and what was refused."""
    from components.curation.transfer.refusals import shown

    for name, column in summary.fields.found.items():
        typer.echo(f"{name.value:<14} from column {shown(column)}")
    if summary.fields.unused:
        typer.echo(f"{'not used':<14} {', '.join(map(shown, summary.fields.unused))}")
    labels = ", ".join(f"{count} {verdict.value}" for verdict, count in sorted(summary.labels.items()))
    verb = "would be imported" if dry_run else "imported"
    typer.echo(f"{summary.imported} rows {verb}{f' ({labels})' if labels else ''}, {summary.refused} refused")
    for reason, count in summary.reasons.most_common():
        first = summary.examples[reason]
        typer.echo(f"{count:>7}  {reason.value:<28} line {first.line}: {first.detail}")
    if summary.folder is not None and summary.private is not None:
        typer.echo(f"public: {summary.folder}; private: {summary.private}")
        if summary.refused:
            typer.echo(f"every refused row: {summary.private / f'{split.value}.refused.jsonl'}")
