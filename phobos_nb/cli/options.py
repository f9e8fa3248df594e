"""Options that several commands share: the file, the kernel, target, constants."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

from phobos_nb.arguments.make import random_arguments
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.compilation.module import load_with, without_kernel
from phobos_nb.dtypes import SCALARS
from phobos_nb.options import CompileOptions, Setting, split_settings

Commands = Any
"""What argparse returns for sub-commands; its type is private."""


def add_source(parser: argparse.ArgumentParser) -> None:
    """FILE and which of its kernels."""
    parser.add_argument("file", help="a .ph file")
    parser.add_argument(
        "--kernel", metavar="NAME", help="one kernel of the file (default: all, or the first)"
    )


def add_target(parser: argparse.ArgumentParser) -> None:
    """Target, index width, constants."""
    parser.add_argument("--chip", help="target, such as sm_80 (default: PHOBOS_CHIP, this GPU, sm_80)")
    parser.add_argument("--index-bits", type=int, choices=(32, 64), help="width of sizes and offsets")
    parser.add_argument("--debug", action="store_true", help="compile asserts and checks in")
    parser.add_argument(
        "-D", dest="constants", nargs="+", action="extend", default=[], type=constant,
        metavar="NAME=VALUE", help="value of a tuning name or generic",
    )  # fmt: skip


def constant(text: str) -> tuple[str, Setting]:
    """NAME=VALUE with an integer, true, false or the name of a dtype."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"wanted NAME=VALUE, got {text!r}")
    if value in ("true", "false"):
        return name, int(value == "true")
    if value in SCALARS:
        return name, value
    try:
        return name, int(value, 0)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{name}: wanted an integer or a dtype, got {value!r}"
        ) from None


def kernels(parsed: argparse.Namespace) -> list[Kernel]:
    """The kernels a command is about; exits with code 2 when the named one is not there."""
    settings = split_settings(dict(parsed.constants))
    options = CompileOptions(parsed.chip, parsed.index_bits, parsed.debug, None, *settings)
    module = load_with(parsed.file, options)
    if said := without_kernel(module):
        print(f"error: {parsed.file}: {said}", file=sys.stderr)
        raise SystemExit(2)
    if parsed.kernel is None:
        return list(module)
    if parsed.kernel not in module.kernels:
        known = ", ".join(module.kernels)
        print(f"error: {parsed.file} has no kernel {parsed.kernel}; it has {known}", file=sys.stderr)
        raise SystemExit(2)
    return [module[parsed.kernel]]


def made_arguments(kernel: Kernel, given: Mapping[str, Any], rng: Any) -> dict[str, Any]:
    """Arguments for every parameter, made where none is given; a constant among them is told to `-D`."""

    def before(name: str, value: Any) -> str:
        if name not in kernel.constant_names:
            return ""
        return f"{name} is a constant, set before the call: `-D {name}={value}`"

    return random_arguments(kernel.name, kernel.parameters, given, rng, before)
