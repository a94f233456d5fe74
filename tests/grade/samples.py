"""Small recordings in JSON and HTTP text, of each format."""

from __future__ import annotations

import base64
from typing import Any

from .support import ANSWER, QUESTION, URL, packed


def b64(data: bytes | str) -> str:
    return base64.b64encode(data if isinstance(data, bytes) else data.encode()).decode()


def har(content: dict[str, Any], **got: Any) -> dict[str, Any]:
    headers = [{"name": "content-type", "value": "application/json"}]
    asked = {"method": "POST", "url": URL, "headers": [], "postData": {"text": packed(QUESTION)}}
    entry = {"request": asked, "response": {"status": 200, "headers": headers, "content": content, **got}}
    return {"log": {"version": "1.2", "creator": {"name": "c"}, "entries": [entry]}}


def nock(answer: Any, **more: Any) -> list[dict[str, Any]]:
    scope, path = URL.replace("/v1", ":443|/v1").split("|")
    asked = {"scope": scope, "method": "POST", "path": path, "body": QUESTION}
    return [{**asked, "status": 200, "response": answer, "rawHeaders": ["Content-Type", "text/x"], **more}]


def braintrust(body: dict[str, Any], asked: dict[str, Any] | None = None) -> dict[str, Any]:
    sent = asked or {"kind": "json", "value": QUESTION}
    request = {"method": "POST", "url": URL, "headers": {}, "body": sent}
    answered = {"status": 200, "headers": {"content-type": "text/x"}, "body": body}
    return {"meta": {}, "entries": [{"request": request, "response": answered}]}


def req_llm(body: Any, **more: Any) -> dict[str, Any]:
    asked = {"method": "post", "url": URL, "headers": {}, "body": {"b64": b64(packed(QUESTION))}}
    answered = {"status": 200, "headers": {"content-type": ["text/x"]}, "body": body}
    return {**more, "request": asked, "response": answered}


def httprr(answer: bytes, head: bytes = b"HTTP/2.0 200 OK\r\nContent-Type: text/x\r\n") -> bytes:
    asked = f"POST {URL} HTTP/1.1\r\nHost: h\r\n\r\n{packed(QUESTION)}".encode()
    got = head + b"\r\n" + answer
    return b"httprr trace v1\n" + f"{len(asked)} {len(got)}\n".encode() + asked + got


def litellm(**more: Any) -> dict[str, Any]:
    payload = {
        "id": "1",
        "call_type": "acompletion",
        "response_cost": 0.1,
        "api_base": URL,
        "model": "m",
        "messages": QUESTION["messages"],
        "model_parameters": {"temperature": 0},
        "response": ANSWER,
        "status": "success",
    }
    return {**payload, **more}


OLLAMA = [
    {"model": "m", "created_at": "t", "message": {"role": "assistant", "content": "Ho"}, "done": False},
    {"model": "m", "created_at": "t", "message": {"role": "assistant", "content": ""}, "done": True},
]
