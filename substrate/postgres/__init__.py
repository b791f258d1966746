"""The embedded Postgres: one private server per data root, started when first needed.

The server is a wheel's binaries under our own supervision, reachable over one unix socket and nothing else.

* `ensure` starts it, or attaches to the one already running, and returns a connection URI.
* `stop` stops exactly that server; `status` looks without touching.
* `bin_dir` and `dump_binary` find ``pg_dump``, ``psql`` and the rest of the same release.

What lies below a root::

    data/             the cluster (0700, owned by the account that runs the server)
    run/              the socket (0700, same owner), unless its path cannot serve: see `places`
    log/server.log    what the server says
    supervisor.lock   held while somebody starts or stops it
    server.alive      held by every process of a running server, released by the kernel with the last one

Run as root it drops to an account that exists already; it adds no user and loosens no directory. Tested on
Linux. Elsewhere the liveness lock alone stands in for /proc, and running as root is refused where it would
need /proc.
"""

from __future__ import annotations

from substrate.postgres.binaries import bin_dir, dump_binary
from substrate.postgres.supervisor import Status, ensure, status, stop

__all__ = ["Status", "bin_dir", "dump_binary", "ensure", "status", "stop"]
