"""`phobos-nb cache`: what the disk cache holds."""

from __future__ import annotations

import argparse

from phobos_nb.cli.options import Commands


def register(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser("cache", help="list or clear the cache of compiled kernels")
    parser.add_argument("action", choices=("list", "clear"))
    parser.set_defaults(run=run)


def run(parsed: argparse.Namespace) -> int:
    """List the entries, newest first, or remove all of them."""
    from phobos_nb.cuda import cache

    if parsed.action == "clear":
        count, size = cache.clear()
        print(f"removed {count} entries, {size:,} bytes")
        return 0
    entries = cache.entries()
    for entry in entries:
        print(entry)
    print(f"{len(entries)} entries, {sum(e.size for e in entries):,} bytes in {cache.directory()}")
    return 0
