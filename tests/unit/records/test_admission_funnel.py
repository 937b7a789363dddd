import pytest
from pydantic import ValidationError

from components.records.admission import AdmissionFunnel, Gate, PhaseCounts, attempt_name, funnel_of

FIRST = PhaseCounts(
    targets=100,
    collected=200,
    rejected={"verdict:wrong_verdict": 30, "judge:poor_retrieval": 50, "judge:unresolved": 8},
    admitted=112,
    surplus=2,
    kept=110,
    covered=56,
)
SECOND = PhaseCounts(
    targets=44,
    collected=88,
    rejected={"judge:poor_retrieval": 75, "terminal:provider_failure": 1},
    admitted=12,
    surplus=0,
    kept=12,
    covered=6,
)
FUNNEL = funnel_of({attempt_name(1): FIRST, attempt_name(2): SECOND})


@pytest.mark.incident("CX-7")
def test_each_phase_counts_its_own_cases_and_the_total_none_twice() -> None:
    assert [item.targets for item in FUNNEL.phases.values()] == [100, 44]
    total = FUNNEL.total
    assert (total.targets, total.collected, total.admitted, total.kept, total.covered) == (100, 288, 124, 122, 62)
    assert total.rejected["judge:poor_retrieval"] == 125
    assert total.rejected_at(Gate.JUDGE) == 133


@pytest.mark.incident("CS-1")
def test_a_funnel_is_read_back_as_it_was_written() -> None:
    assert AdmissionFunnel.model_validate_json(FUNNEL.model_dump_json()) == FUNNEL
    assert funnel_of({}).total.collected == 0


@pytest.mark.parametrize("changed", [{"collected": 201}, {"kept": 111}, {"rejected": {}}])
def test_a_funnel_that_does_not_add_up_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="must add up"):
        PhaseCounts.model_validate(FIRST.model_dump() | changed)


def test_the_table_has_a_line_for_each_gate_and_one_for_each_reason() -> None:
    lines = FUNNEL.table()
    assert {"episodes": "collected", "attempt-01": 200, "attempt-02": 88, "all": 288} in lines
    assert {"episodes": "rejected: judge", "attempt-01": 58, "attempt-02": 75, "all": 133} in lines
    assert {"episodes": "- poor retrieval", "attempt-01": 50, "attempt-02": 75, "all": 125} in lines
    gates = [str(line["episodes"]) for line in lines if str(line["episodes"]).startswith("rejected")]
    assert gates == [f"rejected: {gate.value}" for gate in Gate]
    assert "| rejected: audit | 0 | 0 | 0 |" in FUNNEL.markdown()
