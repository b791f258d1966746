"""``twoclocks connect`` over a real database and real files of every form."""

from __future__ import annotations

import json
import os
import re
import tomllib

import pytest
import yaml

from api.cli.mcp import mcp
from api.connect import CLIENTS, Places
from substrate import access
from substrate.db import NO_BASE
from substrate.errors import Unauthenticated

OTHERS = {
    "json": '{\n  "numStartups": 3,\n  "UNDER": {\n    "other": {"command": "npx"}\n  }\n}\n',
    "jsonc": '{\n\t// mine\n\t"UNDER": {\n\t\t"other": {"command": "npx"}, // keep\n\t}\n}\n',
    "toml": 'model = "x" # mine\n\n[UNDER.other]\ncommand = "npx"\n\n[tui]\ntheme = "dark"\n',
}
OVER_HTTP = [name for name, client in CLIENTS.items() if client.http]


def _file(name, home, scope="user"):
    client = CLIENTS[name]
    path = client.path(Places(home, home / ".config", home / "project"), scope)
    return path / "twoclocks-test.yaml" if client.form == "yaml file" else path


def _entry(name, path):
    client, text = CLIENTS[name], path.read_text()
    if client.form == "toml":
        return tomllib.loads(text)[client.under].get("twoclocks-test")
    if client.form == "yaml file":
        return yaml.safe_load(text)["mcpServers"][0]
    plain = re.sub(r"(?m)//( mine| keep)$", "", text)
    return json.loads(re.sub(r",(\s*})", r"\1", plain))[client.under].get("twoclocks-test")


def _token(entry):
    return re.search(r"Bearer (tc_pat_\w+)", str(entry)).group(1)


def _may(database, token):
    with database.read(NO_BASE) as conn:
        return access.authenticate(conn, token)


@pytest.mark.parametrize("name", OVER_HTTP)
def test_in_again_and_out(name, connect, home, database, kb):
    client, path = CLIENTS[name], _file(name, home)
    before = OTHERS.get(client.form, "").replace("UNDER", client.under)
    if before:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(before)
    said = connect(name)
    entry = _entry(name, path)
    assert f"/api/v1/kbs/{kb}/mcp" in str(entry)
    principal = _may(database, _token(entry))
    assert (principal.scope, principal.kb_ids, principal.name) == ("read", frozenset([kb]), f"connect {name}")
    assert path.stat().st_mode & 0o777 == 0o600
    assert _token(entry) not in said
    kept = [p for p in path.parent.iterdir() if ".before-twoclocks-" in p.name]
    assert [p.read_text() for p in kept] == ([before] if before else [])

    once = path.read_bytes()
    assert f"as is   {path}" in connect(name)
    assert path.read_bytes() == once

    connect(name, "--remove")
    if client.form == "yaml file":
        assert not path.exists()
    elif before:
        assert path.read_text() == before
    with pytest.raises(Unauthenticated):
        _may(database, _token(entry))


def test_each_client_gets_the_shape_it_reads(connect, home):
    found = {}
    for name in OVER_HTTP:
        connect(name)
        found[name] = _entry(name, _file(name, home))
    assert {n: sorted(e) for n, e in found.items()} == {
        "claude-code": ["headers", "type", "url"],
        "cursor": ["headers", "url"],
        "vscode": ["headers", "type", "url"],
        "codex": ["http_headers", "url"],
        "gemini": ["headers", "httpUrl"],
        "windsurf": ["headers", "serverUrl"],
        "continue": ["name", "requestOptions", "type", "url"],
        "cline": ["headers", "type", "url"],
    }
    kinds = {n: e["type"] for n, e in found.items() if "type" in e}
    assert kinds == {"claude-code": "http", "vscode": "http", "continue": "streamable-http", "cline": "streamableHttp"}


def test_a_client_that_starts_programs_gets_one(connect, home, kb):
    connect("claude-desktop")
    path = home / ".config" / "Claude" / "claude_desktop_config.json"
    entry = json.loads(path.read_text())["mcpServers"]["twoclocks-test"]
    assert entry["args"] == ["mcp", "--base", "test"]
    assert os.path.isabs(entry["command"]) and all(os.path.isabs(v) for v in entry["env"].values())
    with mcp.make_context("mcp", entry["args"][1:]) as taken:
        assert taken.params["base"] == "test"
    assert "tc_pat_" not in path.read_text()
    assert "keeps no servers per project" in connect("claude-desktop", "--project", code=1)


def test_dry_run_writes_nothing_and_issues_nothing(connect, home, database):
    path = _file("claude-code", home)
    path.write_text('{\n  "apiKey": "sk-secret-of-others"\n}\n')
    said = connect("claude-code", "--dry-run")
    assert '+    "twoclocks-test": {' in said
    assert "Bearer tc_pat_0000…" in said
    assert "sk-secret" not in said
    assert path.read_text() == '{\n  "apiKey": "sk-secret-of-others"\n}\n'
    assert not (home / ".claude").exists()
    with database.read(NO_BASE) as conn:
        assert access.list_tokens(conn) == []


def test_a_broken_file_is_named_and_left_alone(connect, home, database):
    path = _file("cursor", home)
    path.parent.mkdir()
    path.write_text('{\n  "mcpServers": {,}\n}\n')
    said = connect("cursor", code=1)
    assert f"{path}: line 2, column 18" in said
    assert path.read_text() == '{\n  "mcpServers": {,}\n}\n'
    assert list(path.parent.iterdir()) == [path]
    with database.read(NO_BASE) as conn:
        assert access.list_tokens(conn) == []
    codex = _file("codex", home)
    codex.parent.mkdir()
    codex.write_text('model = "x"\n[oops\n')
    assert f"{codex}: line 2, column" in connect("codex", code=1)
    codex.write_bytes(b"\xff")
    assert "byte 0 is not UTF-8" in connect("codex", code=1)


def test_a_link_stays_a_link(connect, home):
    real = home / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text("{}\n")
    path = _file("cursor", home)
    path.parent.mkdir()
    path.symlink_to(real)
    connect("cursor")
    assert path.is_symlink()
    assert "twoclocks-test" in real.read_text()
    assert [p.name for p in path.parent.iterdir() if "before" in p.name] == []


def test_scope_and_project_are_what_was_asked(connect, home, database):
    assert "out of version control" in connect("claude-code", "--project")
    path = home / "project" / ".mcp.json"
    read = _token(path.read_text())
    assert (home / "project" / ".claude" / "skills" / "twoclocks" / "SKILL.md").exists()
    assert not (home / ".claude.json").exists()
    connect("claude-code", "--project", "--write")
    write = _token(path.read_text())
    assert _may(database, write).scope == "write"
    with pytest.raises(Unauthenticated):
        _may(database, read)


def test_a_token_that_was_handed_in_is_not_revoked(connect, home, database, kb):
    with database.write(kb) as conn:
        ada = access.create_person(conn, "Ada")
        access.set_member(conn, kb, ada, "viewer")
        own = access.issue_token(conn, ada, "mine").secret
    connect("gemini", "--token", own)
    assert _token(_file("gemini", home).read_text()) == own
    connect("gemini", "--remove")
    assert "twoclocks-test" not in _file("gemini", home).read_text()
    assert _may(database, own).name == "mine"


def test_a_base_elsewhere_needs_no_database(home):
    from click.testing import CliRunner

    from api.cli.main import main

    url, token = "https://kb.example.org/api/v1/kbs/5f0c/mcp", "tc_pat_" + "a" * 49

    def run(*arguments):
        return CliRunner().invoke(main, ["connect", "cursor", *arguments])

    assert "--url goes with --token" in run("--url", url).output
    assert "is the address of a base" in run("--url", "https://kb.example.org", "--token", token).output
    assert run("--url", url, "--token", token).exit_code == 0
    there = json.loads(_file("cursor", home).read_text())["mcpServers"]
    assert there == {"twoclocks": {"url": url, "headers": {"Authorization": f"Bearer {token}"}}}
    assert run("--url", url, "--remove").exit_code == 0
    assert json.loads(_file("cursor", home).read_text()) == {"mcpServers": {}}


def test_the_skill_comes_and_goes_with_the_last_entry(connect, home):
    skill = home / ".claude" / "skills" / "twoclocks" / "SKILL.md"
    connect("claude-code", "--no-skill")
    assert not skill.exists()
    connect("claude-code")
    connect("claude-code", "--name", "twoclocks-second")
    assert skill.read_text().startswith("---\nname: twoclocks\ndescription: ")
    connect("claude-code", "--remove")
    assert skill.exists()
    connect("claude-code", "--name", "twoclocks-second", "--remove")
    assert not skill.exists()
    connect("claude-code")
    skill.write_text("my own words")
    connect("claude-code", "--remove")
    assert skill.read_text() == "my own words"


def test_the_skill_names_only_tools_that_there_are():
    from importlib.resources import files

    from api.mcp.schemas import TOOLS

    said = files("api.connect").joinpath("SKILL.md").read_text(encoding="utf-8")
    head = yaml.safe_load(said.split("---")[1])
    assert set(head) == {"name", "description"} and len(head["description"]) <= 1024
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+|context|changes|timeline|neighbors|remember)`", said))
    known = {tool.name for tool in TOOLS}
    assert named - {"as_of"} <= known
    assert len(named & known) >= 12
