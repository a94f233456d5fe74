"""A server on this machine that keeps what it is sent and answers what it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


class Loopback:
    """What the server was sent, newest last, and what it answers next."""

    def __init__(self) -> None:
        self.url = ""
        self.sent: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.status = 200
        self.content_type = "application/json"
        self.body = b"{}"

    def answer(self, body: Any, content_type: str = "application/json", status: int = 200) -> None:
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.content_type, self.status = content_type, status


@contextmanager
def loopback() -> Iterator[Loopback]:
    """A server for one test module."""
    state = Loopback()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            state.sent.append((self.path, headers, json.loads(body)))
            self.send_response(state.status)
            self.send_header("content-type", state.content_type)
            self.send_header("content-length", str(len(state.body)))
            self.end_headers()
            self.wfile.write(state.body)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
