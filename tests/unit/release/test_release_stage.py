"""Stage `panel`: what reviewers take is released as they left it, and nothing else."""

import json
from pathlib import Path

import pytest
from release_samples import PEOPLE, SCRIPTED, candidates_of, cases_of, golds_of, let_people_decide

from components.config.paths import Paths
from components.config.schema import PanelParams, Params
from components.curation.transfer.exporting import ExportFormat, export_cases
from components.errors import EviflowError, UsageError
from components.records.case import Case, Gold, Provenance, Split, Verdict, WebSource
from components.records.image_bank import ImageBank, sha256_hex
from components.records.source_access import SourceAccess
from components.release.stage import read_report, release_candidates
from components.review.decisions import Choice, Decision, Queue
from components.review.panel import review_folder, save_panel
from components.review.scripted import PANEL as PROGRAMS
from components.review.serve import Assignment, review_scripted
from components.storage.atomic import read_jsonl, write_jsonl
from components.storage.ledger import Ledger
from components.tools.source_policy import policy_of


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def seeded(seed: int) -> Params:
    return SCRIPTED.model_copy(update={"panel": PanelParams(seed=seed)})


def metadata(paths: Paths) -> list[dict[str, str]]:
    return [json.loads(line) for line in (paths.release / "metadata.jsonl").read_text("utf-8").splitlines()]


def change_claim(paths: Paths, case_id: str) -> None:
    """Build one candidate anew."""
    path = paths.candidates_gold / f"{case_id.partition('-')[0]}.jsonl"
    golds = read_jsonl(path, Gold)
    update = {"target_claim": "Something else was held."}
    write_jsonl(path, [gold.model_copy(update=update) if gold.case_id == case_id else gold for gold in golds])


def test_scripted_reviewers_decide_and_every_record_says_so(released: Paths) -> None:
    report, golds, candidates = read_report(released), golds_of(released), candidates_of(released)
    assert report.decided_by == "scripted"
    assert report.status.scripted
    assert set(golds) <= set(candidates)
    assert all(gold.review is not None and gold.review.scripted for gold in golds.values())
    decisions = read_jsonl(released.release / "decisions.jsonl", Decision)
    assert all(decision.scripted and decision.error_rate and decision.decided_at == "" for decision in decisions)
    for name, choices in report.decisions.items():
        made = [decision.choice for decision in decisions if decision.reviewer == name]
        assert choices == {choice: made.count(choice) for choice in Choice}
    assert {item.item_id for item in decisions} == set(candidates)


def test_the_report_adds_up_with_the_files(released: Paths) -> None:
    report, golds = read_report(released), golds_of(released)
    for split, reviewed in report.funnel.reviewed.items():
        cases = cases_of(released, split)
        assert reviewed.released == len(cases)
        assert reviewed.candidates == reviewed.accepted + reviewed.edited + reviewed.rejected
        edited = [case for case in cases if golds[case.case_id].review.edited]  # type: ignore[union-attr]
        assert reviewed.edited == len(edited)
    assert sum(item.cases for item in report.rejected) == report.status.by_decision[Choice.REJECT]
    assert report.mistakes is not None
    assert report.mistakes.lost == report.status.by_decision[Choice.REJECT]
    assert report.mistakes.let_through == 0


def test_the_public_folder_holds_three_fields_a_case_and_the_pictures_of_released_cases_alone(paths: Paths) -> None:
    lost = next(iter(candidates_of(paths)))
    rejected = (Choice.REJECT, {}, "blurred")
    let_people_decide(paths, {lost: {"ada": rejected, "ben": rejected}})
    release_candidates(PEOPLE, paths)
    assert sorted(path.name for path in paths.benchmark.rglob("*.jsonl")) == ["test.jsonl", "train.jsonl"]
    for line in (paths.benchmark / "train.jsonl").read_text().splitlines():
        assert list(json.loads(line)) == ["case_id", "image_path", "image_sha256"]
    released, before = ImageBank(paths.benchmark), ImageBank(paths.candidates)
    for split in Split:
        for case in read_jsonl(paths.candidates / f"{split.value}.jsonl", Case):
            assert (case.image_sha256 in released) == (case.case_id != lost)
            if case.case_id != lost:
                assert released.read(case.image_sha256) == before.read(case.image_sha256)
    words = [word for gold in golds_of(paths).values() for word in (gold.target_claim, gold.explanation)]
    public = b"".join(tree(paths.benchmark).values())
    assert not [word for word in [*words, *Verdict] if word.encode() in public]


def test_equal_seeds_give_equal_bytes_and_another_other_decisions(paths: Paths) -> None:
    folders = (paths.benchmark, paths.gold, paths.release, paths.metrics)
    release_candidates(seeded(1), paths)
    first = [tree(folder) for folder in folders]
    release_candidates(seeded(1), paths)
    assert [tree(folder) for folder in folders] == first
    release_candidates(seeded(2), paths)
    assert tree(paths.release)["decisions.jsonl"] != first[2]["decisions.jsonl"]


def test_a_good_case_that_reviewers_reject_is_lost_and_counted(paths: Paths) -> None:
    for seed in range(200):
        report = release_candidates(seeded(seed), paths)
        assert report.mistakes is not None
        if report.mistakes.lost:
            break
    assert report.mistakes.lost == len(set(candidates_of(paths)) - set(golds_of(paths)))
    assert report.rejected[0].reason == "an error made on purpose"
    listed = metadata(paths)
    assert [row["case_id"] for row in listed] == list(golds_of(paths))
    decisions = read_jsonl(paths.release / "decisions.jsonl", Decision)
    assert {item.item_id for item in decisions} == set(candidates_of(paths))


def test_a_faulty_candidate_is_rejected_and_one_let_through_is_counted(paths: Paths) -> None:
    path = paths.candidates_gold / "train.jsonl"
    faulty, *others = read_jsonl(path, Gold)
    other = Verdict.REFUTED if faulty.factual_status is Verdict.SUPPORTED else Verdict.SUPPORTED
    write_jsonl(path, [faulty.model_copy(update={"factual_status": other}), *others])
    report = release_candidates(seeded(0), paths)
    assert report.mistakes is not None
    assert faulty.case_id not in golds_of(paths)
    assert [item.reason for item in report.rejected] == ["the label does not follow from the checks"]
    for seed in range(1, 400):
        report = release_candidates(seeded(seed), paths)
        assert report.mistakes is not None
        if report.mistakes.let_through:
            break
    assert report.mistakes.let_through == 1
    assert faulty.case_id in golds_of(paths)


def test_metadata_tells_what_is_published_and_no_more(released: Paths) -> None:
    golds, bank = golds_of(released), ImageBank(released.benchmark)
    pictures = {(case.image_path, case.image_sha256) for split in Split for case in cases_of(released, split)}
    rows = metadata(released)
    assert [row["case_id"] for row in rows] == list(golds)
    for row in rows:
        gold = golds[row["case_id"]]
        refuted = {"category", "family"} if gold.error_type else set()
        public = {"case_id", "image_path", "image_sha256"}
        told = {"split", "label", "claim", "route", "style", "provenance", "image_origin"}
        assert set(row) == public | told | refuted
        assert sha256_hex(bank.read(row["image_sha256"])) == row["image_sha256"]
        assert (row["image_path"], row["image_sha256"]) in pictures
        assert (row["label"], row["claim"], row["style"]) == (gold.factual_status, gold.target_claim, gold.style)
        assert row["split"] == row["case_id"].partition("-")[0]
        if gold.error_type:
            assert (row["category"], row["family"]) == (gold.error_type, gold.error_type.family)


def test_an_export_tells_the_same(released: Paths, tmp_path: Path) -> None:
    done = export_cases(released.benchmark, tmp_path / "out", ExportFormat.RELEASED, released.gold)
    assert done.cases == {split: len(cases_of(released, split)) for split in Split}
    lines = [path.read_text("utf-8").splitlines() for path in sorted((tmp_path / "out").glob("*/metadata.jsonl"))]
    exported = {row["case_id"]: row for row in (json.loads(line) for part in lines for line in part)}
    for row in metadata(released):
        other = exported[row["case_id"]]
        assert {name: other[name] for name in row if name != "image_path"} | {"image_path": row["image_path"]} == row
        assert set(other) - set(row) == {"explanation", "id", "original_path"}


def test_people_are_waited_for(paths: Paths) -> None:
    with pytest.raises(UsageError, match=r"all 20 candidates are undecided.*eviflow data review"):
        release_candidates(PEOPLE, paths)
    let_people_decide(paths, names=("ada",))
    with pytest.raises(UsageError, match=r"20 of 20 candidates are undecided \(20 wait for a reviewer, 0 for eve\)"):
        release_candidates(PEOPLE, paths)
    disputed = {"train-00003": {"ben": (Choice.REJECT, {}, "blurred")}}
    let_people_decide(paths, disputed, names=("ben",))
    with pytest.raises(UsageError, match=r"1 of 20 candidates are undecided \(0 wait for a reviewer, 1 for eve\)"):
        release_candidates(PEOPLE, paths)
    assert not paths.benchmark.exists()
    let_people_decide(paths)
    report = release_candidates(PEOPLE, paths)
    assert (report.decided_by, report.mistakes) == ("people", None)
    assert len(golds_of(paths)) == 20
    review = golds_of(paths)["train-00003"].review
    assert review is not None
    assert (review.scripted, review.adjudicated) == (False, True)


def test_what_people_edit_reaches_the_record_and_what_they_reject_is_not_released(paths: Paths) -> None:
    before = next(gold for gold in candidates_of(paths).values() if gold.factual_status is Verdict.SUPPORTED)
    other = next(name for name in candidates_of(paths) if name != before.case_id)
    shorter = before.acceptable_evidence[0].exact_span[:12]
    edits = {"claim": "A better claim.", "explanation": "A better reason.", "evidence.1": shorter}
    decided = (Choice.EDIT, edits, "")
    let_people_decide(
        paths,
        {
            before.case_id: {"ada": decided, "ben": decided},
            other: {"ada": (Choice.REJECT, {}, "no face"), "ben": (Choice.REJECT, {}, "cut off")},
        },
    )
    report = release_candidates(PEOPLE, paths)
    gold = golds_of(paths)[before.case_id]
    assert (gold.target_claim, gold.explanation) == ("A better claim.", "A better reason.")
    whole = before.acceptable_evidence[0].exact_span
    for old, new in zip(before.acceptable_evidence, gold.acceptable_evidence, strict=True):
        assert new == (old.model_copy(update={"exact_span": shorter}) if old.exact_span == whole else old)
    assert gold.review is not None
    assert gold.review.edited == ("claim", "evidence.1", "explanation")
    assert "A better claim." in [row["claim"] for row in metadata(paths)]
    assert other not in golds_of(paths)
    assert [(item.reason, item.cases) for item in report.rejected] == [("no face", 1)]
    assert report.edited_fields == {"claim": 1, "evidence": 1, "explanation": 1}


def test_a_mended_detail_changes_label_stance_and_explanation(paths: Paths) -> None:
    before = next(gold for gold in candidates_of(paths).values() if gold.factual_status is Verdict.REFUTED)
    wrong = next(check for check in before.checks if not check.holds)
    edits = {f"pictured.{wrong.attribute.value}": wrong.documented, "label": "supported", "error_type": "none"}
    decided = (Choice.EDIT, edits, "")
    let_people_decide(paths, {before.case_id: {"ada": decided, "ben": decided}})
    release_candidates(PEOPLE, paths)
    gold = golds_of(paths)[before.case_id]
    assert (gold.factual_status, gold.error_type) == (Verdict.SUPPORTED, None)
    assert all(check.holds for check in gold.checks)
    assert {item.stance for item in gold.acceptable_evidence} == {"supports"}
    assert "the record says" not in gold.explanation


def test_decisions_on_other_bytes_do_not_count(paths: Paths) -> None:
    let_people_decide(paths)
    release_candidates(PEOPLE, paths)
    change_claim(paths, "test-00002")
    with pytest.raises(UsageError, match=r"1 of 20 .*and 2 decisions are on candidates that have changed since"):
        release_candidates(PEOPLE, paths)
    assert "test-00002" in golds_of(paths), "a refused stage leaves the release as it was"
    let_people_decide(paths)
    release_candidates(PEOPLE, paths)
    assert golds_of(paths)["test-00002"].target_claim == "Something else was held."


def test_decisions_of_programs_do_not_pass_for_those_of_people(paths: Paths) -> None:
    review_scripted(paths, Assignment(Queue.CASES), seed=0)
    with pytest.raises(UsageError, match="nobody has reviewed yet"):
        release_candidates(PEOPLE, paths)
    save_panel(paths, Queue.CASES, PROGRAMS)
    assert release_candidates(SCRIPTED, paths).decided_by == "scripted"


def test_a_ledger_that_was_tampered_with_is_refused(paths: Paths) -> None:
    desk = let_people_decide(paths)
    name = next(iter(desk.items))
    for person in ("ada", "ben"):
        ledger = Ledger(review_folder(paths, Queue.CASES) / f"{person}.jsonl")
        forged = desk.decided(person)[name].model_copy(
            update={"choice": Choice.EDIT, "edits": {"evidence.1": "It never happened."}, "revision": 2}
        )
        ledger.append(forged)
    with pytest.raises(EviflowError, match=f"the decision on {name} makes no sense .*does not stand on its page"):
        release_candidates(PEOPLE, paths)


def test_a_split_without_a_case_is_no_release(paths: Paths) -> None:
    rejected = (Choice.REJECT, {}, "all of them")
    tests = {name: {"ada": rejected, "ben": rejected} for name in candidates_of(paths) if name.startswith("test")}
    let_people_decide(paths, tests)
    with pytest.raises(EviflowError, match="no test candidate was taken"):
        release_candidates(PEOPLE, paths)
    assert not paths.gold.exists()


def test_what_is_missing_is_named(paths: Paths, tmp_path: Path) -> None:
    with pytest.raises(EviflowError, match="eviflow stage world"):
        release_candidates(SCRIPTED, Paths(tmp_path))
    (paths.metrics / "benchmark.json").unlink()
    with pytest.raises(EviflowError, match=r"benchmark\.json is not there; run `eviflow stage benchmark`"):
        release_candidates(SCRIPTED, paths)
    (paths.candidates / "test.jsonl").unlink()
    with pytest.raises(EviflowError, match=r"test\.jsonl is not there; run `eviflow stage benchmark`"):
        release_candidates(SCRIPTED, paths)


def collect_all(paths: Paths) -> None:
    """Make it seem as if every candidate had been collected from a post; the first of each split is spoilt."""
    for split in Split:
        path = paths.candidates_gold / f"{split.value}.jsonl"
        golds = [gold.model_copy(update=collected(gold.case_id)) for gold in read_jsonl(path, Gold)]
        other = next(verdict for verdict in Verdict if verdict is not golds[0].factual_status)
        golds[0] = golds[0].model_copy(update={"factual_status": other})
        write_jsonl(path, golds)


def collected(case_id: str) -> dict[str, object]:
    url = f"https://chirp.example/owl/{case_id}"
    source = WebSource(post_url=url, image_url=f"{url}.png", posted="2032-01-01", recovered_by="title")
    return {"route": "web", "provenance": Provenance(queries=(), pages=(), tool_calls=0, source=source)}


def test_the_release_keeps_investigations_from_what_its_cases_were_collected_from(paths: Paths) -> None:
    release_candidates(SCRIPTED, paths)
    assert SourceAccess.model_validate_json(paths.source_access.read_bytes()).excluded_urls == ()
    before = policy_of(paths).digest
    collect_all(paths)
    release_candidates(SCRIPTED, paths)
    urls = [f"https://chirp.example/owl/{case_id}" for case_id in golds_of(paths)]
    excluded = SourceAccess.model_validate_json(paths.source_access.read_bytes()).excluded_urls
    assert excluded == tuple(sorted([*urls, *(f"{url}.png" for url in urls)]))
    assert len(urls) < len(candidates_of(paths)), "what reviewers rejected is nobody's source"
    assert policy_of(paths).digest != before
    assert {row["route"] for row in metadata(paths)} == {"web"}
    assert "chirp.example" not in (paths.release / "metadata.jsonl").read_text("utf-8")
