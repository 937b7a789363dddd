"""A small repository with two versions of its data, real git, real DVC."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from object_server import ACCESS_KEY, SECRET_KEY, ObjectServer

from components.config.paths import Paths

ROOT = Path(__file__).parents[1]
BUCKET = "data"
PIPELINE = """\
stages:
  world:
    cmd: python make.py
    params: [world]
    outs:
      - data/web
      - data/facts.json
    metrics:
      - reports/data/world.json:
          cache: false
"""
MAKE = """\
import json, pathlib, yaml
seed = yaml.safe_load(open("params.yaml"))["world"]["seed"]
texts = {
    "data/web/page": f"page {seed}",
    "data/web/sub/picture": f"picture {seed}",
    "data/web/same": "the same in every version",
    "data/facts.json": json.dumps({"seed": seed}),
    "reports/data/world.json": json.dumps({"seed": seed}),
}
for name, text in texts.items():
    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
"""
IGNORED = "/data/\n/.eviflow/\n/mlflow.db*\n/mlartifacts/\n"
SWITCHED = ("dvc.lock", "params.yaml", "notes.txt.dvc", "reports/data/world.json")


def environment() -> dict[str, str]:
    """This code's, and the tests' Python for the stages."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return os.environ | {"PATH": path, "PYTHONPATH": str(ROOT), "DVC_NO_ANALYTICS": "1"}


class Lab:
    """The repository, with what users do in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.paths = Paths(root)

    def git(self, *arguments: str) -> str:
        return self._run("git", *arguments).strip()

    def dvc(self, *arguments: str) -> str:
        return self._run(sys.executable, "-m", "dvc", *arguments)

    def eviflow(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        argv = [sys.executable, "-m", "components.cli", *arguments]
        return subprocess.run(argv, cwd=self.root, env=environment(), capture_output=True, text=True, check=False)

    def build(self) -> None:
        """Make and commit both versions; the second is checked out."""
        self.git("init", "--quiet", "-b", "main")
        self.git("config", "user.email", "a@b.example")
        self.git("config", "user.name", "a")
        self.dvc("init", "--quiet")
        self.dvc("config", "core.analytics", "false")
        for name, text in {"dvc.yaml": PIPELINE, "make.py": MAKE, ".gitignore": IGNORED}.items():
            (self.root / name).write_text(text)
        for seed in (1, 2):
            self.make(seed)

    def make(self, seed: int) -> str:
        """Make and commit a version; returns its commit."""
        (self.root / "params.yaml").write_text(f"world: {{seed: {seed}}}\n")
        (self.root / "notes.txt").write_text(f"notes {seed}")
        self.dvc("repro", "--quiet")
        self.dvc("add", "--quiet", "notes.txt")
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", f"version {seed}")
        return self.git("rev-parse", "HEAD")

    def push(self) -> None:
        """Push both versions, each from its own records: DVC skips commits that do not name the remote yet."""
        for revision in ("HEAD~1", "HEAD"):
            self.git("checkout", "--quiet", revision, "--", "dvc.lock", "notes.txt.dvc")
            self.dvc("push", "--quiet")

    def state(self) -> dict[str, bytes]:
        """Every file that a rollback may touch, data included, cache left out."""
        folders = [path for name in ("data", "reports") for path in sorted((self.root / name).rglob("*"))]
        files = [*(self.root / name for name in (*SWITCHED, "notes.txt", "dvc.yaml")), *folders]
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in files if path.is_file()}

    def objects(self) -> set[str]:
        """Digests in the cache."""
        cache = self.root / ".dvc/cache/files/md5"
        return {path.parent.name + path.name for path in cache.glob("??/*")}

    def forget(self, *digests: str) -> None:
        """Remove objects from the cache; without any, all of them."""
        for digest in digests or self.objects():
            self.cached(digest).unlink()

    def cached(self, digest: str) -> Path:
        return self.root / ".dvc/cache/files/md5" / digest[:2] / digest[2:]

    def _run(self, *argv: str) -> str:
        done = subprocess.run(argv, cwd=self.root, env=environment(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout


class S3Remote:
    """The part of a bucket that is a laboratory's remote."""

    def __init__(self, server: ObjectServer, prefix: str) -> None:
        self.client: Any = server.client()
        self.endpoint, self.prefix = server.endpoint, prefix

    def attach(self, lab: Lab) -> None:
        """Name it to DVC, keys in the file that git does not keep."""
        if BUCKET not in {bucket["Name"] for bucket in self.client.list_buckets()["Buckets"]}:
            self.client.create_bucket(Bucket=BUCKET)
        storage = "['remote \"storage\"']\n"
        address = f"url = s3://{BUCKET}/{self.prefix}\nendpointurl = {self.endpoint}\n"
        keys = f"access_key_id = {ACCESS_KEY}\nsecret_access_key = {SECRET_KEY}\n"
        (lab.root / ".dvc/config").write_text(f"[core]\nanalytics = false\nremote = storage\n{storage}{address}")
        (lab.root / ".dvc/config.local").write_text(storage + keys)

    def fill_from(self, other: "S3Remote") -> None:
        """Copy another remote's objects inside the server."""
        for digest in other.objects():
            self.client.copy_object(
                Bucket=BUCKET, Key=self.key(digest), CopySource={"Bucket": BUCKET, "Key": other.key(digest)}
            )

    def objects(self) -> set[str]:
        listed = self.client.list_objects_v2(Bucket=BUCKET, Prefix=f"{self.prefix}/files/md5/").get("Contents", [])
        return {"".join(entry["Key"].split("/")[-2:]) for entry in listed}

    def remove(self, *digests: str) -> None:
        for digest in digests:
            self.client.delete_object(Bucket=BUCKET, Key=self.key(digest))

    def damage(self, digest: str) -> None:
        self.client.put_object(Bucket=BUCKET, Key=self.key(digest), Body=b"something else")

    def key(self, digest: str) -> str:
        return f"{self.prefix}/files/md5/{digest[:2]}/{digest[2:]}"


def copy_of(template: Lab, root: Path) -> Lab:
    shutil.copytree(template.root, root, symlinks=True)
    return Lab(root)
