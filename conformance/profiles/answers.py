"""What came back, as the client behind a profile gets it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.profiles.as_stream import as_stream
from conformance.profiles.errors import info_of
from conformance.profiles.frames import Reader, is_plain, written
from conformance.profiles.profile import Asked, Profile
from conformance.profiles.repairs import Frame
from conformance.types import HttpResponse
from conformance.wires.body import compact, is_stream, parse, text_in

_EVENT_STREAM = ("content-type", "text/event-stream")


def repaired(profile: Profile, response: HttpResponse, asked: Asked, *, whole: bool = True) -> HttpResponse:
    """The response with its body repaired, and its status where the body says that it failed.

    ``whole``: the answer ended by itself. A response that has nothing to repair is given back as it is.
    """
    if is_stream(response) and response.status < 300:
        return _stream(profile, response, asked, whole=whole)
    document = document_in(response)
    if document is None:
        return response
    status, out = response.status, document
    if info_of(status, document) is not None:
        status, out = profile.repair_error(status, document, asked)
    elif status < 300:
        out = profile.repair_document(document, asked)
        if info_of(status, out) is not None:
            status, out = profile.repair_error(status, out, asked)
    if status == response.status and out == document:
        return response
    return with_body(replace(response, status=status), compact(out).encode("utf-8", "replace"))


def told_as_stream(profile: Profile, response: HttpResponse, asked: Asked) -> HttpResponse:
    """A whole answer, repaired, as the stream that was asked for; anything else repaired alone."""
    answer = repaired(profile, response, asked)
    events = as_stream(document_in(answer), asked) if answer.status < 300 else None
    if events is None:
        return answer
    headers = tuple(h for h in answer.headers if h[0].lower() not in ("content-type", "content-length"))
    return with_body(replace(answer, headers=(*headers, _EVENT_STREAM)), b"".join(map(written, events)))


def document_in(response: HttpResponse) -> Any:
    """The body as JSON; ``None`` where it is none."""
    try:
        return parse(text_in(response.body)[0])
    except ValueError:
        return None


def with_body(response: HttpResponse, body: bytes) -> HttpResponse:
    """The response with another body, which came when the last byte of the old one did."""
    ms = response.parts[-1][0] if response.parts else 0.0
    length = str(len(body))
    headers = tuple((k, length if k.lower() == "content-length" else v) for k, v in response.headers)
    return replace(response, body=body, headers=headers, parts=((ms, len(body)),) if body else ())


def _stream(profile: Profile, response: HttpResponse, asked: Asked, *, whole: bool) -> HttpResponse:
    reader, repairer = Reader(), profile.repair_stream(asked)
    came: list[Frame] = []
    given: list[Frame] = []
    pieces: list[tuple[float, bytes]] = []

    def give(ms: float, frames: list[Frame]) -> None:
        given.extend(frames)
        data = b"".join(map(written, frames))
        if data:
            pieces.append((ms, data))

    at, ms = 0, 0.0
    for ms, size in response.parts or ((0.0, len(response.body)),):
        frames = reader.feed(response.body[at : at + size])
        at += size
        came += frames
        give(ms, [out for frame in frames for out in repairer.feed(frame)])
    rest = reader.finish(whole=whole)
    came += rest
    last = [out for frame in rest for out in repairer.feed(frame)]
    give(ms, [*last, *repairer.finish(whole=whole)])
    if given == came and is_plain(response.body):
        return response
    body = b"".join(data for _, data in pieces)
    return replace(with_body(response, body), parts=tuple((when, len(data)) for when, data in pieces))
