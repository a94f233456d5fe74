"""What is taken out on the way to disk, and what is left alone."""

from __future__ import annotations

import base64
import gzip
import html
import json
import time
import zlib
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.transport.redact import Redactor
from conformance.types import Exchange, Failure, HttpRequest, HttpResponse

CANARY = 'cAnary/7+p@ss word"é\\1'
KEY = "q7ZkP2mXv9Lr4TnB8sWd"
RAW = zlib.compressobj(wbits=-15)
NOTHING_KNOWN = Redactor([])


def exchange(
    *,
    url: str = "http://h/v1/chat",
    request_headers: tuple[tuple[str, str], ...] = (),
    request_body: bytes = b"",
    headers: tuple[tuple[str, str], ...] = (),
    body: bytes = b"",
    parts: tuple[tuple[float, int], ...] = (),
) -> Exchange:
    request = HttpRequest("POST", url, request_headers, request_body)
    return Exchange(request, HttpResponse(200, headers, body, parts), "complete", "openai-chat")


def response_of(redacted: Exchange) -> HttpResponse:
    assert redacted.response is not None
    return redacted.response


# -------------------------------------------------------------------------------------------- by name


@pytest.mark.parametrize(
    ("name", "value", "left"),
    [
        ("Authorization", "Bearer abc", "Bearer [redacted]"),
        ("authorization", "abc", "[redacted]"),
        ("Proxy-Authorization", "Basic dTpw", "Basic [redacted]"),
        ("x-api-key", "abc", "[redacted]"),
        ("api-key", "abc", "[redacted]"),
        ("apikey", "abc", "[redacted]"),
        ("Ocp-Apim-Subscription-Key", "abc", "[redacted]"),
        ("x-goog-api-key", "abc", "[redacted]"),
        ("X-Goog-User-Project", "abc", "[redacted]"),
        ("Cookie", "a=b; c=d", "[redacted]"),
        ("Set-Cookie", "__cf_bm=abc; path=/", "[redacted]"),
        ("OpenAI-Organization", "acme", "[redacted]"),
        ("openai-project", "acme", "[redacted]"),
        ("anthropic-organization-id", "acme", "[redacted]"),
        ("x-amz-security-token", "abc", "[redacted]"),
        ("X-My-Secret", "abc", "[redacted]"),
        ("cf-aig-authorization", "abc", "[redacted]"),
        ("content-type", "application/json", "application/json"),
        ("x-request-id", "req_011CSHoEeqs5C35K2UUqR7Fy", "req_011CSHoEeqs5C35K2UUqR7Fy"),
        ("x-ratelimit-remaining-tokens", "149984", "149984"),
        ("anthropic-ratelimit-tokens-limit", "80000", "80000"),
        ("x-ratelimit-limit-project-tokens", "9", "9"),
        ("idempotency-key", "abc", "abc"),
        ("access-control-allow-credentials", "true", "true"),
        ("www-authenticate", "Bearer", "Bearer"),
    ],
)
def test_headers_by_name(name: str, value: str, left: str) -> None:
    redacted = NOTHING_KNOWN.exchange(exchange(request_headers=((name, value),), headers=((name, value),)))
    assert redacted.request.headers == ((name, left),)
    assert response_of(redacted).headers == ((name, left),)


@pytest.mark.parametrize(
    ("url", "left"),
    [
        ("http://h/v1?key=a", "http://h/v1?key=[redacted]"),
        ("http://h/v1?a=1&API_KEY=a&b=2", "http://h/v1?a=1&API_KEY=[redacted]&b=2"),
        ("http://h/v1?access_token=a;b=2", "http://h/v1?access_token=[redacted];b=2"),
        (
            "http://h/v1?apiKey=a&X-Amz-Signature=b",
            "http://h/v1?apiKey=[redacted]&X-Amz-Signature=[redacted]",
        ),
        ("http://u:p@h:8080/v1", "http://redacted@h:8080/v1"),
        ("http://h/v1?api-version=1&model=gpt&alt=sse", "http://h/v1?api-version=1&model=gpt&alt=sse"),
        ("http://[::1]:80/v1", "http://[::1]:80/v1"),
    ],
)
def test_urls_by_name(url: str, left: str) -> None:
    assert NOTHING_KNOWN.request(HttpRequest("GET", url, (), b"")).url == left


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ('{"api_key": "a"}', '{"api_key": "[redacted]"}'),
        ('{"OPENAI_API_KEY":"a"}', '{"OPENAI_API_KEY":"[redacted]"}'),
        ('{"access_token":"a\\"b"}', '{"access_token":"[redacted]"}'),
        ('{"Authorization": "Bearer a"}', '{"Authorization": "[redacted]"}'),
        ('{"password":"a","client_secret":"b"}', '{"password":"[redacted]","client_secret":"[redacted]"}'),
        ('{"arguments":"{\\"api_key\\": \\"a\\"}"}', '{"arguments":"{\\"api_key\\": \\"[redacted]\\"}"}'),
        ('data: {"api_key":"a"}\n\n', 'data: {"api_key":"[redacted]"}\n\n'),
        ('{"organization_id":"acme"}', '{"organization_id":"[redacted]"}'),
        ('{"token":"Hello","logprob":-1,"key":"k"}', '{"token":"Hello","logprob":-1,"key":"k"}'),
        ('{"password":{"type":"string"}}', '{"password":{"type":"string"}}'),
        ('{"api_key":null,"max_tokens":5}', '{"api_key":null,"max_tokens":5}'),
    ],
)
def test_json_members_by_name(body: str, left: str) -> None:
    assert NOTHING_KNOWN.text(body) == left
    assert NOTHING_KNOWN.bytes(body.encode()) == left.encode()


# ------------------------------------------------------------------------------------------- by shape


@pytest.mark.parametrize(
    "credential",
    [
        "sk-" + "T3BlbkFJ" * 5,
        "sk-proj-" + "aB3_dE-fG5hIjKlMnOp9" * 4,
        "sk-ant-api03-" + "aB3_dEfG5hIjKlMnOp9-" * 4,
        "sk-or-v1-" + "0123456789abcdef" * 4,
        "gsk_" + "aB3dE5fG7h" * 5,
        "AIza" + "SyB3dE5fG7h-9jK_1mN3pQ5rS7tU9vW1x",
        "hf_" + "aB3dE5fG7h" * 3,
        "xai-" + "aB3dE5fG7h" * 8,
        "nvapi-" + "aB3dE5fG7h" * 6,
        "AKIA" + "QWERTY1234567890",
        "ghp_" + "aB3dE5fG7h" * 4,
        "org-" + "aB3dE5fG7h9jK1mN3pQ5rS7t",
        "proj_" + "aB3dE5fG7h9jK1mN3pQ5rS7t",
        "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0" + ".dozjgNryP4J3jVmNHl0w5N",
    ],
)
@pytest.mark.parametrize("around", ["{}", "Wrong key: {}.", '{{"message":"{}"}}', "a={}&b", "\n{}\n"])
def test_credentials_by_shape(credential: str, around: str) -> None:
    text = around.format(credential)
    assert NOTHING_KNOWN.leaks(text)
    assert NOTHING_KNOWN.text(text) == around.format("[redacted]")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Bearer abcdefgh12345678", "Bearer [redacted]"),
        ("see http://u:p4ss@h/", "see http://[redacted]@h/"),
        ("GET /v1?key=abcdefgh1 failed", "GET /v1?key=[redacted] failed"),
    ],
)
def test_credentials_by_what_stands_before_them(text: str, left: str) -> None:
    assert NOTHING_KNOWN.text(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "chatcmpl-9aB3dE5fG7h9jK1mN3pQ5rS7t",
        "call_aB3dE5fG7h9jK1mN3pQ5rS7t",
        "req_011CSHoEeqs5C35K2UUqR7Fy",
        "resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b",
        "msg_01XFDUDYJgAACzvnptvVoYEL",
        "toolu_01T1x1fJ34qAmk2tNTrN7Up6",
        "fp_44709d6fcb",
        "gpt-4o-mini-2024-07-18",
        "sk-learn-pipeline-for-beginners-2",
        "ask-me-anything-about-4-things",
        "risk" + "-aB3dE5fG7h9jK1mN3pQ5rS7t",  # a word that only ends like the prefix of a key
        "Bearer authentication is required",
        "Missing bearer authentication in header",
        "the organization-owner and the org-mode",
        "eyJhbGciOiJIUzI1NiJ9",
        "https://platform.example.com/account/api-keys",
        "https://h:8080/x?model=a@b",
        '{"url":"http://x","mail":"y@z"}',
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "8f14e45fceea167a5a36dedd4bea2543",
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    ],
)
def test_what_only_looks_like_it_is_left_alone(text: str) -> None:
    assert NOTHING_KNOWN.text(text) == text
    assert NOTHING_KNOWN.leaks(text) == []


# ------------------------------------------------------------------------------------------- by value


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    "spelling",
    [
        pytest.param(CANARY, id="plain"),
        pytest.param(quote(CANARY, safe=""), id="percent-encoded"),
        pytest.param(quote(CANARY, safe="").lower().replace("canary", "cAnary"), id="percent, lower case"),
        pytest.param(quote(quote(CANARY, safe=""), safe=""), id="percent twice"),
        pytest.param(quote_plus(CANARY), id="as in a form"),
        pytest.param(json.dumps(CANARY), id="JSON"),
        pytest.param(json.dumps(CANARY, ensure_ascii=False), id="JSON, raw"),
        pytest.param(json.dumps(CANARY).replace("/", "\\/"), id="JSON with escaped slashes"),
        pytest.param(json.dumps(json.dumps({"a": CANARY})), id="JSON in JSON"),
        pytest.param("".join(f"\\u{ord(c):04x}" for c in CANARY), id="JSON, all escaped"),
        pytest.param(html.escape(CANARY), id="HTML"),
        pytest.param("".join(f"&#{ord(c)};" for c in CANARY), id="HTML, all escaped"),
        pytest.param(CANARY.encode().hex(), id="hex"),
        pytest.param(b64(CANARY), id="base64"),
        pytest.param(b64(f"user:{CANARY}"), id="base64 of user:value"),
        pytest.param(b64(f"u:{CANARY}:x"), id="base64, other alignment"),
        pytest.param(b64(f"us:{CANARY}"), id="base64, third alignment"),
        pytest.param(base64.urlsafe_b64encode(CANARY.encode()).decode().rstrip("="), id="base64url"),
        pytest.param(b64(b64(CANARY)), id="base64 twice"),
        pytest.param(base64.b64encode(gzip.compress(CANARY.encode())).decode(), id="base64 of gzip"),
    ],
)
def test_known_values_in_every_spelling(spelling: str) -> None:
    door = Redactor([CANARY])
    text = f"<< {spelling} >>"
    assert door.leaks(text)
    left = door.text(text)
    assert spelling not in left
    assert "[redacted]" in left
    assert door.leaks(left) == []


def test_only_the_value_goes() -> None:
    assert Redactor([KEY]).text(f"Wrong key {KEY}, sorry") == "Wrong key [redacted], sorry"


def test_a_whole_base64_blob_goes() -> None:
    blob = b64(f"user:{KEY} and more")
    assert Redactor([KEY]).text(f'{{"a":"{blob}","b":1}}') == '{"a":"[redacted]","b":1}'


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(gzip.compress(KEY.encode()), id="gzip"),
        pytest.param(gzip.compress(b"some text " * 99 + KEY.encode())[:-8], id="gzip without its end"),
        pytest.param(zlib.compress(KEY.encode()), id="zlib"),
        pytest.param(RAW.compress(b"\xff" + KEY.encode()) + RAW.flush(), id="raw deflate"),
        pytest.param(gzip.compress(gzip.compress(KEY.encode())), id="gzip in gzip"),
        pytest.param(gzip.compress(b64(KEY).encode()), id="base64 in gzip"),
        pytest.param(gzip.compress(b"\0" * 20_000_000), id="too much to look at"),
    ],
)
def test_a_compressed_body_with_a_secret_goes_whole(body: bytes) -> None:
    assert Redactor([KEY]).bytes(body) == b"[redacted]"


def test_a_compressed_body_without_a_secret_stays() -> None:
    body = gzip.compress(b'{"a":1}' * 100)
    assert Redactor([KEY]).bytes(body) == body


def test_a_body_in_a_coding_we_cannot_read_goes_whole() -> None:
    odd = exchange(headers=(("content-encoding", "br"),), body=b"\x8b\x02\x80", parts=((1.0, 3),))
    redacted = response_of(NOTHING_KNOWN.exchange(odd))
    assert (redacted.body, redacted.parts) == (b"[redacted]", ((1.0, 10),))


def test_credentials_of_the_request_are_known_values_too() -> None:
    echo = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}).encode()
    for request_headers, url in [
        ((("Authorization", f"Bearer {KEY}"),), "http://h/"),
        ((("Authorization", f"Basic {b64('user:' + KEY)}"),), "http://h/"),
        ((("Cookie", f"a=b; session={KEY}"),), "http://h/"),
        ((), f"http://h/?key={KEY}"),
        ((), f"http://user:{KEY}@h/"),
    ]:
        redacted = NOTHING_KNOWN.exchange(
            exchange(url=url, request_headers=request_headers, headers=(("x-echo", KEY),), body=echo)
        )
        assert KEY not in repr(redacted)
        assert response_of(redacted).body.endswith(b'provided: [redacted]"}}')


def test_short_secrets_go_by_name_only() -> None:
    redacted = Redactor(["ollama"]).exchange(
        exchange(request_headers=(("Authorization", "Bearer ollama"),), body=b"I am ollama")
    )
    assert redacted.request.headers == (("Authorization", "Bearer [redacted]"),)
    assert response_of(redacted).body == b"I am ollama"


def test_a_failures_message_is_redacted() -> None:
    failed = Exchange(
        HttpRequest("GET", "http://h/", (), b""), None, "cut", "openai-chat", Failure("connect", f"no {KEY}")
    )
    redacted = Redactor([KEY]).exchange(failed)
    assert redacted.failure == Failure("connect", "no [redacted]")


# -------------------------------------------------------------------------------------- the mechanics


def test_a_leaks_description_says_where_and_not_what() -> None:
    (leak,) = Redactor([KEY]).leaks(f"x = {KEY}")
    assert leak == "a known secret at byte 4"


def test_parts_follow_a_body_that_changes_length() -> None:
    body = b"before " + KEY.encode() + b" after"
    at = len(b"before ")
    parts = ((1.0, at), (2.0, 5), (3.0, len(KEY) - 5 + 3), (4.0, 3))
    redacted = response_of(Redactor([KEY]).exchange(exchange(body=body, parts=parts)))
    assert redacted.body == b"before [redacted] after"
    assert redacted.parts == ((1.0, 7), (2.0, 0), (3.0, 13), (4.0, 3))


SECRETS = st.text(min_size=8, max_size=20)
PIECES = st.lists(st.sampled_from(["{}", '{"a": "{}"}', "x", " ", "Bearer ", "é", "?key=", "[redacted]"]))


@given(secret=SECRETS, pieces=PIECES, sizes=st.lists(st.integers(1, 30)))
def test_nothing_leaks_twice_is_once_and_parts_sum_to_the_body(
    secret: str, pieces: list[str], sizes: list[int]
) -> None:
    body = "".join(piece.replace("{}", secret) for piece in pieces).encode("utf-8", "surrogatepass")
    parts, left = [], len(body)
    for size in sizes:
        parts.append((1.0, min(size, left)))
        left -= min(size, left)
    parts.append((2.0, left))
    door = Redactor([secret])
    once = door.exchange(exchange(body=body, parts=tuple(parts)))
    response = response_of(once)
    assert door.leaks(response.body) == []
    assert sum(size for _, size in response.parts) == len(response.body)
    assert min(size for _, size in response.parts) >= 0
    assert door.exchange(once) == once


@given(st.binary())
def test_any_bytes_are_survived(data: bytes) -> None:
    door = Redactor([KEY])
    assert door.leaks(door.bytes(data)) == []


@pytest.mark.parametrize(
    "unit",
    [
        b"+",
        b"bearer+",
        b"a",
        b'"',
        b'\\"',
        b"sk-a",
        b"sk-",
        b"eyJaaaaaaaa.",
        b"://a:",
        b"api_",
        b"?key=",
        b"%",
    ],
)
def test_hostile_bodies_take_linear_time(unit: bytes) -> None:
    def seconds(size: int) -> float:
        began = time.process_time()
        Redactor([KEY]).bytes(b"bearer " + unit * (size // len(unit)))
        return time.process_time() - began

    seconds(1_000)
    assert seconds(400_000) < 0.05 + 40 * seconds(50_000)  # quadratic time would be 64 times
