"""The option line of `%%phobos`, from text to compile options."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from IPython.core.error import UsageError

from phobos_nb.dtypes import SCALARS
from phobos_nb.options import CompileOptions, Setting, split_settings

PANES = {
    "source": ("Source",),
    "mlir": ("Tile MLIR", "Thread MLIR"),
    "tile": ("Tile MLIR",),
    "thread": ("Thread MLIR",),
    "cuda": ("CUDA",),
    "ptx": ("PTX",),
    "sass": ("SASS",),
    "smem": ("Shared memory",),
    "barriers": ("Barriers",),
}
"""The words of `--show` and the panes that they open."""


@dataclass(frozen=True)
class CellOptions:
    """What the option line asks for. panes: the titles of those open at first, None for the usual."""

    compile: CompileOptions
    panes: tuple[str, ...] | None
    run: bool
    quiet: bool
    interact: bool = False


def cell_options(parsed: Namespace) -> CellOptions:
    """The options of a parsed line; raises `UsageError` for a value that cannot be."""
    groups = cast("list[list[str]]", parsed.define or [])
    settings = split_settings(dict(_setting(word) for group in groups for word in group))
    options = CompileOptions(parsed.chip, parsed.index_bits, parsed.debug, None, *settings)
    return CellOptions(options, _panes(parsed.show), parsed.run, parsed.quiet, parsed.interact)


def _setting(word: str) -> tuple[str, Setting]:
    name, equals, value = word.partition("=")
    if value in SCALARS:
        return name.strip(), value
    if value in ("true", "false"):
        return name.strip(), int(value == "true")
    try:
        return name.strip(), int(value, 0)
    except ValueError:
        found = f"{word!r}" if equals else f"{word!r} without a value"
        raise UsageError(
            f"%%phobos: -D wants NAME=VALUE, an integer, a bool or a dtype, got {found}"
        ) from None


def _panes(show: str | None) -> tuple[str, ...] | None:
    if show is None:
        return None
    words = [w.strip() for w in show.split(",") if w.strip()]
    unknown = [w for w in words if w not in PANES]
    if unknown:
        raise UsageError(f"%%phobos: --show knows {', '.join(PANES)}; got {unknown[0]!r}")
    return tuple(dict.fromkeys(title for w in words for title in PANES[w]))


def arguments_from(namespace: Mapping[str, object], kernel: str, names: Iterable[str]) -> list[object]:
    """The values of a kernel's parameters for `--run`: the namespace's variables of the same names."""
    wanted = list(names)
    missing = [name for name in wanted if name not in namespace]
    if missing:
        raise UsageError(f"%%phobos --run: {kernel} takes {', '.join(wanted)}; there is no {missing[0]}")
    return [namespace[name] for name in wanted]
