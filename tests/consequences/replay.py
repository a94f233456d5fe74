"""A server on loopback that answers with an example's own bytes, and counts how often it is asked."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from conformance.types import HttpResponse


@dataclass(frozen=True, slots=True)
class Replay:
    """Answers every request below ``base_url(name)`` with the response of that name."""

    answers: Mapping[str, HttpResponse]
    origin: str
    asked: Counter[str] = field(default_factory=Counter)

    def base_url(self, name: str) -> str:
        """Where a client finds the response of this name."""
        return f"{self.origin}/{name}/v1"


@contextmanager
def replaying(answers: Mapping[str, HttpResponse]) -> Iterator[Replay]:
    """A server with these answers, while it is entered."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            name = self.path.split("/")[1]
            replay.asked[name] += 1
            response = answers[name]
            self.send_response_only(response.status)
            for header, value in (*response.headers, ("content-length", str(len(response.body)))):
                self.send_header(header, value)
            self.end_headers()
            self.wfile.write(response.body)

        do_GET = do_POST = answer  # noqa: N815 (the base class's names)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        replay = Replay(answers, f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield replay
        finally:
            server.shutdown()
            thread.join()
