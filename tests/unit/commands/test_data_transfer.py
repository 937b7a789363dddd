"""Import and export as users meet them."""

import io
from pathlib import Path

import numpy as np
from PIL import Image
from test_cli import eviflow


def photos(root: Path) -> Path:
    folder = root / "photos"
    folder.mkdir()
    for at in range(3):
        pixels = np.random.default_rng(at).integers(0, 255, (40, 40, 3), dtype=np.uint8)
        buffer = io.BytesIO()
        Image.fromarray(pixels).save(buffer, format="JPEG")
        (folder / f"{at}.jpg").write_bytes(buffer.getvalue())
    (folder / "labels.csv").write_text("path;truth\n0.jpg;real\n1.jpg;fake\n2.jpg;perhaps\n")
    (root / "fields.yaml").write_text("label: truth\n")
    (root / "params.yaml").touch()
    return folder


def test_a_csv_with_semicolons_goes_in_and_out(tmp_path: Path) -> None:
    folder, root = photos(tmp_path), ("--root", str(tmp_path))
    arguments = (str(folder), "--mapping", str(tmp_path / "fields.yaml"), "--into", "mine")
    tried = eviflow(*root, "data", "import", *arguments, "--dry-run")
    assert tried.returncode == 4
    assert "label          from column 'truth'" in tried.stdout
    assert "2 rows would be imported (1 refuted, 1 supported), 1 refused" in tried.stdout
    assert not (tmp_path / "data").exists()
    done = eviflow(*root, "data", "import", *arguments)
    assert done.returncode == 4
    assert "1  wrong_label                  line 4: 'perhaps' is neither supported nor refuted" in done.stdout
    assert "data/private/imported/mine/test.refused.jsonl" in done.stdout
    imported, gold = (tmp_path / f"data/{place}imported/mine" for place in ("", "private/"))
    out = eviflow(*root, "data", "export", str(imported), "--private", str(gold), "--to", str(tmp_path / "out"))
    assert (out.returncode, out.stdout) == (0, f"{tmp_path / 'out'}: test 2 cases, with labels, claims and sources\n")
    again = eviflow(*root, "data", "import", str(tmp_path / "out"), "--into", "again")
    assert again.returncode == 0
    assert (imported / "test.jsonl").read_bytes() == (tmp_path / "data/imported/again/test.jsonl").read_bytes()


def test_wrong_usage_is_one_sentence(tmp_path: Path) -> None:
    folder, root = photos(tmp_path), ("--root", str(tmp_path))
    for arguments, said in [
        (("import", str(folder), "--into", "../x"), "is no plain name"),
        (("import", str(folder), "--into", "x"), "no column for `label`"),
        (("import", str(tmp_path / "no"), "--into", "x"), "does not exist"),
        (("export", str(folder), "--to", str(tmp_path / "out")), "neither train.jsonl nor test.jsonl"),
        (("export", str(folder), "--to", str(tmp_path / "out"), "--format", "zip"), "formats are released, datasets"),
    ]:
        done = eviflow(*root, "data", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1
