"""Cassettes in YAML and their kin, each variant in a few lines; what is hostile; the corpus."""

from __future__ import annotations

import base64
import gzip
import json
import textwrap
import zlib
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from conformance.grade.files import exchanges_of
from conformance.grade.importers import (
    Importer,
    go_vcr,
    httpmock,
    ruby_vcr,
    vcr_lists,
    vcrpy,
    wiremock,
    yamls,
)
from conformance.grade.recorded import KEPT, Recorded, Unusable
from conformance.grade.source import Source, Unreadable, head_of
from conformance.transport import tape
from conformance.transport.redact import Redactor
from conformance.types import Exchange, HttpRequest, HttpResponse

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
ASKED = {"model": "m", "messages": []}
ANSWERED = {"id": "x", "choices": []}
DEFLATED = base64.b64encode(zlib.compress(json.dumps(ANSWERED).encode())).decode()
PACKED = base64.b64encode(gzip.compress(json.dumps(ANSWERED).encode())).decode()
STREAM = 'data: {"id": "x"}\n\ndata: [DONE]\n\n'


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "recording"
    path.write_bytes(textwrap.dedent(content).encode() if isinstance(content, str) else content)
    return path


def all_of(folder: Path, content: str | bytes) -> list[Recorded | Unusable]:
    return list(exchanges_of(written(folder, content)))


def only(folder: Path, content: str | bytes) -> Recorded:
    (found,) = all_of(folder, content)
    assert isinstance(found, Recorded), found
    return found


def refusal(folder: Path, content: str | bytes) -> str:
    (found,) = all_of(folder, content)
    assert isinstance(found, Unusable), found
    return found.reason


def sides(found: Recorded) -> tuple[HttpRequest, HttpResponse]:
    assert found.exchange.response is not None
    return found.exchange.request, found.exchange.response


def bodies(found: Recorded) -> tuple[Any, Any]:
    request, response = sides(found)
    return json.loads(request.body), json.loads(response.body)


def vcr_text(request: str = "", response: str = "") -> str:
    """A vcrpy cassette of one interaction; lines to replace its parts."""
    request = request or f"body: '{json.dumps(ASKED)}'"
    response = response or f"body: {{string: '{json.dumps(ANSWERED)}'}}"
    return f"""
interactions:
- request:
    {request}
    headers: {{Content-Type: [application/json]}}
    method: POST
    uri: https://api.example.com/v1/chat/completions
  response:
    {response}
    headers: {{Content-Type: [application/json], X-Two: [a, b]}}
    status: {{code: 200, message: OK}}
version: 1
"""


# ----------------------------------------------------------------------------------------------- vcrpy


def test_a_vcrpy_interaction_is_read_as_it_went(tmp_path: Path) -> None:
    found = only(tmp_path, vcr_text())
    request, response = sides(found)
    assert (found.format, found.fidelity, found.kept) == ("vcr-yaml", "wire", KEPT["wire"])
    assert (request.method, request.url) == ("POST", "https://api.example.com/v1/chat/completions")
    assert request.headers == (("Content-Type", "application/json"),)
    assert response.status == 200
    assert response.headers == (("Content-Type", "application/json"), ("X-Two", "a"), ("X-Two", "b"))
    assert bodies(found) == (ASKED, ANSWERED)


def test_nothing_is_said_of_what_a_recorded_request_expects(tmp_path: Path) -> None:
    assert only(tmp_path, vcr_text()).exchange.expect == "either"


@pytest.mark.parametrize(
    "request_line",
    [
        pytest.param(f"parsed_body: {json.dumps(ASKED)}", id="decoded by pydantic-ai's serializer"),
        pytest.param(f"body: {json.dumps(list(json.dumps(ASKED).encode()))}", id="a list of bytes"),
        pytest.param(
            f"body: !!binary {base64.b64encode(json.dumps(ASKED).encode()).decode()}", id="!!binary"
        ),
        pytest.param(f"body: !!python/unicode '{json.dumps(ASKED)}'", id="a Python tag"),
        pytest.param(f"body: !!python/tuple {json.dumps(list(json.dumps(ASKED).encode()))}", id="a tuple"),
    ],
)
def test_a_request_body_is_read_however_it_is_written(tmp_path: Path, request_line: str) -> None:
    assert bodies(only(tmp_path, vcr_text(request=request_line)))[0] == ASKED


@pytest.mark.parametrize(
    ("response_line", "fidelity"),
    [
        pytest.param(f"parsed_body: {json.dumps(ANSWERED)}", "parsed", id="decoded"),
        pytest.param(f"body: {{string: !!binary {PACKED}}}", "wire", id="gzip in !!binary"),
        pytest.param(f"content: '{json.dumps(ANSWERED)}'", "wire", id="httpx's stub before version 6"),
    ],
)
def test_a_response_body_is_read_however_it_is_written(
    tmp_path: Path, response_line: str, fidelity: str
) -> None:
    found = only(tmp_path, vcr_text(response=response_line))
    assert (bodies(found)[1], found.fidelity) == (ANSWERED, fidelity)


def test_a_decoded_body_keeps_nulls_numbers_and_words_apart(tmp_path: Path) -> None:
    parsed = "parsed_body: {a: null, b: 'null', c: 1.5e-07, d: '1.5', e: yes, f: true, g: 12e4567, h: -3}"
    assert bodies(only(tmp_path, vcr_text(response=parsed)))[1] == {
        "a": None,
        "b": "null",
        "c": 1.5e-07,
        "d": "1.5",
        "e": "yes",
        "f": True,
        "g": "12e4567",
        "h": -3,
    }


def test_a_stream_beside_a_decoded_request_is_as_it_came(tmp_path: Path) -> None:
    text = vcr_text(f"parsed_body: {json.dumps(ASKED)}", f"body: {{string: {json.dumps(STREAM)}}}")
    found = only(tmp_path, text)
    assert (sides(found)[1].body.decode(), found.fidelity) == (STREAM, "wire")


def test_the_status_of_httpxs_old_stub_is_read(tmp_path: Path) -> None:
    text = vcr_text(response="content: ''\n    status_code: 429\n    http_version: HTTP/1.1")
    assert sides(only(tmp_path, text))[1].status == 429


def test_header_names_of_a_python_type_are_plain(tmp_path: Path) -> None:
    text = vcr_text().replace(
        "headers: {Content-Type: [application/json]}",
        "headers:\n"
        "      ? !!python/object/apply:multidict._multidict.istr\n"
        "      - Accept\n"
        "      : - application/json\n"
        "      ? !!python/object/new:multidict._multidict.istr {args: [Host]}\n"
        "      : - !!binary ZXhhbXBsZQ==",
    )
    assert sides(only(tmp_path, text))[0].headers == (("Accept", "application/json"), ("Host", "example"))


def test_a_posts_absent_body_is_no_evidence_of_the_request(tmp_path: Path) -> None:
    found = only(tmp_path, vcr_text(request="body: null"))
    assert found.kept == KEPT["wire"] - {"request"}
    assert sides(found)[0].url == "https://api.example.com/v1/chat/completions"


def test_absent_headers_are_no_evidence_of_headers(tmp_path: Path) -> None:
    text = vcr_text().replace("headers: {Content-Type: [application/json], X-Two: [a, b]}", "headers: {}")
    assert only(tmp_path, text).kept == KEPT["wire"] - {"headers"}


def test_an_empty_stream_is_read_as_empty(tmp_path: Path) -> None:
    assert sides(only(tmp_path, vcr_text(response="body: {string: ''}")))[1].body == b""


def test_vcrpys_json_is_read_alike(tmp_path: Path) -> None:
    found = only(tmp_path, json.dumps(yaml.safe_load(vcr_text())))
    assert (found.format, bodies(found)) == ("vcr-json", (ASKED, ANSWERED))


def test_an_anchored_value_may_be_used_again(tmp_path: Path) -> None:
    text = vcr_text().replace("X-Two: [a, b]", "X-Two: &two [a, b], X-Three: *two")
    assert sides(only(tmp_path, text))[1].headers[-1] == ("X-Three", "b")


def test_line_ends_that_yaml_folding_ate_are_refused_with_the_reason(tmp_path: Path) -> None:
    text = vcr_text(response="body: {string: 'data: {}#magic___^_^___line#magic___^_^___line'}")
    assert "line ends" in refusal(tmp_path, text)


def test_an_unreadable_interaction_does_not_hide_the_next(tmp_path: Path) -> None:
    text = vcr_text(response="body: {string: !!binary '***'}").replace("version: 1", "")
    text += vcr_text().split("interactions:\n")[1]
    broken, whole = all_of(tmp_path, text)
    assert isinstance(broken, Unusable)
    assert (broken.position, broken.reason) == (0, "!!binary: not Base64")
    assert isinstance(whole, Recorded)
    assert whole.position == 1


def test_what_comes_before_broken_yaml_is_read(tmp_path: Path) -> None:
    first, broken = all_of(tmp_path, vcr_text().replace("version: 1", "- ]"))
    assert isinstance(first, Recorded)
    assert isinstance(broken, Unusable)
    assert "not YAML" in broken.reason


def test_a_packed_file_is_read(tmp_path: Path) -> None:
    assert bodies(only(tmp_path, gzip.compress(vcr_text().encode())))[1] == ANSWERED


# ------------------------------------------------------------------------------------------------ ours

OURS = Exchange(
    HttpRequest("POST", "http://localhost/v1/messages", (("x-a", "1"), ("x-a", "2")), b"{}"),
    HttpResponse(200, (("x-b", "3"),), b"data: {}\n\n", ((1.5, 6), (2.0, 4)), "HTTP/2"),
    "cut",
    "anthropic-messages",
    started=0.5,
    elapsed_ms=2.5,
    probe="unknown-model",
    expect="refusal",
)


def test_our_own_cassettes_are_read_with_all_they_hold(tmp_path: Path) -> None:
    path = tmp_path / "cassette.yaml"
    metadata = {"endpoint": "lab", "scenario": "chat.plain", "wire": "anthropic-messages"}
    tape.save(path, [OURS], metadata=metadata, redactor=Redactor(()))
    (found,) = exchanges_of(path)
    assert found == Recorded(
        OURS,
        str(path),
        0,
        "vcr-yaml",
        "wire-chunks",
        KEPT["wire-chunks"],
        wire="anthropic-messages",
        endpoint="lab",
        scenario="chat.plain",
    )


def test_one_of_ours_that_somebody_broke_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "cassette.yaml"
    tape.save(path, [OURS], metadata={}, redactor=Redactor(()))
    path.write_text(path.read_text().replace("ending: cut", "ending: 3"))
    (found,) = exchanges_of(path)
    assert isinstance(found, Unusable)
    assert "conformance.ending" in found.reason


# ------------------------------------------------------------------------------------- other recorders


def test_two_parallel_lists_are_paired_and_hidden_headers_left_out(tmp_path: Path) -> None:
    (interaction,) = yaml.safe_load(vcr_text())["interactions"]
    interaction["response"]["headers"] = {"Content-Type": "**REDACTED**"}
    lists = {"requests": [interaction["request"]] * 2, "responses": [interaction["response"]] * 2}
    first, second = all_of(tmp_path, gzip.compress(yaml.dump(lists).encode()))
    assert isinstance(first, Recorded)
    assert isinstance(second, Recorded)
    assert (first.format, second.position, bodies(second)) == ("langchain-vcr-gz", 1, (ASKED, ANSWERED))
    assert sides(first)[1].headers == ()
    assert "headers" not in first.kept


def test_a_response_more_than_requests_is_refused(tmp_path: Path) -> None:
    (interaction,) = yaml.safe_load(vcr_text())["interactions"]
    lists = {"requests": [interaction["request"]], "responses": [interaction["response"]] * 2}
    _, second = all_of(tmp_path, yaml.dump(lists, Dumper=_NoAliases).encode())
    assert isinstance(second, Unusable)


class _NoAliases(yaml.SafeDumper):
    def ignore_aliases(self, _data: Any) -> bool:
        return True


RUBY = """
    ---
    http_interactions:
    - request:
        method: post
        uri: <HOST>/api/chat
        body: {encoding: UTF-8, string: '{"model": "m", "messages": []}'}
        headers: {Accept: ["*/*"]}
      response:
        status: {code: 201, message: Created}
        headers: {Content-Type: [application/json]}
        body:
          encoding: ASCII-8BIT
          BODY
        recorded_at: Mon, 01 Jan 2026 00:00:00 GMT
    recorded_with: VCR 6.3.1
    """


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(f"string: !binary |-\n            {PACKED}", id="!binary"),
        pytest.param(f"base64_string: {PACKED}", id="base64_string"),
        pytest.param(f"string: '{json.dumps(ANSWERED)}'", id="text"),
    ],
)
def test_ruby_vcr_is_read(tmp_path: Path, body: str) -> None:
    found = only(tmp_path, RUBY.replace("BODY", body))
    request, response = sides(found)
    assert (found.format, request.method, request.url) == ("vcr-ruby-yaml", "POST", "<HOST>/api/chat")
    assert (response.status, bodies(found)) == (201, (ASKED, ANSWERED))


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(f"string: '{json.dumps(ANSWERED)}'", id="text"),
        pytest.param(f"raw_gzip: {PACKED}", id="gzip"),
        pytest.param(f"raw_gzip: {DEFLATED}", id="zlib's format"),
    ],
)
def test_rs_vcr_is_read(tmp_path: Path, body: str) -> None:
    found = only(
        tmp_path,
        f"""
        http_interactions:
        - request:
            method: POST
            uri: https://api.example.com/v1/responses
            body: {{string: '{json.dumps(ASKED)}'}}
          response:
            status: 200
            headers: {{content-type: application/json, x-limit: '500'}}
            body: {{{body}}}
        recorded_with: VCR-vcr/2.1.0
        """,
    )
    assert (found.format, bodies(found)) == ("vcr-r-yaml", (ASKED, ANSWERED))
    assert sides(found)[1].header("x-limit") == "500"


def test_go_vcr_is_read(tmp_path: Path) -> None:
    found = only(
        tmp_path,
        f"""
        ---
        version: 2
        interactions:
        - id: 0
          request:
            proto: HTTP/1.1
            host: api.example.com
            body: '{json.dumps(ASKED)}'
            url: https://api.example.com/v1/chat/completions
            method: POST
          response:
            proto: HTTP/2.0
            body: |+
              data: {{"id": "x"}}

              data: [DONE]

            headers: {{Content-Type: [text/event-stream]}}
            status: 404 Not Found
            code: 404
            duration: 1.5s
        """,
    )
    request, response = sides(found)
    assert (found.format, request.url) == ("go-vcr-yaml", "https://api.example.com/v1/chat/completions")
    assert (response.status, response.body.decode()) == (404, STREAM)


def test_httpmock_is_a_document_for_each_exchange(tmp_path: Path) -> None:
    document = f"""
when:
  path: /v1/messages
  method: POST
  query_param: [{{name: beta, value: 'a b'}}]
  header: [{{name: content-type, value: application/json}}]
  body: '{json.dumps(ASKED)}'
then:
  status: 200
  header: [{{name: content-type, value: application/json}}]
  body: {base64.b64encode(json.dumps(ANSWERED).encode()).decode()}
  body_encoding: base64
"""
    first, second = all_of(tmp_path, document + "---" + document)
    assert isinstance(first, Recorded)
    assert isinstance(second, Recorded)
    assert (first.format, first.kept) == ("httpmock-yaml", KEPT["scrubbed"])
    assert sides(first)[0].url == "/v1/messages?beta=a+b"
    assert (second.position, bodies(second)) == (1, (ASKED, ANSWERED))


def wiremock_mapping(body: Mapping[str, Any]) -> dict[str, Any]:
    patterns = [{"matchesJsonPath": "$.model"}, {"equalToJson": json.dumps(ASKED)}]
    return {
        "id": "1",
        "request": {
            "urlPath": "/v1/chat",
            "method": "POST",
            "headers": {"Accept": {"equalTo": "*/*"}},
            "bodyPatterns": patterns,
        },
        "response": {"status": 200, "headers": {"Content-Type": "application/json"}, **body},
        "uuid": "1",
    }


@pytest.mark.parametrize(
    ("body", "fidelity"),
    [
        ({"body": json.dumps(ANSWERED)}, "wire"),
        ({"base64Body": base64.b64encode(json.dumps(ANSWERED).encode()).decode()}, "wire"),
        ({"jsonBody": ANSWERED}, "parsed"),
    ],
    ids=["body", "base64Body", "jsonBody"],
)
def test_wiremock_mappings_are_read_in_yaml_and_json(
    tmp_path: Path, body: Mapping[str, Any], fidelity: str
) -> None:
    mapping = wiremock_mapping(body)
    for content in (
        yaml.dump(mapping),
        "---\n".join(["", yaml.dump(mapping)]),
        json.dumps(mapping),
        json.dumps({"mappings": [mapping]}),
    ):
        found = only(tmp_path, content)
        assert (found.format, found.fidelity, bodies(found)) == ("wiremock", fidelity, (ASKED, ANSWERED))
        assert sides(found)[0].url == "/v1/chat"
        assert sides(found)[0].headers == (("Accept", "*/*"),)


@pytest.mark.parametrize("body", [{"bodyFileName": "a.json"}, {"proxyBaseUrl": "http://a"}])
def test_a_mapping_without_its_answer_is_refused(tmp_path: Path, body: Mapping[str, Any]) -> None:
    assert "response body" in refusal(tmp_path, json.dumps(wiremock_mapping(body)))


LONG = json.dumps({**ASKED, "user": "x" * 100_000})


@pytest.mark.parametrize(
    ("document", "name"),
    [
        pytest.param(
            {"interactions": [{"request": {"body": LONG, "uri": "u", "method": "POST"}}]},
            "vcr-yaml",
            id="vcrpy",
        ),
        pytest.param(
            {"interactions": [{"request": {"body": LONG, "url": "u", "method": "POST"}}], "version": 1},
            "go-vcr-yaml",
            id="go-vcr before version 3",
        ),
        pytest.param(
            {"http_interactions": [{"request": {"body": {"string": LONG}, "method": "post"}}]},
            "vcr-ruby-yaml",
            id="Ruby VCR",
        ),
        pytest.param(
            {"requests": [{"body": LONG, "headers": {}, "uri": "u"}]}, "langchain-vcr-gz", id="lists"
        ),
        pytest.param(
            {"when": {"path": "/p", "method": "POST", "body": LONG}}, "httpmock-yaml", id="httpmock"
        ),
    ],
)
def test_a_format_is_told_before_a_long_first_body_ends(
    tmp_path: Path, document: dict[str, Any], name: str
) -> None:
    answer = {"body": {"string": "{}"}, "headers": {}, "status": {"code": 200}}
    for pairs in (key for key in document if key.endswith("interactions")):
        response = {"body": "{}", "code": 200} if name.startswith("go") else answer
        document[pairs][0]["response"] = response
    document |= {"responses": [answer]} if "requests" in document else {}
    document |= {"then": {"status": 200, "body": "{}"}} if "when" in document else {}
    found = only(tmp_path, yaml.safe_dump(document, sort_keys=False))
    assert (found.format, sides(found)[1].body) == (name, b"{}")


# --------------------------------------------------------------------------------------------- hostile

LAUGHS = "a: {x0: &x0 [lol, lol], " + ", ".join(f"x{i}: &x{i} [*x{i - 1}, *x{i - 1}]" for i in range(1, 99))
DEEP = "[" * 10_000


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        pytest.param(LAUGHS + "}", "aliases make it more than", id="billion laughs"),
        pytest.param(f"a: {{x: &x '{'a' * 99_999}', y: [{'*x, ' * 99_999}]}}", "aliases", id="a long alias"),
        pytest.param("a: {x: &x [*x]}", "an alias to nothing", id="an alias in itself"),
        pytest.param("a: {x: *x}", "not YAML|an alias to nothing", id="an alias to nothing"),
        pytest.param(f"a: {DEEP}", "nest", id="10,000 lists"),
        pytest.param(f"a: {'{a: ' * 10_000}", "nest", id="10,000 mappings"),
        pytest.param(f"a: {'[' * 300}{']' * 300}", "nested deeper than", id="300 lists, closed"),
        pytest.param("a: \x07", "not YAML", id="a control character"),
        pytest.param("a: [", "not YAML", id="cut"),
    ],
)
def test_hostile_yaml_is_refused_with_the_reason(member: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        list(yamls.entries(source_of(f"{member}\ninteractions: []\n".encode())))


def test_an_entry_of_too_many_values_is_refused_and_a_list_of_many_entries_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(yamls, "MAX_EVENTS", 1000)
    values = ("1," * 1001).encode()
    assert len(list(yamls.entries(source_of(b"a: [" + values + b"]")))) == 1001
    with pytest.raises(Unreadable, match="1,000 nodes"):
        list(yamls.entries(source_of(b"a: {b: [" + values + b"]}")))


def test_aliases_of_aliases_are_counted_by_their_depth() -> None:
    levels = [f"x{i}: &x{i} {'[' * 90}{f'*x{i - 1}' if i else ''}{']' * 90}" for i in range(9)]
    with pytest.raises(Unreadable, match="nested deeper than"):
        list(yamls.entries(source_of(("a: {" + ", ".join(levels) + "}").encode())))


def test_directives_that_take_quadratic_time_are_refused() -> None:
    directives = "".join(f"%TAG !a{i}! x\n" for i in range(1000))
    with pytest.raises(Unreadable, match="%TAG"):
        list(yamls.entries(source_of(directives.encode())))


def test_no_tag_is_executed(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    tags = (
        f"a: !!python/object/apply:os.system ['touch {mark}']\n"
        f"b: !!python/object/new:os.system {{args: ['touch {mark}']}}\n"
        f"c: !!python/name:os.system ''\n"
        f"d: !ruby/object:Gem::Installer {{i: x}}\n"
    )
    found = {entry.key: entry.value for entry in yamls.entries(source_of(tags.encode()))}
    assert found == {"a": f"touch {mark}", "b": {"args": [f"touch {mark}"]}, "c": "", "d": {"i": "x"}}
    assert not mark.exists()


def test_merge_keys_multiply_nothing() -> None:
    text = b"a: {x: &x {y: z}, b: {<<: *x}}"
    (found,) = yamls.entries(source_of(text))
    assert found.value["b"] == {"<<": {"y": "z"}}


def source_of(data: bytes) -> Source:
    """A source that lies nowhere; longer than a head, it is cut into pieces as a file would be."""
    return _Memory("f", Path("f"), head_of(data), data)


class _Memory(Source):
    __slots__ = ("content",)

    def __init__(self, file: str, path: Path, head: Any, content: bytes) -> None:
        super().__init__(file, path, head)
        object.__setattr__(self, "content", content)

    def chunks(self) -> Any:
        data: bytes = self.content  # type: ignore[attr-defined]
        return (data[at : at + 65_536] for at in range(0, len(data), 65_536))


IMPORTERS: tuple[Importer, ...] = (go_vcr, httpmock, ruby_vcr, vcr_lists, vcrpy, wiremock)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
NAMES = st.sampled_from(
    [
        *(
            "request",
            "response",
            "when",
            "then",
            "method",
            "uri",
            "url",
            "path",
            "query_param",
            "name",
            "value",
        ),
        *("headers", "header", "status", "code", "status_code", "body", "content", "parsed_body", "string"),
        *("base64_string", "raw_gzip", "body_encoding", "bodyPatterns", "equalTo", "jsonBody", "base64Body"),
        "conformance",
    ]
)
SIDES = st.recursive(VALUES, lambda inner: st.dictionaries(NAMES, inner), max_leaves=12)


def consume(importer: Importer, data: bytes) -> None:
    source = source_of(data)
    importer.looks_like(source.head)
    with suppress(Unreadable):
        list(importer.read(source))


@given(st.binary())
def test_no_bytes_raise_anything_but_unreadable(data: bytes) -> None:
    for importer in IMPORTERS:
        consume(importer, data)
        consume(importer, b"interactions:\n- request: {url: a}\n  response: " + data)


@given(SIDES, SIDES, st.sampled_from(["interactions", "http_interactions", "mappings"]))
def test_no_values_raise_anything_but_unreadable(asked: Any, got: Any, key: str) -> None:
    pair = {"request": asked, "response": got}
    for document in (
        {key: [pair]},
        {"requests": [asked], "responses": [got]},
        {"when": asked, "then": got},
        {"request": asked, "response": got},
    ):
        texts = yaml.safe_dump(document).encode(), json.dumps(document, default=str).encode()
        for importer in IMPORTERS:
            for text in texts:
                consume(importer, text)


# ---------------------------------------------------------------------------------------------- corpus

FORMATS = frozenset(
    {
        "vcr-yaml",
        "vcr-ruby-yaml",
        "vcr-r-yaml",
        "go-vcr-yaml",
        "httpmock-yaml",
        "wiremock",
        "langchain-vcr-gz",
    }
)
FIDELITIES = {"wire-scrubbed": "scrubbed"}


@pytest.fixture(scope="module")
def rows() -> dict[str, list[dict[str, Any]]]:
    """The manifest's lines of these formats, by file."""
    if not (CORPUS / "manifest.jsonl").is_file():
        pytest.skip("the corpus ../shared/corpus is not there")
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in (CORPUS / "manifest.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["format"] in FORMATS:
            found[row["file"]].append(row)
    return found


def is_stream(body: bytes) -> bool:
    """Events, or several lines of JSON, or a chunk of Ollama's that may be the only one."""
    text = body.lstrip()
    if text.startswith((b"data:", b"event:", b":", b"id:")):
        return True
    lines = text.splitlines()
    return len(lines) > 1 and lines[0].startswith(b"{") and lines[0].endswith(b"}")


def test_every_exchange_of_the_corpus_is_read_as_the_manifest_has_it(
    rows: dict[str, list[dict[str, Any]]],
) -> None:
    wrong = []
    for file, of_file in rows.items():
        found = list(exchanges_of(CORPUS / file))
        assert [one.position for one in found] == list(range(len(found))), file
        for row in of_file:
            one = found[row["position"]]
            if isinstance(one, Unusable):
                if row["wire"] != "bedrock" or "event stream" not in one.reason:
                    wrong.append((file, row["position"], one.reason))
                continue
            request, response = sides(one)
            wanted = (
                row["format"],
                FIDELITIES.get(row["fidelity"], row["fidelity"]),
                row["status"],
                row["has_request"],
                row["response_bytes"] > 0,
            )
            got = (one.format, one.fidelity, response.status, request.body != b"", response.body != b"")
            if got != wanted:
                wrong.append((file, row["position"], str(got)))
            if one.fidelity != "parsed" and len(response.body) != row["response_bytes"]:
                wrong.append((file, row["position"], "another size"))
            ndjson = row["content_type"] and "ndjson" in row["content_type"]
            if row["wire"] != "other" and not ndjson and is_stream(response.body) != row["streamed_body"]:
                wrong.append((file, row["position"], "a stream, or none"))
    assert wrong == []
