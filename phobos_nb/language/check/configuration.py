"""Compile-time names of a kernel: `@autotune` spaces, generics, fixed extents, and their values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from phobos_nb.diagnostics import Diagnostics
from phobos_nb.dtypes import SCALARS, DType
from phobos_nb.language.space import search_values
from phobos_nb.language.suggest import did_you_mean
from phobos_nb.language.tree import (
    Boolean,
    Expression,
    Generic,
    Integer,
    KernelNode,
    Name,
    Prefix,
    ShapedType,
    SpaceArgument,
)
from phobos_nb.source import Span


@dataclass(frozen=True)
class Configuration:
    """The values for one compilation. `flags` are the names in `constants` that are bool."""

    constants: Mapping[str, int]
    flags: frozenset[str]
    dtypes: Mapping[str, DType]
    space: Mapping[str, tuple[int, ...]]


def search_space(kernel: KernelNode) -> dict[str, tuple[int, ...]]:
    """All values of every `@autotune` name."""
    spaces = [
        argument
        for attribute in kernel.attributes
        if attribute.name == "autotune"
        for argument in attribute.arguments
        if isinstance(argument, SpaceArgument) and argument.values
    ]
    return {s.name: search_values(s.values) for s in spaces}


def tensor_dims(kernel: KernelNode) -> Iterator[tuple[str, Span]]:
    """The names that stand as dims of the kernel's tensors, in order of appearance."""
    for parameter in kernel.parameters:
        if isinstance(parameter.type, ShapedType):
            for dim in parameter.type.dims:
                if isinstance(dim, Name):
                    yield dim.text, dim.span


def configure(
    kernel: KernelNode,
    constants: Mapping[str, int],
    choices: Collection[str],
    dtypes: Mapping[str, DType | str],
    diagnostics: Diagnostics,
) -> Configuration:
    """Values for every compile-time name: given, else the default, else the space's first.

    Reports unknown names (PH404), values of the wrong kind (PH405) and missing ones (PH111), and notes
    values outside a space (PH409).
    """
    space = search_space(kernel)
    generics = {g.name: g for g in kernel.generics}
    symbols = {name for name, _ in tensor_dims(kernel)}
    known = {*space, *symbols, *(n for n, g in generics.items() if g.kind != "dtype")}
    _report_unknown(kernel, constants, known, choices, diagnostics)
    values = {name: values[0] for name, values in space.items()}
    for name, generic in generics.items():
        if generic.kind != "dtype" and name not in values and name not in constants:
            values[name] = _default(generic, diagnostics)
    for name, value in constants.items():
        if name in known:
            values[name] = _given(kernel, name, value, diagnostics)
            _note_outside(kernel, name, values[name], space, diagnostics)
    flags = frozenset(name for name, g in generics.items() if g.kind == "bool")
    return Configuration(values, flags, _dtypes(kernel, dtypes, diagnostics), space)


def _report_unknown(
    kernel: KernelNode,
    constants: Mapping[str, int],
    known: set[str],
    choices: Collection[str],
    diagnostics: Diagnostics,
) -> None:
    for name in constants:
        if name not in known and name not in choices:
            message = f"the kernel `{kernel.name}` has no constant `{name}`"
            help = names_help(name, known, choices)
            diagnostics.error("PH404", message, kernel.name_span, help=help)


def names_help(name: str, own: Collection[str], choices: Collection[str]) -> str:
    """What a name that is no constant may have meant, what the kernel has, where the rest stands."""
    close = did_you_mean(name, own) or did_you_mean(name, choices)
    has = f"it has {', '.join(sorted(own))}" if own else "it has no compile-time names"
    sentences = f"{close} {has}".strip()
    return f"{sentences}; docs/reference/choices.md lists the compiler's own" if choices else sentences


def _note_outside(
    kernel: KernelNode,
    name: str,
    value: int,
    space: Mapping[str, tuple[int, ...]],
    diagnostics: Diagnostics,
) -> None:
    """PH409 for a value that a search would not have tried."""
    if name in space and value not in space[name]:
        listed = ", ".join(map(str, space[name]))
        message = f"`{name}` = {value} is not in the list of `@autotune`: {listed}"
        help = "it is compiled as given; a search tries only the values of the list"
        diagnostics.note("PH409", message, kernel.name_span, help=help)


def _given(kernel: KernelNode, name: str, value: object, diagnostics: Diagnostics) -> int:
    if isinstance(value, int):
        return int(value)
    message = f"the constant `{name}` is an integer, found {value!r}"
    diagnostics.error("PH405", message, kernel.name_span)
    return 1


def _default(generic: Generic, diagnostics: Diagnostics) -> int:
    value = _literal(generic.default)
    if value is None:
        given = "has no value" if generic.default is None else "has a default that is not a literal"
        help = f"give it a default, `-D {generic.name}=...` or `specialize({generic.name}=...)`"
        diagnostics.error("PH111", f"`{generic.name}` {given}", generic.span, help=help)
        return 1
    if isinstance(value, bool) != (generic.kind == "bool"):
        message = f"`{generic.name}` is {generic.kind}, but its default is not"
        diagnostics.error("PH405", message, generic.span)
    return int(value)


def _literal(node: Expression | None) -> int | bool | None:
    match node:
        case Integer(value=value) | Boolean(value=value):
            return value
        case Prefix(op="-", operand=Integer(value=value)):
            return -value
        case _:
            return None


def _dtypes(
    kernel: KernelNode, given: Mapping[str, DType | str], diagnostics: Diagnostics
) -> dict[str, DType]:
    found: dict[str, DType] = {}
    generics = [g for g in kernel.generics if g.kind == "dtype"]
    _report_strays(kernel, given, {g.name for g in generics}, diagnostics)
    for generic in generics:
        default = generic.default.text if isinstance(generic.default, Name) else None
        if generic.name in given:
            found[generic.name] = _given_dtype(generic, given[generic.name], diagnostics)
        elif default is not None and default in SCALARS:
            found[generic.name] = SCALARS[default]
        else:
            help = f"give it a default such as `{generic.name}: dtype = f16`"
            message = f"the dtype `{generic.name}` has no value"
            diagnostics.error("PH111", message, generic.span, help=help)
            found[generic.name] = SCALARS["f32"]
    return found


def _given_dtype(generic: Generic, value: DType | str, diagnostics: Diagnostics) -> DType:
    """The dtype of that name; PH405 where there is none."""
    if isinstance(value, DType):
        return value
    if value not in SCALARS:
        help = did_you_mean(value, SCALARS) or f"the dtypes are {', '.join(SCALARS)}"
        diagnostics.error(
            "PH405", f"`{generic.name}` is a dtype, found {value}", generic.span, help=help
        )
    return SCALARS.get(value, SCALARS["f32"])


def _report_strays(
    kernel: KernelNode, given: Mapping[str, object], known: set[str], diagnostics: Diagnostics
) -> None:
    """PH404 for dtypes given to names that are no dtype parameters."""
    for name, value in given.items():
        if name not in known:
            has = f"its dtype parameters: {', '.join(sorted(known))}" if known else "it has none"
            help = _meant_chip(value) or did_you_mean(name, known) or has
            message = f"the kernel `{kernel.name}` has no dtype parameter `{name}`"
            diagnostics.error("PH404", message, kernel.name_span, help=help)


def _meant_chip(value: object) -> str:
    """What to write where a value is no dtype but the name of a GPU's architecture."""
    named = isinstance(value, str) and value.startswith(("sm_", "compute_"))
    return f'a GPU is chosen by `chip="{value}"`' if named else ""
