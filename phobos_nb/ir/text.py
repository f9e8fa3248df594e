"""MLIR as text: printed for people, printed for upstream, and read back."""

from __future__ import annotations

import re
from io import StringIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.printer import Printer

from phobos_nb.ir.context import context


def custom(op: Operation, *, locations: bool = False) -> str:
    """The readable form, for people; with `locations`, each op that has one ends in `loc(..)`.

    Upstream does not read all of it (`gpu.func`, a token-less `create_group`): send it `generic`.
    """
    return _print(op, generic=False, locations=locations).replace(" loc(unknown)", "")


def generic(op: Operation, *, locations: bool = False) -> str:
    """The generic form, which upstream's tools read without loss."""
    return _print(op, generic=True, locations=locations)


def parse(text: str) -> ModuleOp:
    """Read a module in either form.

    Raises
    ------
    xdsl.utils.exceptions.ParseError
        With the place in the text.
    """
    return Parser(context(), _SPLAT_OF_BITS.sub(_as_bytes, text)).parse_module()


_SPLAT_OF_BITS = re.compile(r"\bdense<0x([0-9a-fA-F]+)>")
"""A splat of an infinity or NaN, which MLIR prints by its bits; xDSL 0.75 reads it as an integer."""


def _as_bytes(found: re.Match[str]) -> str:
    """The same splat as a string of bytes, little end first, which xDSL reads right."""
    digits = found.group(1)
    whole = digits.zfill(len(digits) + len(digits) % 2)
    return f'dense<"0x{bytes.fromhex(whole)[::-1].hex()}">'


def _print(op: Operation, *, generic: bool, locations: bool) -> str:
    stream = StringIO()
    Printer(stream, print_generic_format=generic, print_debuginfo=locations).print_op(op)
    return stream.getvalue() + "\n"
