"""A server on loopback that replays one recorded answer to whoever asks, and keeps what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from conformance.types import HttpRequest, HttpResponse

FRAMING = frozenset({"connection", "content-length", "keep-alive", "transfer-encoding"})
"""Headers of the recorded connection, not of the answer; the replay frames its bytes itself."""


@dataclass(slots=True)
class Replay:
    """Answers every request with ``answer``; ``heard`` are the requests since that was set."""

    origin: str
    answer: HttpResponse
    heard: list[HttpRequest] = field(default_factory=list)

    def load(self, answer: HttpResponse) -> None:
        """Replay this from now on."""
        self.answer = answer
        self.heard = []


@contextmanager
def replaying() -> Iterator[Replay]:
    """A server with nothing to replay yet, while it is entered."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def replay(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            state.heard.append(HttpRequest(self.command, self.path, tuple(self.headers.items()), body))
            self.send_response_only(state.answer.status)
            for name, value in state.answer.headers:
                if name.lower() not in FRAMING:
                    self.send_header(name, value)
            self.send_header("content-length", str(len(state.answer.body)))
            self.end_headers()
            self.wfile.write(state.answer.body)

        do_GET = do_POST = replay  # noqa: N815 (the base class's names)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        state = Replay(f"http://127.0.0.1:{server.server_port}", HttpResponse(503, (), b"nothing to replay"))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join()
