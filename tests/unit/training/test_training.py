import io
import math
from pathlib import Path

import pytest
import torch
from PIL import Image

from components.config.schema import PolicyParams, SftParams
from components.policies.encoding import ChatEncoder
from components.policies.student import build_image_processor, build_student
from components.policies.tokenizer import train_tokenizer
from components.records.conversation import Message
from components.records.image_bank import ImageBank
from components.training.loop import Trainer
from components.training.losses import weighted_cross_entropy_sum
from components.training.muon import Muon, orthogonalise
from components.training.optimizer import learning_rate_scale
from components.training.order import batch_of_step
from components.training.rows import Row

TINY = PolicyParams(
    vocab_size=512, hidden_size=32, layers=2, heads=2, intermediate_size=64, vision_depth=1, vision_hidden_size=16,
    vision_heads=2, image_pixels=4096,
)  # fmt: skip
COLOURS = ("red", "green", "blue", "yellow", "black", "white", "purple", "orange")


@pytest.fixture
def encoder(tmp_path: Path) -> ChatEncoder:
    tokenizer = train_tokenizer([f"The picture is {colour}." for colour in COLOURS] * 10, TINY.vocab_size)
    return ChatEncoder(tokenizer, build_image_processor(TINY), ImageBank(tmp_path / "bank"))


@pytest.fixture
def rows(encoder: ChatEncoder) -> list[Row]:
    """One row a colour; only the picture tells the word that is to be learned."""
    made = []
    for number, colour in enumerate(COLOURS):
        buffer = io.BytesIO()
        Image.new("RGB", (64, 64), colour).save(buffer, "PNG")
        digest = encoder._bank.put(buffer.getvalue())
        messages = (
            Message("user", "Colour? " * (1 + number % 3), images=(digest,)),
            Message("assistant", f" {colour}"),
        )
        encoded = encoder.encode(messages, (), prompt=False)
        weights = [0.0] * len(encoded.token_ids)
        start, end = encoded.turns[0]
        weights[start:end] = [2.0] * (end - start)
        made.append(Row(colour, encoded, weights))
    return made


def trainer(encoder, rows, checkpoint: Path, **changes) -> Trainer:
    params = SftParams(**{"steps": 12, "batch_size": 4, "checkpoint_steps": 5, **changes})
    return Trainer(build_student(TINY, encoder.tokenizer), encoder, rows, params, checkpoint)


def test_chunked_loss_and_gradient_equal_the_dense_ones():
    torch.manual_seed(0)
    hidden, head = torch.randn(37, 8, requires_grad=True), torch.randn(11, 8, requires_grad=True)
    targets, weights = torch.randint(11, (37,)), torch.rand(37)
    dense = (torch.nn.functional.cross_entropy(hidden @ head.T, targets, reduction="none") * weights).sum()
    expected = torch.autograd.grad(dense, (hidden, head))
    chunked = weighted_cross_entropy_sum(hidden, head, targets, weights, chunk=5)
    assert torch.allclose(chunked, dense, rtol=1e-6)
    for got, wanted in zip(torch.autograd.grad(chunked, (hidden, head)), expected, strict=True):
        assert torch.allclose(got, wanted, atol=1e-5)


def test_the_batch_loss_is_the_weighted_mean_over_supervised_tokens(encoder, rows, tmp_path):
    run = trainer(encoder, rows, tmp_path / "c.pt")
    alone = [run.loss([row]) for row in rows[:3]]
    mass = [sum(row.weights) for row in rows[:3]]
    expected = sum(loss * weight for loss, weight in zip(alone, mass, strict=True)) / sum(mass)
    assert torch.allclose(run.loss(rows[:3]), expected, rtol=1e-5)
    assert math.isclose(float(alone[0]), math.log(len(encoder.tokenizer)), rel_tol=0.1)


def test_blanking_or_swapping_pictures_changes_the_loss(encoder, rows, tmp_path):
    run = trainer(encoder, rows, tmp_path / "c.pt", steps=120, learning_rate=0.01, muon_learning_rate=0.01)
    run.run(lambda step, metrics: None)
    run.model.eval()
    seen = float(run.loss(rows))
    for digest, pixels in dict(encoder._pixels).items():
        encoder._pixels[digest] = type(pixels)(torch.zeros_like(pixels.patches), pixels.grid)
    blank = float(run.loss(rows))
    assert seen < 0.1
    assert blank > seen + 0.5


def test_a_run_killed_after_a_checkpoint_ends_with_the_same_weights_bit_for_bit(encoder, rows, tmp_path):
    class Killed(Exception):
        pass

    def kill(step: int, metrics: dict[str, float]) -> None:
        if step == 8:
            raise Killed

    straight = trainer(encoder, rows, tmp_path / "straight.pt")
    straight.run(lambda step, metrics: None)
    with pytest.raises(Killed):
        trainer(encoder, rows, tmp_path / "killed.pt").run(kill)
    resumed = trainer(encoder, rows, tmp_path / "killed.pt")
    seen: list[int] = []
    resumed.run(lambda step, metrics: seen.append(step))
    assert seen == list(range(6, 13))
    assert resumed.losses == straight.losses
    for one, other in zip(straight.model.parameters(), resumed.model.parameters(), strict=True):
        assert torch.equal(one, other)


def test_every_epoch_visits_every_row_once_in_its_own_order():
    lengths = [10 + index % 7 for index in range(23)]
    epochs = [[batch_of_step(epoch * 6 + step, lengths, 4, seed=3) for step in range(6)] for epoch in range(2)]
    for epoch in epochs:
        assert sorted(row for batch in epoch for row in batch) == list(range(23))
    assert epochs[0] != epochs[1]
    assert epochs[0][2] == batch_of_step(2, lengths, 4, seed=3)


def test_muon_agrees_with_the_reference_up_to_its_half_precision():
    torch.manual_seed(0)
    for shape in ((24, 8), (8, 24), (16, 16)):
        start = torch.randn(shape)
        ours, theirs = torch.nn.Parameter(start.clone()), torch.nn.Parameter(start.clone())
        mine = Muon([ours], lr=0.01, weight_decay=0.1)
        reference = torch.optim.Muon([theirs], lr=0.01, weight_decay=0.1)
        for _ in range(4):
            ours.grad = torch.randn(shape)
            theirs.grad = ours.grad.clone()
            mine.step()
            reference.step()
        moved = (theirs - start).abs().max()
        assert (ours - theirs).abs().max() < 0.02 * moved


def test_orthogonalised_matrices_have_singular_values_near_one():
    values = torch.linalg.svdvals(orthogonalise(torch.randn(3, 12, 20, generator=torch.Generator().manual_seed(1))))
    assert values.min() > 0.6
    assert values.max() < 1.3


def test_the_learning_rate_warms_up_and_decays_to_nothing():
    scales = [learning_rate_scale(step, 100, 0.1) for step in range(101)]
    assert scales[0] == pytest.approx(0.1)
    assert max(scales) == scales[9] == 1.0
    assert scales[100] == 0.0
