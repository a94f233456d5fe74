"""What the tests of the YAML importers share: recordings written down and read back."""

from __future__ import annotations

import base64
import gzip
import json
import textwrap
import zlib
from pathlib import Path
from typing import Any

from conformance.grade.files import exchanges_of
from conformance.grade.recorded import Recorded, Unusable
from conformance.types import HttpRequest, HttpResponse

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
