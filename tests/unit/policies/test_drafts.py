import pytest

from components.policies.drafts import Drafter, as_text
from components.policies.encoding import Encoded


def guess(conversation: list[int], said: list[list[int]]) -> list[int]:
    drafter = Drafter([Encoded([0, *turn, 0], [(1, 1 + len(turn))], []) for turn in said[:1]])
    for turn in said[1:]:
        drafter.learn(as_text(turn))
    return drafter.guess(as_text(conversation))


@pytest.mark.parametrize(
    ("conversation", "said", "expected"),
    [
        ([1, 2, 3], [], []),
        ([7, 1, 9, 8, 7], [], [1]),
        ([6, 7, 1, 2, 3, 6, 7], [], [1, 2]),
        ([5, 7, 1, 6, 7], [[6, 7, 2, 3]], [2, 3]),
        ([6, 7], [[6, 7, 2, 3], [6, 7, 4, 5]], [4, 5]),
        ([6, 7, 1, 2, 6, 7], [[6, 7, 4, 5]], [1, 2]),
        ([3, 4, 4, 4, 4, 4], [], [4, 4, 4, 4]),
        ([300_000, 1, 300_000], [], [1]),
    ],
    ids=["new", "one", "two", "said elsewhere", "said last", "own first", "a run", "a large id"],
)
def test_what_followed_the_latest_words_last_time_is_guessed(conversation, said, expected) -> None:
    assert guess(conversation, said) == expected
