"""The OpenAI SDK and this wire read a regular stream alike, and understand each other's requests."""

from __future__ import annotations

import contextlib
import http.server
import json
import random
import threading
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.types import Loss, Turn

from .answers import WIRE, answers, assemble, events


@settings(deadline=None, max_examples=40)  # the SDK's import and pydantic's first model are slow
@given(answers, st.integers(0, 2**32).map(random.Random))
def test_the_sdks_stream_accumulator_agrees(turns: tuple[Turn, ...], chance: random.Random) -> None:
    from openai.lib.streaming.chat import ChatCompletionStreamState
    from openai.types.chat import ChatCompletionChunk

    datas = events(turns, chance)
    state: Any = ChatCompletionStreamState()
    for data in datas[:-1]:
        state.handle_chunk(ChatCompletionChunk.model_validate(json.loads(data)))
    choices = sorted(state.current_completion_snapshot.choices, key=lambda choice: choice.index)
    ours = assemble(datas)
    assert len(choices) == len(ours)
    for theirs, turn in zip(choices, ours, strict=True):
        assert theirs.message.content == (turn.text or "")
        assert (theirs.message.refusal or "") == turn.refusal
        assert theirs.finish_reason == turn.finish_reason
        calls = [(c.id, c.function.name, c.function.arguments) for c in theirs.message.tool_calls or ()]
        assert calls == [(call.id, call.name, call.arguments) for call in turn.calls]


def test_a_request_that_the_sdk_sends_is_read_and_written_again_as_it_was() -> None:
    from openai import OpenAI

    tool: Any = {
        "type": "function",
        "function": {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}},
    }
    call: Any = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    file = {"file_data": "data:application/pdf;base64,JVBERi0=", "filename": "a.pdf"}
    content: Any = [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0=", "detail": "low"}},
        {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}},
        {"type": "file", "file": file},
        {"type": "file", "file": {"file_id": "file-1"}},
    ]
    with capturing() as (address, bodies):
        OpenAI(base_url=address, api_key="k", max_retries=0).chat.completions.create(
            model="m",
            messages=[
                {"role": "developer", "content": "s"},
                {"role": "user", "content": content},
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c", "content": "42"},
            ],
            tools=[tool],
            tool_choice="required",
            max_completion_tokens=9,
            seed=7,
            response_format={
                "type": "json_schema",
                "json_schema": {"name": "n", "schema": {}, "strict": True},
            },
            extra_body={"of_theirs": {"x": 1}},
        )
    (body,) = bodies
    losses: list[Loss] = []
    again = WIRE.encode(
        WIRE.decode_request(body), model="m", losses=losses, max_tokens_field="max_completion_tokens"
    )
    assert (again, losses) == (body, [])


@contextlib.contextmanager
def capturing() -> Iterator[tuple[str, list[Any]]]:
    """A server on loopback that keeps the bodies it gets and answers with an empty completion."""
    bodies: list[Any] = []
    answer = json.dumps(WIRE.encode_turns([Turn((), "stop")], model="m", losses=[])).encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", bodies
        finally:
            server.shutdown()
            thread.join()
