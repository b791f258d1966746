"""A real HTTP server on the loopback that speaks the chat-completions protocol as a test scripts it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, dict[str, str], Any]
Step = Callable[[dict[str, Any]], Answer]


def statement(quote: str, subject: str, phrase: str, **more: Any) -> dict[str, Any]:
    """A statement as the schema asks for it, null and empty where `more` does not say."""
    item: dict[str, Any] = dict.fromkeys(("subject_kind", "object", "object_kind", "value", "unit", "mood"))
    item |= {"ended": False, "denies": False, "corrects": False, "times": [], "qualifiers": []}
    return {"quote": quote, "subject": subject, "phrase": phrase} | item | more


def listed(*items: Any) -> str:
    return json.dumps({"statements": list(items)}, ensure_ascii=False)


def completion(content: Any, finish: str = "stop", usage: Any = None, **more: Any) -> Answer:
    message = {"role": "assistant", "content": content, **more}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return 200, {}, body | ({"usage": usage} if usage is not None else {})


def refusal(status: int, message: str, **headers: str) -> Answer:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, names, {"error": {"message": message, "type": "invalid_request_error"}}


def asked(body: dict[str, Any]) -> str:
    """The passage a request is about."""
    said = body["messages"][1]["content"]
    return said.partition("<passage ")[2].partition(">\n")[2].partition("\n</passage")[0]


class ChatServer:
    """`script` first, one step a request, then `otherwise`."""

    def __init__(self) -> None:
        self.script: list[Step] = []
        self.otherwise: Step = lambda _: completion(listed())
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self.most_at_once = 0
        self._now = 0
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        self.address = f"127.0.0.1:{self._server.server_port}"

    def formats(self) -> list[str]:
        return [body.get("response_format", {}).get("type", "none") for body in self.requests]

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _answer(self, headers: dict[str, str], body: dict[str, Any]) -> Answer:
        with self._lock:
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            self.headers.append(headers)
            self.requests.append(body)
            self.times.append(time.monotonic())
            step = self.script.pop(0) if self.script else self.otherwise
        try:
            return step(body)
        finally:
            with self._lock:
                self._now -= 1

    def _handler(server) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                known = {name.lower(): value for name, value in self.headers.items()} | {"path": self.path}
                status, headers, answer = server._answer(known, body)
                if status == 0:  # hang up without a word
                    self.close_connection = True
                    return
                payload = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, *_: object) -> None:
                """Quiet."""

        return Handler
