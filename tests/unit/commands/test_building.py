from pathlib import Path

import pytest

from components.commands.building import claim_folder, sized
from components.config.load import load_params
from components.config.schema import Params
from components.errors import UsageError


@pytest.mark.parametrize(("cases", "train", "test"), [(20, 8, 2), (600, 240, 60), (601, 241, 60), (10_000, 4000, 1000)])
def test_a_fifth_of_the_events_is_for_test_and_events_are_whole(cases: int, train: int, test: int) -> None:
    world = sized(Params(), cases).world
    assert (world.train_events, world.test_events) == (train, test)


def test_too_few_cases_are_refused() -> None:
    with pytest.raises(UsageError, match="ask for 20 or more"):
        sized(Params(), 19)


def test_a_folder_is_a_root_of_its_own_and_is_found_again(tmp_path: Path) -> None:
    params, folder = sized(Params(), 40), tmp_path / "builds/forty"
    paths = claim_folder(folder, params)
    assert load_params(paths.params) == params
    (folder / "data").mkdir()
    assert claim_folder(folder, params) == paths


def test_a_folder_with_other_settings_is_left_alone(tmp_path: Path) -> None:
    claim_folder(tmp_path / "mine", sized(Params(), 40))
    with pytest.raises(UsageError, match="holds a build with other settings"):
        claim_folder(tmp_path / "mine", sized(Params(), 60))


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Ada")
    with pytest.raises(UsageError, match="holds no build"):
        claim_folder(tmp_path, Params())
    with pytest.raises(UsageError, match="holds no build"):
        claim_folder(tmp_path / "letter.txt", Params())
