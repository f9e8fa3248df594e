"""The reference as Markdown, written from the tables: built-ins, attributes, diagnostics.

usage: python -m phobos_nb.views.reference FOLDER
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path

from phobos_nb import attributes, builtins
from phobos_nb.codes import CODES
from phobos_nb.lower.choices import CHOICES

BODY = "kernel k(A: tensor<f32>[N], B: tensor<f32>[N], M: tensor<f32>[R, C], n: i32, x: f32)"
"""What an example without a kernel is the body of."""

CHAPTERS = {
    "PH0": "Text",
    "PH1": "Names and types",
    "PH2": "Tiles and slices",
    "PH3": "Threads",
    "PH4": "Attributes and configuration",
    "PH5": "Code generation",
    "PH6": "NVRTC, driver, GPU",
    "PH7": "Calls",
    "PH8": "While a kernel runs",
}


@dataclass(frozen=True)
class Page:
    """What a diagnostic code means, with a wrong example and the mended one where there are some.

    With `kernel`, the examples are Python that calls it as `k`; else they are Phobos.
    """

    code: str
    means: str
    wrong: str = ""
    mended: str = ""
    kernel: str = ""


@cache
def pages() -> dict[str, Page]:
    """The page of every code that has one."""
    text = files("phobos_nb.views").joinpath("diagnostics.toml").read_text("utf-8")
    return {code: Page(code, **entry) for code, entry in tomllib.loads(text).items()}


def program(example: str) -> str:
    """The whole text of a Phobos example."""
    return example if "kernel " in example else f"{BODY} {{\n{example}\n}}"


def builtins_page() -> str:
    """Every built-in by group: form and meaning."""
    specs = sorted(builtins.table().values(), key=lambda s: (s.group, s.name))
    lines = [*_head("Built-ins", "One file each in `phobos_nb/builtins`.")]
    for group, members in groupby(specs, key=lambda s: s.group):
        lines += [f"## {group[0].upper()}{group[1:]}", "", "| form | |", "|---|---|"]
        lines += [f"| `{_cell(s.signature)}` | {_cell(s.doc)} |" for s in members]
        lines.append("")
    return "\n".join(lines)


def attributes_page() -> str:
    """Every attribute: form, meaning, effect."""
    lines = [*_head("Attributes", "They stand above a kernel. One file each in `phobos_nb/attributes`.")]
    for spec in attributes.table().values():
        effect = "Accepted; changes nothing yet." if spec.inert else spec.effect
        lines += [f"## @{spec.name}", "", f"`{spec.signature}`", "", spec.doc, "", effect, ""]
    return "\n".join(lines)


def diagnostics_page() -> str:
    """Every code: title, meaning, wrong and mended."""
    about = (
        "Errors raise `PhobosError`. Warnings stand above a cell's output; from Python `compile` and "
        "`load` give them as `PhobosWarning`, commands print them to standard error. Examples of a few "
        f"lines are the body of `{BODY}`."
    )
    lines = [*_head("Diagnostics", about)]
    for chapter, codes in groupby(CODES, key=lambda c: c[:3]):
        lines += [f"## {CHAPTERS[chapter]}", ""]
        for code in codes:
            lines += _diagnostic(code)
    return "\n".join(lines)


def _diagnostic(code: str) -> Iterator[str]:
    yield from (f"### {code}: {CODES[code]}", "")
    page = pages().get(code)
    if page is None:
        return
    yield from (page.means, "")
    language = "python" if page.kernel else "rust"
    if page.kernel:
        yield from _block("Kernel", page.kernel, "rust")
    if page.wrong:
        yield from _block("Wrong", page.wrong, language)
        yield from _block("Mended", page.mended, language)


def _block(title: str, text: str, language: str) -> Iterator[str]:
    yield from (f"{title}:", "", f"```{language}", *text.strip("\n").splitlines(), "```", "")


def _head(title: str, about: str) -> Iterator[str]:
    yield from (
        f"# {title}",
        "",
        f"{about} Written by `python -m phobos_nb.views.reference docs/reference`.",
        "",
    )


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def choices_page() -> str:
    """Every choice of the compiler that can be fixed by name."""
    about = (
        "Names that `-D`, `specialize`, `compile` and a search take beside a kernel's own. They choose "
        "among code that computes the same; without them the compiler decides. A number that stands for "
        "nothing is refused (PH405); a division among threads that no `dot` can have is noted (PH517)."
    )
    lines = [*_head("The compiler's choices", about), "| name | |", "|---|---|"]
    lines += [f"| `{name}` | {_cell(meaning)} |" for name, meaning in CHOICES.items()]
    return "\n".join([*lines, ""])


PAGES: dict[str, Callable[[], str]] = {
    "builtins.md": builtins_page,
    "attributes.md": attributes_page,
    "choices.md": choices_page,
    "diagnostics.md": diagnostics_page,
}


def brief() -> str:
    """The names of the language in a few lines, for the help of the cell magic."""
    lines = ["Built-ins (docs/reference/builtins.md):"]
    specs = sorted(builtins.table().values(), key=lambda s: (s.group, s.name))
    for group, members in groupby(specs, key=lambda s: s.group):
        lines.append(f"  {group}: {' '.join(s.name for s in members)}")
    lines += ["", "Attributes (docs/reference/attributes.md):"]
    lines += [f"  {s.signature}: {s.effect}" for s in attributes.table().values()]
    return "\n".join(lines)


def main() -> int:
    """Write the pages into the folder named on the command line."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (folder / name).write_text(page(), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
