"""``twoclocks``: the product from a terminal. Each command is imported when it is called, so that help is quick."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from substrate.errors import TwoclocksError

_COMMANDS: Mapping[str, tuple[str, str]] = {
    "up": ("api.cli.serving:up", "Start database, API, Dagster; wait until healthy; print how to connect."),
    "down": ("api.cli.serving:down", "Stop what `up` started."),
    "status": ("api.cli.serving:status", "What runs, and where."),
    "mcp": ("api.cli.mcp:mcp", "Serve MCP on standard input and output, as desktop clients start it."),
    "mcp-config": ("api.cli.serving:mcp_config", "Print the MCP client configuration."),
    "connect": ("api.cli.connect:connect", "Write a base into an MCP client's configuration, or take it out."),
    "kb": ("api.cli.bases:kb", "Make and list knowledge bases."),
    "push": ("api.cli.documents:push", "Take in files."),
    "sync": ("api.cli.documents:sync", "Bring a folder in step and keep watching it."),
    "delete": ("api.cli.documents:delete", "Withdraw a document and what rests on it alone."),
    "documents": ("api.cli.documents:documents", "List documents, with why one could not be read."),
    "run": ("api.cli.documents:run", "Run the pipeline once over what is due."),
    "facts": ("api.cli.asking:facts", "One entity's facts, on both clocks."),
    "ask": ("api.cli.asking:facts", "The same as facts."),
    "timeline": ("api.cli.asking:timeline", "One entity's dated facts in world order."),
    "changes": ("api.cli.asking:changes", "What the record learned or revised since a moment."),
    "neighbors": ("api.cli.links:neighbors", "The entities linked to one entity, by relation."),
    "paths": ("api.cli.links:paths", "The chains of facts between two entities."),
    "explain": ("api.cli.links:explain", "Why a fact is held: evidence, history, conflicts, proof."),
    "rules": ("api.cli.links:rules", "What relations and classes are declared to be."),
    "gaps": ("api.cli.gaps:gaps", "Questions that found nothing: list, lay aside, open again."),
    "manual": ("api.cli.links:manual", "Search the product's own manual."),
    "history": ("api.cli.history:history", "What was held of an entity or fact when, by whom changed, why."),
    "diff": ("api.cli.history:diff", "What changed between two points of either clock."),
    "search": ("api.cli.asking:search", "Passages for a question."),
    "remember": ("api.cli.asking:remember", "Record one sentence; its facts wait for a nod."),
    "review": ("api.cli.review:review", "Proposals: list, confirm, reject, take back. Refusals: list, lift."),
    "entity": ("api.cli.entities:entity", "Entities: merge and part, say of what class one is."),
    "conflicts": ("api.cli.conflicts:conflicts", "What sources say against one another: list, decide, revert."),
    "fact": ("api.cli.corrections:fact", "One fact: correct its period, close, confirm, reject, undo."),
    "relation": ("api.cli.uniqueness:relation", "Relations: which look unique, preview, declare late."),
    "bindings": ("api.cli.bindings:bindings", "What phrases name: list, decide, take back, bind now."),
    "ontology": ("api.cli.ontology:ontology", "The ontology: show, export, plan a file, apply, packs, defects."),
    "funnel": ("api.cli.funnel:funnel", "Where everything went between passages and facts, by code."),
    "index": ("api.cli.index:index", "Build the lexical index anew."),
    "member": ("api.cli.members:member", "Who belongs to a base: add, remove, list; to whom it is open."),
    "workspace": ("api.cli.members:workspace", "Workspaces, to which bases may be open: create, list, join, leave."),
    "token": ("api.cli.tokens:token", "Personal tokens: create, list, revoke."),
    "credentials": ("api.cli.credentials:credentials", "Sealed secrets of a base: key, set, list, remove, rotate."),
    "ledger": ("api.cli.ledger:ledger", "Verify the chain."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, and which tells our errors in one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _, attribute = _COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """From the table alone: importing every command for one page of help would take seconds."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Raises for an argument that is no text: the shell passes any bytes."""
        for word in args:
            if word != word.encode(errors="replace").decode():
                raise click.ClickException(f"the argument {word!a} is not valid Unicode")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except TwoclocksError as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Twoclocks: documents and remembered sentences become facts on two clocks. Settings: TWOCLOCKS_… variables."""
