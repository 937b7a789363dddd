import pytest

from components.records.marks import marked, unmarked


@pytest.mark.parametrize(
    ("value", "other", "expected"),
    [
        ("12 May 2031", "12 May 2031", "12 May 2031"),
        ("14 June 2031", "12 May 2031", "14* June* 2031"),
        ("9", "8", "9*"),
        ("Old Rowan Hall", "Rowan Hall", "Old* Rowan* Hall*"),
        ("Rowan", "Rowan Hall", "Rowan"),
    ],
)
def test_each_word_that_differs_is_marked(value: str, other: str, expected: str) -> None:
    assert marked(value, other) == expected
    assert unmarked(expected) == value
