"""`phobos-nb cache`: what the disk cache holds."""

from __future__ import annotations

import argparse
import datetime

from phobos_nb.cli.options import Commands
from phobos_nb.counts import counted


def register(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser("cache", help="list or clear the cache of compiled kernels")
    parser.add_argument("action", choices=("list", "clear"))
    parser.set_defaults(run=run)


def run(parsed: argparse.Namespace) -> int:
    """List the entries, least recently used first, or remove all of them."""
    from phobos_nb.cuda.cache import Cache

    cache = Cache()
    if parsed.action == "clear":
        print(f"removed {counted(cache.clear(), 'entry', 'entries')} from {cache.folder}")
        return 0
    if cache.trouble:
        print(f"caching is off: {cache.trouble}")
    for entry in cache.list():
        used = datetime.datetime.fromtimestamp(entry.used).isoformat(" ", "seconds")
        print(f"{entry.key[:16]}  {entry.bytes:10,} bytes  last used {used}")
    found = cache.statistics
    entries = counted(found.entries, "entry", "entries")
    print(f"{entries}, {found.bytes:,} of {found.limit:,} bytes in {cache.folder}")
    return 0
