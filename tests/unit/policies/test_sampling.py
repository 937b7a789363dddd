import pytest
import torch

from components.config.sampling import SamplingParams
from components.policies.encoding import Encoded
from components.policies.sampling import choose, draws_of, pick

VOCABULARY = 50
GRID = 20_000


@pytest.fixture(scope="module")
def logits() -> torch.Tensor:
    return 2 * torch.randn(1, VOCABULARY, generator=torch.Generator().manual_seed(3))


def shares(logits: torch.Tensor, params: SamplingParams) -> torch.Tensor:
    """How often each token is picked, over random numbers that are spread evenly."""
    draws = (torch.arange(GRID, dtype=torch.float64) + 0.5) / GRID
    return torch.bincount(pick(logits.expand(GRID, -1), draws, params), minlength=VOCABULARY) / GRID


@pytest.mark.parametrize(
    "params",
    [
        {"temperature": 1.0},
        {"temperature": 0.4},
        {"temperature": 1.7, "top_k": 5},
        {"temperature": 1.0, "top_p": 0.7},
        {"temperature": 1.0, "top_p": 0.0},
        {"temperature": 1.0, "min_p": 0.1},
        {"temperature": 1.2, "top_k": 9, "top_p": 0.8, "min_p": 0.2},
    ],
)
def test_tokens_are_as_frequent_as_in_transformers(logits, params) -> None:
    from transformers.generation import logits_process as hf

    warpers = [
        hf.TemperatureLogitsWarper(params["temperature"]),
        hf.TopKLogitsWarper(params.get("top_k", VOCABULARY)),
        hf.TopPLogitsWarper(params.get("top_p", 1.0)),
        hf.MinPLogitsWarper(params.get("min_p", 0.0)),
    ]
    warped = logits
    for warper in warpers:
        warped = warper(None, warped)
    expected = torch.softmax(warped, -1)[0]
    found = shares(logits, SamplingParams(**params))
    assert torch.equal(found[expected == 0], torch.zeros_like(found[expected == 0]))
    assert torch.allclose(found, expected, atol=2 / GRID)


def test_at_temperature_zero_the_likeliest_is_taken_whatever_is_drawn(logits) -> None:
    params = SamplingParams(temperature=0.0, top_k=3, top_p=0.5)
    assert shares(logits, params)[logits.argmax()] == 1


@pytest.mark.parametrize("draw", [0.0, 1 - 2**-53])
def test_the_outermost_draws_take_a_token_within_bounds(draw) -> None:
    logits = torch.tensor([[-9.0, 5.0, 1.0, 5.0, -9.0]])
    picked = pick(logits, torch.tensor([draw], dtype=torch.float64), SamplingParams(temperature=1.0, top_k=2))
    assert picked.item() == (1 if draw == 0 else 3)


def test_log_probabilities_are_not_tempered_or_bounded(logits) -> None:
    params = SamplingParams(temperature=0.3, top_k=1, top_logprobs=2)
    (one,) = choose(logits, [0.0], params)
    expected = torch.log_softmax(logits, -1)[0].sort(descending=True)
    assert one.token_id == expected.indices[0]
    assert one.logprob == pytest.approx(float(expected.values[0]))
    assert [token for token, _ in one.candidates] == expected.indices[:2].tolist()
    assert [value for _, value in one.candidates] == pytest.approx(expected.values[:2].tolist())


def test_random_numbers_follow_from_seed_length_and_pictures_and_not_from_how_many_are_asked_for() -> None:
    def draws(seed: int, length: int, images: list[str], count: int = 8) -> list[float]:
        return draws_of(Encoded([1] * length, [], images), seed, count)

    assert draws(-1, 5, ["a"]) == draws(-1, 5, ["a"])
    assert draws(1, 5, ["a"]) == draws(1, 5, ["a"], 20)[:8]
    different = [draws(1, 5, ["a"]), draws(2, 5, ["a"]), draws(1, 6, ["a"]), draws(1, 5, ["b"])]
    assert len({tuple(one) for one in different}) == len(different)
