"""Episodes of an earlier layout, written anew in today's."""

import shutil
from pathlib import Path

from components.records.shards import (
    VERSION,
    episode_files,
    iterate_episodes,
    layout_of,
    read_episodes,
    write_episode_shards,
    write_episodes,
)
from components.storage.atomic import replace_folder


def is_current(path: Path) -> bool:
    """Whether a file, or a folder's shards, is of the current layout."""
    return all(layout_of(file) == VERSION for file in episode_files(path))


def migrate_episodes(path: Path) -> int:
    """Bring a file, or a folder's shards, to the current layout; whatever else lies in the folder stays.

    Returns:
        How many episodes were written anew; 0 where all are of the current layout.

    Raises:
        EviflowError: a shard is missing, or was written by a newer version.

    """
    if is_current(path):
        return 0
    old = episode_files(path)
    if path.is_file():
        episodes = read_episodes(path)
        write_episodes(path, episodes)
        return len(episodes)
    with replace_folder(path) as staging:
        for item in path.iterdir():
            if item.is_dir():
                shutil.copytree(item, staging / item.name)
            elif item not in old:
                shutil.copy2(item, staging / item.name)
        return write_episode_shards(staging, iterate_episodes(path))
