"""Where a rollout's unfinished work lies: a folder named by everything its episodes depend on."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from components.config.paths import Paths
from components.config.schema import ToolParams
from components.storage.identity import digest_code, digest_tree, digest_value, source_root
from components.tools.recording import SEAL


def rollout_key(paths: Paths, *, settings: Mapping[str, object], inputs: Sequence[str], code: Sequence[str]) -> str:
    """A digest of settings, input files and source code.

    Args:
        paths: the checkout.
        settings: JSON values: parameters, the policy's name.
        inputs: files and folders relative to the checkout's root.
        code: source folders relative to the checkout's root.

    """
    files = {name: digest_tree(paths.root / name) for name in inputs}
    return digest_value({"settings": dict(settings), "inputs": files, "code": digest_code(source_root(), code)})


def recorded_inputs(tools: ToolParams) -> tuple[str, ...]:
    """What a rollout reads besides its inputs when a recording answers: its seal, which names every byte of it."""
    return (f"{tools.recording}/{SEAL}",) if tools.transport == "replay" else ()


@contextmanager
def work_folder(paths: Paths, name: str, key: str, *, keep: bool = False) -> Iterator[Path]:
    """The folder of unfinished work under `key`; it vanishes, with those of other keys, when the block ends well.

    With `keep` only those of other keys vanish: what is there is used again when the same work has more to do.
    """
    parent = paths.work / "rollouts" / name
    folder = parent / key[:16]
    folder.mkdir(parents=True, exist_ok=True)
    yield folder
    for found in parent.iterdir():
        if not (keep and found == folder):
            shutil.rmtree(found)
    if not keep:
        parent.rmdir()
