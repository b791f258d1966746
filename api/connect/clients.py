"""The MCP clients: where each keeps its servers, in which form, and how it writes an HTTP or a stdio server.

Looked up in November 2026 in each client's own documentation:

- Claude Code: code.claude.com/docs/en/mcp (``~/.claude.json``, ``.mcp.json``), …/skills
- Claude Desktop: modelcontextprotocol.io/docs/develop/connect-local-servers (stdio alone in this file)
- Cursor: cursor.com/docs/mcp, cursor.com/docs/context/skills
- VS Code: code.visualstudio.com/docs/agents/reference/mcp-configuration (``servers``, not ``mcpServers``)
- Codex: developers.openai.com/codex/mcp (``http_headers``; ``headers`` is ignored), …/codex/skills
- Gemini CLI: geminicli.com/docs/tools/mcp-server (``httpUrl``; ``url`` means SSE), …/docs/cli/skills
- Windsurf: docs.windsurf.com/windsurf/cascade/mcp (``serverUrl``; no file per project)
- Continue: docs.continue.dev/customize/deep-dives/mcp (a file per server, in ``~/.continue`` or the workspace)
- Cline: docs.cline.bot/mcp (``type: streamableHttp``; left out it means SSE; no file per project)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Scope = Literal["user", "project"]
Form = Literal["json", "jsonc", "toml", "yaml file"]
Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Places:
    """What paths are relative to: the person's home, where this platform's programs keep settings, the project."""

    home: Path
    settings: Path
    project: Path

    @classmethod
    def here(cls) -> Places:
        """Of this person on this machine: ``~/.config``, ``~/Library/Application Support`` or ``%APPDATA%``."""
        from platformdirs import user_config_path

        return cls(Path.home(), user_config_path(appauthor=False, roaming=True), Path.cwd())


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One base as a client reaches it: by URL and token, or by a program it starts."""

    url: str = ""
    token: str = ""
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] | None = None

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def program(self) -> Entry:
        return {"command": self.command, "args": list(self.args), **({"env": dict(self.env)} if self.env else {})}


@dataclass(frozen=True, slots=True)
class Client:
    """One client. A path is None where the client has no such place; `http` where it starts programs alone."""

    title: str
    form: Form
    under: str
    """The key that holds the servers."""
    user: Callable[[Places], Path]
    project: Callable[[Places], Path] | None
    http: Callable[[Endpoint], Entry] | None
    stdio: Callable[[Endpoint], Entry] = lambda end: end.program
    skills: Callable[[Places, Scope], Path] | None = None
    after: str = "restart it"

    def path(self, places: Places, scope: Scope) -> Path | None:
        if scope == "user":
            return self.user(places)
        return self.project(places) if self.project else None


def _skills(folder: str) -> Callable[[Places, Scope], Path]:
    return lambda places, scope: (places.home if scope == "user" else places.project) / folder / "skills"


def _typed(kind: str) -> Callable[[Endpoint], Entry]:
    return lambda end: {"type": kind, "url": end.url, "headers": end.headers}


def _keyed(key: str) -> Callable[[Endpoint], Entry]:
    return lambda end: {key: end.url, "headers": end.headers}


CLIENTS: Mapping[str, Client] = {
    "claude-code": Client(
        "Claude Code",
        "json",
        "mcpServers",
        lambda at: at.home / ".claude.json",
        lambda at: at.project / ".mcp.json",
        _typed("http"),
        lambda end: {"type": "stdio", **end.program},
        _skills(".claude"),
        "start a new session; `/mcp` lists it",
    ),
    "claude-desktop": Client(
        "Claude Desktop",
        "json",
        "mcpServers",
        lambda at: at.settings / "Claude" / "claude_desktop_config.json",
        None,
        None,
        after="quit it from the menu and start it again",
    ),
    "cursor": Client(
        "Cursor",
        "jsonc",
        "mcpServers",
        lambda at: at.home / ".cursor" / "mcp.json",
        lambda at: at.project / ".cursor" / "mcp.json",
        _keyed("url"),
        skills=_skills(".cursor"),
        after="restart it; Customize lists it",
    ),
    "vscode": Client(
        "VS Code",
        "jsonc",
        "servers",
        lambda at: at.settings / "Code" / "User" / "mcp.json",
        lambda at: at.project / ".vscode" / "mcp.json",
        _typed("http"),
        lambda end: {"type": "stdio", **end.program},
        _skills(".agents"),
        "run `MCP: List Servers`",
    ),
    "codex": Client(
        "Codex",
        "toml",
        "mcp_servers",
        lambda at: at.home / ".codex" / "config.toml",
        lambda at: at.project / ".codex" / "config.toml",
        lambda end: {"url": end.url, "http_headers": end.headers},
        skills=_skills(".agents"),
        after="restart it; `codex mcp list` shows it",
    ),
    "gemini": Client(
        "Gemini CLI",
        "jsonc",
        "mcpServers",
        lambda at: at.home / ".gemini" / "settings.json",
        lambda at: at.project / ".gemini" / "settings.json",
        _keyed("httpUrl"),
        skills=_skills(".gemini"),
        after="restart it; `/mcp` lists it",
    ),
    "windsurf": Client(
        "Windsurf",
        "jsonc",
        "mcpServers",
        lambda at: at.home / ".codeium" / "windsurf" / "mcp_config.json",
        None,
        _keyed("serverUrl"),
        after="refresh the MCP toolbar",
    ),
    "continue": Client(
        "Continue",
        "yaml file",
        "mcpServers",
        lambda at: at.home / ".continue" / "mcpServers",
        lambda at: at.project / ".continue" / "mcpServers",
        lambda end: {"type": "streamable-http", "url": end.url, "requestOptions": {"headers": end.headers}},
        after="reload it; servers work in agent mode",
    ),
    "cline": Client(
        "Cline",
        "json",
        "mcpServers",
        lambda at: at.settings.joinpath(
            "Code", "User", "globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json"
        ),
        None,
        _typed("streamableHttp"),
        after="its MCP Servers panel lists it",
    ),
}
"""By the name that `twoclocks connect` takes."""
