from __future__ import annotations

from pathlib import Path

from conformance.report import WRITERS, write_all

from .examples import several_endpoints


def test_every_format_lands_in_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "reports" / "latest"
    written = write_all(several_endpoints(), folder)
    assert [path.name for path in written] == ["matrix.json", "matrix.md", "junit.xml", "allure-results"]
    assert set(folder.iterdir()) == set(written)
    assert len(written) == len(WRITERS)


def test_writing_again_gives_the_same_files(tmp_path: Path) -> None:
    write_all(several_endpoints(), tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.glob("matrix.*")}
    names = sorted(path.name for path in tmp_path.rglob("*"))
    write_all(several_endpoints(), tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.glob("matrix.*")} == before
    assert sorted(path.name for path in tmp_path.rglob("*")) == names
