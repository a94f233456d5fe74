"""Files and folders of recordings: found, told by their content, and never the end of a run."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.grade import files
from conformance.grade.files import UNKNOWN, exchanges, exchanges_of, recordings
from conformance.grade.importers import IMPORTERS
from conformance.grade.recorded import Recorded, Unusable
from conformance.grade.source import MAX_RATIO, MAX_WHOLE, Head, Source

from .support import ANSWER, STREAM, found, packed


def tree(folder: Path, *names: str) -> None:
    """Files that hold an answer each."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(packed(ANSWER))


def names(folder: Path) -> list[str]:
    """What is found below a folder."""
    return [str(one.relative_to(folder)) for one in recordings(folder) if isinstance(one, Path)]


class TestFolders:
    def test_files_of_a_folder_come_before_those_of_its_folders_sorted(self, tmp_path: Path) -> None:
        tree(tmp_path, "b/2", "b/1", "a/3", "c", "0")
        assert names(tmp_path) == ["0", "c", "a/3", "b/1", "b/2"]

    def test_hidden_ones_are_left_out_unless_named(self, tmp_path: Path) -> None:
        tree(tmp_path, ".git/x", ".hidden", "seen")
        assert names(tmp_path) == ["seen"]
        assert names(tmp_path / ".git") == ["x"]
        assert [one.file for one in exchanges([tmp_path / ".hidden"])] == [str(tmp_path / ".hidden")]

    def test_a_folder_is_entered_once_whatever_links_lead_to_it(self, tmp_path: Path) -> None:
        tree(tmp_path, "a/1")
        (tmp_path / "a" / "loop").symlink_to(tmp_path)
        (tmp_path / "b").symlink_to(tmp_path / "a")
        (tmp_path / "self").symlink_to("self")
        assert names(tmp_path) == ["self", "a/1"]

    def test_side_files_belong_to_their_cassette(self, tmp_path: Path) -> None:
        tree(tmp_path, "a.cassette.json", "a.cassette.blobs/x.bin", "other.blobs/y")
        assert names(tmp_path) == ["a.cassette.json", "other.blobs/y"]

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_a_folder_that_may_not_be_read_is_named(self, tmp_path: Path) -> None:
        tree(tmp_path, "a/1", "b/2")
        (tmp_path / "a").chmod(0)
        assert [type(one) for one in exchanges([tmp_path])] == [Unusable, Recorded]
        (tmp_path / "a").chmod(0o700)


class TestWhatIsNoRecording:
    def test_a_path_that_is_not_there(self, tmp_path: Path) -> None:
        (one,) = exchanges([tmp_path / "gone"])
        assert one == Unusable(str(tmp_path / "gone"), "No such file or directory")

    def test_a_pipe_is_not_waited_for(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        (one,) = exchanges([tmp_path])
        assert isinstance(one, Unusable)
        assert one.reason == "not a regular file"

    @pytest.mark.parametrize(
        ("content", "why"),
        [
            (b"", "empty"),
            (b" \n", "empty"),
            (b"# Title\n\nSome text: with a colon.\n", UNKNOWN),
            (b'{"name": "x", "dependencies": {}}', UNKNOWN),
            (b"\x89PNG\r\n\x1a\n", UNKNOWN),
            (b"SQLite format 3\0rest", "SQLite"),
            (b"PK\x03\x04rest", "zip"),
            ("\ufeff{}".encode("utf-16-le"), "UTF-16"),
        ],
    )
    def test_a_file_is_foreign_and_says_what_to_do_where_that_is_known(
        self, tmp_path: Path, content: bytes, why: str
    ) -> None:
        (one,) = found(tmp_path, content)
        assert isinstance(one, Unusable)
        assert one.foreign
        assert why in one.reason


def test_the_content_tells_the_format_whatever_the_name_says(tmp_path: Path) -> None:
    (one,) = found(tmp_path, STREAM, "recording.har")
    assert isinstance(one, Recorded)
    assert one.format == "sse"


def test_a_file_that_is_broken_leaves_the_others(tmp_path: Path) -> None:
    tree(tmp_path, "a", "c")
    (tmp_path / "b").write_text('{"log": {"version": "1.2", "entries": [{')
    kinds = [type(one) for one in exchanges([tmp_path])]
    assert kinds == [Recorded, Unusable, Recorded]


def test_a_mistake_of_an_importer_leaves_the_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        name = "broken"

        def looks_like(self, head: Head) -> bool:
            return head.data.startswith(b"broken")

        def read(self, source: Source) -> Iterator[Recorded | Unusable]:
            raise TypeError("a mistake")

    monkeypatch.setattr("conformance.grade.files.IMPORTERS", (Broken(), *IMPORTERS))
    tree(tmp_path, "a", "c")
    (tmp_path / "b").write_text("broken")
    _, one, _ = exchanges([tmp_path])
    assert isinstance(one, Unusable)
    assert "please report it: TypeError: a mistake" in one.reason


def test_a_name_that_is_no_utf_8_is_shown_all_the_same(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    path.write_text(packed(ANSWER))
    (one,) = exchanges_of(path)
    assert one.file == f"{tmp_path}/caf\\xe9"


class TestGzip:
    def test_is_unpacked_by_its_first_bytes(self, tmp_path: Path) -> None:
        (one,) = found(tmp_path, gzip.compress(packed(ANSWER).encode()), "plain.json")
        assert isinstance(one, Recorded)
        assert one.format == "response-json"

    def test_of_several_members_is_one_file(self, tmp_path: Path) -> None:
        line = packed({"request": {"url": "u", "body": "q"}, "response": {"status": 200, "body": "a"}}) + "\n"
        assert len(found(tmp_path, gzip.compress(line.encode()) * 3 + b"\0" * 512)) == 3

    def test_larger_than_the_head_is_read_to_its_end(self, tmp_path: Path) -> None:
        line = packed({"request": {"url": "u"}, "response": {"status": 200, "body": "x" * 1000}}) + "\n"
        assert len(found(tmp_path, gzip.compress(line.encode() * 1000))) == 1000

    @pytest.mark.parametrize("cut", [1, 9, 40])
    def test_that_is_cut_is_named_after_what_could_be_read(self, tmp_path: Path, cut: int) -> None:
        line = packed({"request": {"url": "u"}, "response": {"status": 200, "body": os.urandom(900).hex()}})
        *read, last = found(tmp_path, gzip.compress(f"{line}\n".encode() * 100)[:-cut])
        assert isinstance(last, Unusable)
        assert "gzip" in last.reason
        assert not [one for one in read if isinstance(one, Unusable) and "not JSON" not in one.reason]

    def test_that_is_broken_is_named(self, tmp_path: Path) -> None:
        (one,) = found(tmp_path, b"\x1f\x8b\x08" + b"x" * 50)
        assert isinstance(one, Unusable)
        assert "broken gzip" in one.reason

    def test_that_unpacks_too_far_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("conformance.grade.source.MAX_WHOLE", 1 << 20)
        line = packed({"request": {"url": "u"}, "response": {"status": 200, "body": ""}}).encode() + b"\n"
        bomb = gzip.compress(line + b"\n" * (8 << 20))
        assert len(bomb) * MAX_RATIO < 8 << 20
        read, last = found(tmp_path, bomb)
        assert isinstance(read, Recorded)
        assert isinstance(last, Unusable)
        assert f"more than {MAX_RATIO} times its size" in last.reason


def test_a_document_larger_than_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.write(b'{"log": {"version": "1.2", "entries": [')
        file.truncate(MAX_WHOLE + 1000)
    (one,) = exchanges_of(path)
    assert isinstance(one, Unusable)
    assert "larger than 64 MiB" in one.reason


@pytest.mark.parametrize(
    "document",
    [
        pytest.param("[" * 100_000, id="open"),
        pytest.param("[" * 100_000 + "]" * 100_000, id="closed"),
        pytest.param('{"log":' * 50_000 + "{}" + "}" * 50_000, id="objects"),
        pytest.param('{"choices": [], "x": ' + "[" * 5_000 + "]" * 5_000 + "}", id="within an answer"),
    ],
)
def test_deep_nesting_is_refused(tmp_path: Path, document: str) -> None:
    assert all(isinstance(one, Unusable) for one in found(tmp_path, document))


def test_more_containers_than_memory_should_hold_are_refused(tmp_path: Path) -> None:
    (one,) = found(tmp_path, json.dumps({"log": {"version": "1.2", "entries": []}})[:-3] + "[]," * 4_100_000)
    assert isinstance(one, Unusable)
    assert "more than 4,000,000 arrays and objects" in one.reason


def test_of_one_file_some_exchanges_are_named_that_can_not_be_read_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_REFUSED", 2)
    line = packed({"request": {"url": "u"}, "response": {"status": 200, "body": ANSWER}})
    few = found(tmp_path, f"{line}\nno\nno\n{line}\n")
    assert [type(one) for one in few] == [Recorded, Unusable, Unusable, Recorded]
    many = found(tmp_path, f"{line}\nno\nno\nno\nno\n{line}\n")
    assert [type(one) for one in many] == [Recorded, Unusable, Unusable, Recorded, Unusable]
    assert isinstance(many[-1], Unusable)
    assert many[-1].reason == "2 more exchanges of a file can't be read either"
