"""``twoclocks mcp``: the tools over this process's own input and output, as desktop clients start them."""

from __future__ import annotations

from typing import TextIO

import click


@click.command()
@click.option("--base", "--kb", "base", metavar="SLUG", help="Which base; not needed if there is one.")
@click.option("--url", help="A server elsewhere, or its MCP endpoint; without it the local database.")
@click.option("--token", help="Whose rights; without it, locally, yours at this machine.")
@click.option("--token-file", type=click.File(), help="The same from a file, which no list of processes shows.")
def mcp(base: str | None, url: str | None, token: str | None, token_file: TextIO | None) -> None:
    """Serve MCP on standard input and output. What is logged goes to standard error."""
    import logging
    import sys

    if token_file is not None:
        token = token_file.read().strip()

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    from api.mcp import stdio

    if url is not None:
        stdio.serve_remote(stdio.remote_endpoint(url, base, token), token)
        return
    from api.app import product_version
    from api.cli import services
    from api.cli.session import opened, the_base
    from substrate.db import EVERY_BASE

    with opened() as (settings, db):
        where = services.places(settings)
        with services.alone(where):
            held = token or services.client_token(db, where)
        with db.read(EVERY_BASE) as conn:
            kb_id = the_base(conn, base).id
        stdio.serve_local(db, settings, kb_id, held, product_version())
