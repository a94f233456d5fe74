"""What the field notes tell of recordings, and that the page in docs is what they show today."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.cli.field_notes import fresh
from conformance.rules import RULES

from .support import conformance

ROOT = Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "corpus" / "dev"

GRADED, REPOSITORIES, RECORDED, RULES_JUDGED = 2, 7, 8, 9
"""Columns of the table of who was recorded."""

ASKED = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


ID = "chatcmpl-0f3b6c2e-8f2a-4a53-9d0e-2b1c3d4e5f60"


def answer(**changes: Any) -> dict[str, Any]:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": "Ho", "refusal": None},
        "logprobs": None,
        "finish_reason": "stop",
    }
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    known = {"id": ID, "object": "chat.completion", "created": 1764000000, "model": "m"}
    return {**known, "choices": [choice], "usage": usage, **changes}


def line(said: Any, host: str = "api.groq.com/openai", **headers: str) -> str:
    """An exchange in the suite's own JSONL."""
    return json.dumps(
        {
            "request": {
                "method": "POST",
                "url": f"https://{host}/v1/chat/completions",
                "headers": {},
                "body": ASKED,
            },
            "response": {
                "status": 200,
                "headers": {"content-type": "application/json", **headers},
                "body": said,
            },
        }
    )


def notes(folder: Path, *lines: str, source: str = "one") -> str:
    (folder / source).mkdir()
    (folder / source / "log.jsonl").write_text("\n".join(lines) + "\n")
    return fresh(folder)


def row(page: str, *words: str) -> list[str]:
    """The cells of the first row of a table that holds the words."""
    found = next(one for one in page.splitlines() if one.startswith("|") and all(w in one for w in words))
    return [one.strip() for one in found.strip("|").split("|")]


def test_a_deviation_is_told_with_the_exchanges_that_stand_behind_it(tmp_path: Path) -> None:
    wrong = answer(id=7)
    page = notes(tmp_path, line(wrong), line(answer()), line(answer()), line(answer(), "api.mistral.ai"))
    cells = row(page, "chat.response.id-nonempty-string", "MUST", "more")
    assert cells[2:] == ["groq 1 of 3° (2025)", "1 more (1 exchanges)"]


def test_ten_exchanges_are_no_anecdote_any_more(tmp_path: Path) -> None:
    page = notes(tmp_path, *[line(answer(id=7))] * 10)
    assert row(page, "chat.response.id-nonempty-string", "MUST")[2] == "groq 10 of 10 (2025)"


def test_the_year_is_the_headers_else_the_answers_own(tmp_path: Path) -> None:
    # An answer that a cache had may be older than its Date.
    sent = line(answer(), date="Sun, 25 Jan 2026 10:00:00 GMT", age="9")
    page = notes(tmp_path, sent, line(answer()), line(answer()))
    assert row(page, "groq", "openai-chat")[RECORDED] == "2025: 2, 2026: 1"


def test_a_time_that_can_not_be_is_none(tmp_path: Path) -> None:
    impossible = (0, -1, 10**30, True, "now", None, [1])
    dates = ("yesterday", "Tue, 03 Feb 99999999999999999999 10:00:00 GMT")
    said = [line(answer(created=time), date=date) for time in impossible for date in dates]
    page = notes(tmp_path, *said)
    assert row(page, "groq", "openai-chat")[RECORDED] == "undated: 14"


def test_what_later_recordings_do_not_show_is_dated(tmp_path: Path) -> None:
    old = line(answer(id=7), date="Mon, 24 Nov 2025 16:00:00 GMT")
    later = [line(answer(created=1767225600), date="Thu, 01 Jan 2026 00:00:00 GMT")] * 10
    page = notes(tmp_path, old, *later)
    past = page[page.index("## Not seen any more") :]
    assert row(past, "chat.response.id-nonempty-string")[3:] == ["MUST", "1", "2025-11-24", "10"]
    assert "groq 1 of 11 (2025; 10 later hold)" in page


@pytest.mark.parametrize("created", [0, 1767225600], ids=["undated", "the latest"])
def test_what_may_still_be_so_is_not_told_as_past(tmp_path: Path, created: int) -> None:
    page = notes(tmp_path, line(answer(id=7, created=created)), *[line(answer())] * 10)
    assert "## Not seen any more" not in page


def test_answers_kept_alone_are_told_as_fixtures(tmp_path: Path) -> None:
    (tmp_path / "one" / "groq").mkdir(parents=True)
    (tmp_path / "one" / "groq" / "answer.json").write_text(json.dumps(answer()))
    page = notes(tmp_path, line(answer()), source="two")
    assert row(page, "groq", "openai-chat")[GRADED : GRADED + 3] == ["2", "1", "1"]


def test_rules_that_were_judged_are_counted(tmp_path: Path) -> None:
    few = row(notes(tmp_path, line(answer(), "api.mistral.ai")), "mistral", "openai-chat")
    assert 50 < int(few[RULES_JUDGED]) < len(RULES)


def test_answers_with_the_same_bytes_are_counted(tmp_path: Path) -> None:
    page = notes(tmp_path, line(answer()), line(answer()), line(answer(id=ID.replace("0", "1"))))
    assert "1 graded answers have the bytes of another one" in " ".join(page.split())


def test_repositories_are_the_folders_in_the_folder(tmp_path: Path) -> None:
    notes(tmp_path, line(answer()), source="one")
    page = notes(tmp_path, line(answer()), source="two")
    assert row(page, "groq", "openai-chat")[GRADED] == "2"
    assert row(page, "groq", "openai-chat")[REPOSITORIES] == "2"


def test_the_command_writes_the_page(tmp_path: Path) -> None:
    expected = notes(tmp_path, line(answer()))
    out = tmp_path / "notes.md"
    done = conformance("field-notes", str(tmp_path), "--out", str(out), cwd=tmp_path)
    assert (done.returncode, done.stdout.split()) == (0, [str(out)])
    assert out.read_text("utf-8") == expected


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus (../shared/corpus) is not here")
def test_the_page_in_docs_is_fresh() -> None:
    stale = "run: conformance field-notes ../shared/corpus/dev"
    assert (ROOT / "docs" / "field-notes.md").read_text("utf-8") == fresh(CORPUS), stale
