"""What of an exchange gets onto a page."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest

from conformance.engine.evidence import MAX_BODY, MAX_HEADER, MAX_HEADERS, MAX_PARTS, evidence
from conformance.transport.redact import Redactor
from conformance.types import Exchange, HttpRequest, HttpResponse

KEY = "q7ZkP2mXv9/Lr4TnB8sWd"
Headers = tuple[tuple[str, str], ...]


def viewed(
    body: bytes = b"",
    *,
    headers: Headers = (),
    parts: tuple[tuple[float, int], ...] = (),
    secrets: tuple[str, ...] = (KEY,),
) -> tuple[str, list[list[str]], bool]:
    request = HttpRequest("POST", "http://h/v1", (("Authorization", f"Bearer {KEY}"), *headers), body)
    exchange = Exchange(request, HttpResponse(200, headers, body, parts), "complete", "openai-chat")
    (view,) = evidence([exchange], Redactor(secrets), ("", ""))
    assert view["request"]["body"] == view["response"]["body"]
    assert view["request"]["headers"][1:] == view["response"]["headers"][: MAX_HEADERS - 1]
    return view["response"]["body"], view["response"]["headers"], view["truncated"]


def test_a_body_that_fits_is_shown_whole() -> None:
    body = b"x" * MAX_BODY
    assert viewed(body) == (body.decode(), [], False)


def test_a_longer_body_is_cut_and_says_so() -> None:
    assert viewed(b"x" * (MAX_BODY + 1)) == ("x" * MAX_BODY, [], True)


@pytest.mark.parametrize(
    "spelled",
    [
        pytest.param(KEY, id="plain"),
        pytest.param(quote(quote(KEY, safe=""), safe=""), id="percent-encoded twice"),
        pytest.param("".join(f"\\u{ord(c):04x}" for c in KEY), id="JSON, all escaped"),
        pytest.param(base64.b64encode(f"user:{KEY} and more".encode()).decode(), id="base64"),
        pytest.param(KEY[:5] + "\\\n  " + KEY[5:], id="folded"),
    ],
)
@pytest.mark.parametrize("inside", [1, 4, 12, 19])
@pytest.mark.parametrize("secrets", [(KEY,), ()], ids=["known", "the request's"])
def test_a_secret_that_the_cut_goes_through_leaves_no_beginning(
    spelled: str, inside: int, secrets: tuple[str, ...]
) -> None:
    before = "x " * ((MAX_BODY - inside) // 2) + " " * (inside % 2)
    body, _, truncated = viewed(f"{before}{spelled} {'y ' * MAX_BODY}".encode(), secrets=secrets)
    assert truncated
    # Where it can't be cut out exactly, all goes.
    assert body in (before + "[redacted]", "[redacted]")


def test_many_secrets_before_the_cut_do_not_bring_in_what_is_behind_it() -> None:
    line = f"{KEY} "
    for shift in range(0, len(line), 5):  # somewhere, one is cut in two at the end of what is looked at
        body, _, _ = viewed((" " * shift + line * 10_000).encode())
        assert body.replace("[redacted]", "").strip() == ""
        assert len(body) < MAX_BODY


def test_a_long_secret_is_found_whole_too() -> None:
    key = "Ab3-" * 10_000
    body, _, _ = viewed(b" " * (MAX_BODY - 100) + key.encode(), secrets=(key,))
    assert body == " " * (MAX_BODY - 100) + "[redacted]"


def test_headers_are_capped_in_number_and_length() -> None:
    long = ("x-long", "y" * (MAX_HEADER + 1))
    _, headers, truncated = viewed(headers=(long, *[("x-a", "b")] * MAX_HEADERS))
    assert headers[0] == ["x-long", "y" * MAX_HEADER]
    assert len(headers) == MAX_HEADERS
    assert truncated


def test_a_secret_in_a_long_header_leaves_no_beginning() -> None:
    _, ((_, value),), _ = viewed(headers=(("x-echo", "y " * (MAX_BODY // 2 - 3) + KEY + " z" * 9_000),))
    assert KEY[:4] not in value


def test_parts_are_capped() -> None:
    parts = tuple((float(n), 1) for n in range(MAX_PARTS + 1))
    request = HttpRequest("GET", "http://h/", (), b"")
    exchange = Exchange(request, HttpResponse(200, (), b"x" * len(parts), parts), "complete", "openai-chat")
    (view,) = evidence([exchange], Redactor([]), ("", ""))
    assert view["response"]["parts"] == [[float(n), 1] for n in range(MAX_PARTS)]
    assert view["truncated"]
