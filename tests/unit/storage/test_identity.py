import subprocess
from pathlib import Path

import yaml

from components.config.load import parse_params
from components.config.schema import Params
from components.config.serving import SAMPLING
from components.storage.identity import digest_code, digest_params, digest_tree, git_state


def test_only_the_named_sections_count() -> None:
    changed = parse_params({"sft": {"steps": 3}}, Path("params.yaml"))
    assert digest_params(changed) != digest_params(Params())
    assert digest_params(changed, ["world"]) == digest_params(Params(), ["world"])


def test_single_keys_of_a_section_can_count_alone() -> None:
    changed = parse_params({"serving": {"concurrency": 3}}, Path("params.yaml"))
    assert digest_params(changed, ["serving"]) != digest_params(Params(), ["serving"])
    assert digest_params(changed, SAMPLING) == digest_params(Params(), SAMPLING)
    sampled = parse_params({"serving": {"top_k": 3}}, Path("params.yaml"))
    assert digest_params(sampled, SAMPLING) != digest_params(Params(), SAMPLING)


def test_spelling_does_not_count() -> None:
    sft = Params().sft
    values = yaml.safe_load(f"sft: {{steps: {sft.steps}, learning_rate: {sft.learning_rate:.6e}}} # a comment")
    assert digest_params(parse_params(values, Path("params.yaml"))) == digest_params(Params())


def test_names_and_bytes_of_a_tree_count(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a").write_text("1")
    first = digest_tree(folder)
    (folder / "a").rename(folder / "b")
    renamed = digest_tree(folder)
    (folder / "b").write_text("2")
    assert len({first, renamed, digest_tree(folder)}) == 3
    assert digest_tree(tmp_path / "missing") == ""


def test_caches_of_python_do_not_count_as_code(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "module.py").write_text("x = 1\n")
    before = digest_code(tmp_path, ["package"])
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "module.py").write_text("cached")
    assert digest_code(tmp_path, ["package"]) == before
    (package / "prompt.jinja").write_text("hello")
    assert digest_code(tmp_path, ["package"]) != before


def test_git_tells_commit_and_changes(tmp_path: Path) -> None:
    assert git_state(tmp_path) == ("none", False)

    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True, capture_output=True)

    git("init")
    git("config", "user.email", "a@b.example")
    git("config", "user.name", "a")
    (tmp_path / "a").write_text("1")
    git("add", "a")
    git("commit", "-m", "first")
    state = git_state(tmp_path)
    assert (len(state.sha), state.dirty) == (40, False)
    (tmp_path / "untracked").write_text("1")
    assert not git_state(tmp_path).dirty
    (tmp_path / "a").write_text("2")
    assert git_state(tmp_path) == (state.sha, True)
