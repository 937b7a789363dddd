import pytest

from components.evaluation.explanation import Claim, contains, parse_explanation
from components.records.case import Attribute


def test_all_four_clauses() -> None:
    text = (
        "date 12 March 2031 vs 14 March 2031 differs; venue Rowan Hall vs Rowan Hall same; "
        "host Mara Venn same person; count 9 vs 9 same"
    )
    assert parse_explanation(text) == (
        Claim(Attribute.DATE, "12 March 2031", "14 March 2031", True),
        Claim(Attribute.VENUE, "Rowan Hall", "Rowan Hall", False),
        Claim(Attribute.HOST, None, "Mara Venn", False),
        Claim(Attribute.COUNT, "9", "9", False),
    )


@pytest.mark.parametrize(
    "text",
    [
        "Date: 9 May 2032  vs. 8 May 2032   differ.",
        "date 9 May 2032 VS 8 May 2032 different",
        "\ndate 9 May 2032 vs 8 May 2032 differs;",
        "date 9 May 2032 vs 8* May 2032 differs",
    ],
)
def test_small_variations_are_tolerated(text: str) -> None:
    assert parse_explanation(text) == (Claim(Attribute.DATE, "9 May 2032", "8 May 2032", True),)


def test_a_host_may_be_told_in_a_sentence() -> None:
    assert parse_explanation("host Mara Venn is a different person.") == (
        Claim(Attribute.HOST, None, "Mara Venn", True),
    )


@pytest.mark.parametrize(
    "text", ["", "the picture looks fake", "date vs same", "host same person", "count 9 same", ";;;"]
)
def test_other_text_claims_nothing(text: str) -> None:
    assert parse_explanation(text) == ()


def test_consistency() -> None:
    assert parse_explanation("count 9 vs 8 differs")[0].consistent
    assert not parse_explanation("count 9 vs 9 differs")[0].consistent
    assert not parse_explanation("venue A Hall vs B Hall same")[0].consistent


def test_values_are_found_as_whole_words() -> None:
    assert contains("on 2 March\n2031 at", "2 march 2031")
    assert not contains("on 12 March 2031", "2 March 2031")
    assert not contains("19 lanterns", "9")
