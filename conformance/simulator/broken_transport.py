"""Answers that go wrong as bytes: on any wire, whole or streamed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain

from conformance.simulator.answer import (
    Action,
    Actions,
    Bytes,
    Close,
    Event,
    Head,
    Headers,
    Line,
    Pause,
    Reset,
    Respond,
    encode,
    encode_event,
    encode_line,
)
from conformance.simulator.front import Front

_EVENTS_BEFORE_A_BREAK = 3
_DRIP_BYTES = 16
_DRIP_S = 0.005
_LATE_S = 0.5
_READING_S = 0.05
"""Long enough for a client to read what was sent: a reset discards what it has not read."""

Change = Callable[[Actions, Front], Actions]


def in_bytes(action: Action) -> bytes | None:
    """The bytes that an action adds to a streamed body; ``None`` if it adds none."""
    match action:
        case Event():
            return encode_event(action)
        case Line(data):
            return encode_line(data)
        case Bytes(data):
            return data
        case _:
            return None


def as_plain_text(actions: Actions, front: Front) -> Iterator[Action]:  # noqa: ARG001
    """The answer says that it is plain text."""
    for action in actions:
        if isinstance(action, (Head, Respond)):
            headers = tuple((k, "text/plain" if k == "content-type" else v) for k, v in action.headers)
            action = replace(action, headers=headers)
        yield action


def late(actions: Actions, front: Front) -> Actions:  # noqa: ARG001
    """The answer begins half a second late."""
    return chain((Pause(_LATE_S),), actions)


def broken_chunks(actions: Actions, front: Front) -> Iterator[Action]:  # noqa: ARG001
    """The chunked coding of the body breaks after a few events: a chunk's size is no number."""
    sent = 0
    for action in actions:
        match action:
            case Respond(status, headers, body):
                yield Head(status, _chunked(headers), "none")
                yield Bytes(_chunk(_halves(body)[0]) + b"size?\r\n")
                return
            case Head(status, headers):
                yield Head(status, _chunked(headers), "none")
            case Event() | Line() | Bytes():
                yield Bytes(_chunk(in_bytes(action) or b""))
                sent += 1
                if sent == _EVENTS_BEFORE_A_BREAK:
                    yield Bytes(b"size?\r\n")
                    return
            case _:
                yield action


def cut(ending: Reset | Close) -> Change:
    """The connection breaks after a few events, or in the middle of a whole answer."""

    def change(actions: Actions, front: Front) -> Iterator[Action]:  # noqa: ARG001
        sent = 0
        for action in actions:
            if isinstance(action, Respond):
                begun, rest = _halves(action.body)
                length = ("content-length", str(len(begun) + len(rest)))
                yield Head(action.status, (*action.headers, length), "none")
                action, sent = Bytes(begun), _EVENTS_BEFORE_A_BREAK - 1
            yield action
            sent += in_bytes(action) is not None
            if sent == _EVENTS_BEFORE_A_BREAK:
                yield Pause(_READING_S)
                yield ending
                return

    return change


def dripping(actions: Actions, front: Front) -> Iterator[Action]:  # noqa: ARG001
    """The body comes in drops of 16 bytes."""
    for piece in _pieces(actions):
        if not isinstance(piece, Bytes):
            yield piece
            continue
        for at in range(0, len(piece.data), _DRIP_BYTES):
            yield Bytes(piece.data[at : at + _DRIP_BYTES])
            yield Pause(_DRIP_S)


def split_characters(actions: Actions, front: Front) -> Iterator[Action]:  # noqa: ARG001
    """The bytes of each character beyond ASCII come in two writes, in chunks of their own."""
    for piece in _pieces(actions):
        if not isinstance(piece, Bytes):
            yield piece
            continue
        begun = 0
        for at, byte in enumerate(piece.data):
            if byte >= 0xC0:
                yield Bytes(piece.data[begun : at + 1])
                yield Pause(_DRIP_S)
                begun = at + 1
        yield Bytes(piece.data[begun:])


def _pieces(actions: Actions) -> Iterator[Action]:
    """The answer as a head and bytes, in chunks also where it was whole."""
    for action in actions:
        if isinstance(action, Respond):
            yield Head(action.status, action.headers)
            yield Bytes(_whole(action.body))
        else:
            data = in_bytes(action)
            yield action if data is None else Bytes(data)


def _whole(body: object) -> bytes:
    return body if isinstance(body, bytes) else encode(body)


def _halves(body: object) -> tuple[bytes, bytes]:
    data = _whole(body)
    return data[: len(data) // 2], data[len(data) // 2 :]


def _chunked(headers: Headers) -> Headers:
    return (*headers, ("transfer-encoding", "chunked"))


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data) if data else b""
