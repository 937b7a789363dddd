"""The data card: its numbers are those of the files, and it tells nothing that the release does not."""

import json
import re
from collections import Counter
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser

import pytest
from release_samples import PEOPLE, candidates_of, golds_of, let_people_decide

from components.config.paths import Paths
from components.records.case import Gold
from components.release.card import write_card
from components.release.checks import benchmark_checks
from components.release.stage import read_report, release_candidates
from components.review.decisions import Choice
from components.storage.atomic import write_json

Tables = dict[str, dict[str, list[str]]]
HOSTILE = "<script>alert('x')</script> & {{ 7 * 7 }}"


class Reader(HTMLParser):
    """Reads the rows of every table that has a name, and every text."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: Tables = {}
        self.texts: list[str] = []
        self.open_tags: list[str] = []
        self._name = ""
        self._row: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "img", "br"):
            self.open_tags.append(tag)
        if tag == "section":
            self._name = dict(attrs).get("data-table") or ""
        if tag == "tr":
            self._row = []
        if tag == "td":
            self._row.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open_tags.pop() == tag
        if tag == "tr" and self._row and self._name:
            title, _, *values = self._row
            self.tables.setdefault(self._name, {})[title] = values
        if tag == "section":
            self._name = ""

    def handle_data(self, data: str) -> None:
        if self.open_tags[-1:] == ["td"]:
            self._row[-1] += data.strip()
        if self.open_tags[-1:] != ["style"]:
            self.texts.append(data.strip())


def read(paths: Paths) -> tuple[str, Reader]:
    page = write_card(paths).read_text("utf-8")
    reader = Reader()
    reader.feed(page)
    assert reader.open_tags == []
    return page, reader


def counted(golds: dict[str, Gold], value: Callable[[Gold], str]) -> dict[str, list[str]]:
    """What a table of the card has to say, counted from the gold records."""
    found = Counter((value(gold), name.partition("-")[0]) for name, gold in golds.items())
    rows = {key: [found[key, "train"], found[key, "test"]] for key, _ in found if key}
    return {key.replace("_", " "): [str(one) for one in (*row, sum(row))] for key, row in rows.items()}


def test_its_numbers_are_those_of_the_files(released: Paths) -> None:
    golds, tables = golds_of(released), read(released)[1].tables
    assert tables["Label"] == counted(golds, lambda gold: gold.factual_status.value)
    types = counted(golds, lambda gold: gold.error_type.value if gold.error_type else "")
    assert tables["Error type, of refuted cases"] == types
    families = counted(golds, lambda gold: gold.error_type.family.value if gold.error_type else "")
    assert tables["Error family, of refuted cases"] == families
    assert tables["Generator style"] == counted(golds, lambda gold: gold.style)
    assert tables["Route"] == counted(golds, lambda gold: gold.route)
    metadata = [json.loads(line) for line in (released.release / "metadata.jsonl").read_text().splitlines()]
    assert len(metadata) == len(golds) == sum(int(row[-1]) for row in tables["Label"].values())


def test_the_funnel_goes_from_planned_to_released(released: Paths) -> None:
    funnel = read(released)[1].tables["funnel"]
    golds = golds_of(released)
    assert funnel["planned"] == ["13", "9", "22"]
    assert funnel["drawn"] == ["17", "13", "30"]
    assert funnel["extra text"] == ["1", "1", "2"]
    assert funnel["candidates"] == ["12", "8", "20"]
    assert funnel["released"][-1] == str(len(golds))
    for column in range(3):
        kept, lost = (int(funnel[name][column]) for name in ("released", "rejected by reviewers"))
        assert kept + lost == int(funnel["candidates"][column])
    lines = read_report(released).funnel.markdown().splitlines()
    assert lines[0] == "|  | train | test | all |"
    assert f"| released | {' | '.join(funnel['released'])} |" in lines


def test_it_is_one_file_that_needs_nothing_else(released: Paths) -> None:
    page, _ = read(released)
    assert "<script" not in page
    assert "<link" not in page
    assert not re.search(r"""(src|href)=["'](?!data:image/jpeg;base64,)""", page)
    assert "url(" not in page
    assert "@import" not in page


def test_there_is_an_example_of_every_kind_with_picture_evidence_and_address(released: Paths) -> None:
    page, _ = read(released)
    articles = re.findall(r"<article.*?</article>", page, re.S)
    golds = golds_of(released)
    kinds = {gold.error_type for gold in golds.values()}
    assert len(articles) == len(kinds)
    for article in articles:
        name = re.search(r"(train|test)-\d+", article)
        assert name is not None
        gold, text = golds[name.group()], unescape(article)
        stance = "supports" if gold.error_type is None else "refutes"
        decisive = [item for item in gold.acceptable_evidence if item.stance == stance]
        assert decisive
        assert all(item.exact_span in text and item.canonical_url in text for item in decisive)
        assert gold.target_claim in text
        assert f"badge {gold.factual_status.value}" in text
        assert "data:image/jpeg;base64," in text


def test_it_holds_nothing_private_beyond_what_is_published(paths: Paths) -> None:
    golds = candidates_of(paths)
    first, second = (name for name in list(golds)[:2])
    secret = (Choice.REJECT, {}, "SECRET of ada")
    edit = (Choice.EDIT, {"explanation": "SECRET reason"}, "")
    let_people_decide(paths, {first: {"ada": secret, "ben": secret}, second: {"ada": edit, "ben": edit}})
    release_candidates(PEOPLE, paths)
    page, reader = read(paths)
    text = " ".join(reader.texts)
    assert "All three were people." in page
    for private in ("SECRET", first, golds[first].target_claim):
        assert private not in text
    assert not re.findall(r"\b(ada|ben|eve)\b", text)
    released = golds_of(paths)
    identities = {value for gold in released.values() for value in (gold.event_id, *gold.person_ids)}
    assert not [value for value in identities if value in text]
    assert not [gold.case_id for gold in released.values() if gold.explanation in text]
    claims = [name for name, gold in released.items() if gold.target_claim in text]
    assert all(name.startswith("train") for name in claims)


def test_it_says_who_reviewed_and_where_agreement_comes_from(released: Paths) -> None:
    page, reader = read(released)
    assert "The reviewers were programs" in page
    assert "error rates of 5, 12, 2 %" in " ".join(" ".join(reader.texts).split())
    assert "good candidates lost" in page


def test_further_results_of_the_benchmark_are_shown_and_never_obeyed(released: Paths) -> None:
    path = released.metrics / "benchmark.json"
    summary = json.loads(path.read_text())
    guess = {"balanced_accuracy": 51.23, "low": 45.0, "high": 57.06}
    pixels = {"mean": 0.51234, "passed": True, "transferred": {"edges": guess}, HOSTILE: 3}
    found = {"pixels": pixels, "leakage": {"pairs": [{"a": 1}]}}
    write_json(path, summary | found)
    page, _ = read(released)
    assert "51.2 [45.0, 57.1]" in page
    assert "transferred · edges · balanced accuracy" in page
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    [table] = benchmark_checks(path.read_text())
    assert table.name == "pixels"
    assert table.rows[:2] == (("mean", "0.512"), ("passed", "yes"))


@pytest.mark.parametrize("folder", ["benchmark", "web"])
def test_it_lies_where_no_agent_looks(released: Paths, folder: str) -> None:
    assert not write_card(released).is_relative_to(getattr(released, folder))
