"""The YAML of other recorders: langchain, Ruby, R, Go, httpmock, WireMock."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.grade.recorded import KEPT, Recorded, Unusable

from .yaml_kit import (
    ANSWERED,
    ASKED,
    DEFLATED,
    PACKED,
    STREAM,
    all_of,
    bodies,
    only,
    refusal,
    sides,
    vcr_text,
)

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
