"""One kernel of a program for one configuration: from its syntax tree to a typed kernel."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import cast

from phobos_nb.contract import Parameter, ScalarParameter, TensorParameter
from phobos_nb.diagnostics import Diagnostic, Diagnostics, PhobosError, Severity
from phobos_nb.dtypes import DType
from phobos_nb.language import usage
from phobos_nb.language.check import rules
from phobos_nb.language.check.attributes import check_attributes
from phobos_nb.language.check.block import check_statements
from phobos_nb.language.check.bounds import check_bounds
from phobos_nb.language.check.checker import Checker
from phobos_nb.language.check.configuration import Configuration, configure
from phobos_nb.language.check.limits import Room, check_sizes
from phobos_nb.language.check.parameters import bind_constants, bind_parameters
from phobos_nb.language.check.unused import warn_of_no_use, warn_of_uncalled
from phobos_nb.language.grid import infer_grid
from phobos_nb.language.registry import Attributes, Builtins
from phobos_nb.language.review import review
from phobos_nb.language.suggest import did_you_mean
from phobos_nb.language.tree import KernelNode, Program
from phobos_nb.language.typed import (
    AttributeUse,
    ScalarArgument,
    SharedArray,
    Statement,
    Tensor,
    TypedKernel,
)
from phobos_nb.language.types import ScalarType

DEFAULT_THREADS = 256


def check(
    program: Program,
    kernel_name: str,
    constants: Mapping[str, int],
    builtins: Builtins,
    attributes: Attributes,
    dtypes: Mapping[str, DType | str] | None = None,
    choices: Collection[str] = (),
    room: Room | None = None,
) -> TypedKernel:
    """The typed kernel for one configuration.

    constants: values for `@autotune` names, int and bool parameters, and tensor dims to be fixed.
    Names not given take their default or the first value of their space. dtypes: values of dtype
    parameters, as such or by name. choices: names in `constants` that are the compiler's own. room: the
    shared memory of the chip that was asked for.
    Raises `PhobosError` with every error found; warnings and notes are in `findings`.
    """
    kernel = find_kernel(program, kernel_name)
    diagnostics = Diagnostics(program.source)
    configuration = configure(kernel, constants, choices, dtypes or {}, diagnostics)
    settings = len(diagnostics.items)
    checked = _check_body(program, kernel, configuration, frozenset(), builtins, diagnostics)
    written = usage.written(checked.body, builtins)
    if written & usage.element_read(checked.body):
        del diagnostics.items[settings:]
        checked = _check_body(program, kernel, configuration, written, builtins, diagnostics)
    symbols = {d: None for t in checked.tensors for d in t.type.dims if isinstance(d, str)}
    uses = check_attributes(
        kernel.attributes, attributes, configuration.constants, tuple(symbols), diagnostics
    )
    _drop_repeated(diagnostics)
    diagnostics.raise_errors()
    typed = _assemble(program, kernel, configuration, checked, uses, builtins)
    check_sizes(typed.body, typed.shared, typed.threads, diagnostics, room)
    check_bounds(typed.body, diagnostics)
    diagnostics.raise_errors()
    review(typed, diagnostics)
    warn_of_no_use(kernel, typed, builtins, diagnostics)
    warn_of_uncalled(program, kernel, diagnostics)
    for use in uses:
        if (review_use := attributes[use.name].review) is not None:
            review_use(typed, diagnostics)
    return replace(typed, findings=_findings(diagnostics))


def check_change(
    program: Program,
    before: TypedKernel,
    builtins: Builtins,
    dtypes: Mapping[str, DType | str],
    choices: Collection[str] = (),
) -> TypedKernel:
    """The typed kernel of a program that differs from a checked one in its statements only.

    For trying many changes: no warnings, and grid, attributes and parameters are the checked one's.
    Raises `PhobosError` as `check` does.
    """
    kernel = find_kernel(program, before.name)
    diagnostics = Diagnostics(program.source)
    configuration = configure(kernel, before.constants, choices, dtypes, diagnostics)
    written = frozenset(p.name for p in before.tensor_parameters if p.writes)
    checked = _check_body(program, kernel, configuration, written, builtins, diagnostics)
    diagnostics.raise_errors()
    return replace(before, tensors=checked.tensors, shared=checked.shared, body=checked.body)


def _drop_repeated(diagnostics: Diagnostics) -> None:
    """Keep the first of findings that only differ in the call that led to them."""
    unique = {(d.code, d.message, d.span): d for d in reversed(diagnostics.items)}
    diagnostics.items[:] = reversed(unique.values())


def _findings(diagnostics: Diagnostics) -> tuple[Diagnostic, ...]:
    return tuple(d for d in diagnostics.items if d.severity is not Severity.ERROR)


def find_kernel(program: Program, name: str) -> KernelNode:
    """The kernel of that name. Raises PH108 with the closest one."""
    for kernel in program.kernels:
        if kernel.name == name:
            return kernel
    diagnostics = Diagnostics(program.source)
    names = [k.name for k in program.kernels]
    help = did_you_mean(name, names) or (f"there are {', '.join(names)}" if names else "")
    diagnostics.error("PH108", f"there is no kernel `{name}`", None, help=help)
    raise PhobosError(diagnostics.items, program.source)


@dataclass(frozen=True)
class _Checked:
    parameters: tuple[Tensor | ScalarArgument, ...]
    shared: tuple[SharedArray, ...]
    body: tuple[Statement, ...]

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return tuple(p for p in self.parameters if isinstance(p, Tensor))


def _check_body(
    program: Program,
    kernel: KernelNode,
    configuration: Configuration,
    written: frozenset[str],
    builtins: Builtins,
    diagnostics: Diagnostics,
) -> _Checked:
    checker = Checker(
        diagnostics=diagnostics,
        builtins=builtins,
        functions={f.name: f for f in program.functions},
        expression_rules=rules.EXPRESSIONS,
        statement_rules=rules.STATEMENTS,
        constants=configuration.constants,
        written=written,
    )
    bind_constants(checker, configuration, kernel.name_span)
    parameters = bind_parameters(checker, kernel)
    with checker.nested_scope():
        check_statements(checker, kernel.body)
    return _Checked(parameters, tuple(checker.shared), tuple(checker.block))


def _assemble(
    program: Program,
    kernel: KernelNode,
    configuration: Configuration,
    checked: _Checked,
    uses: tuple[AttributeUse, ...],
    builtins: Builtins,
) -> TypedKernel:
    values = {use.name: use.values for use in uses}
    launch = values.get("launch", {})
    return TypedKernel(
        name=kernel.name,
        parameters=_parameters(checked, builtins),
        tensors=checked.tensors,
        shared=checked.shared,
        body=checked.body,
        attributes=uses,
        constants=configuration.constants,
        space=configuration.space,
        promises=cast(Mapping[str, int], values.get("aligned", {})),
        threads=cast(int, launch.get("threads", DEFAULT_THREADS)),
        min_blocks=cast(int, launch.get("min_blocks", 0)),
        max_registers=cast(int, launch.get("max_registers", 0)),
        grid=infer_grid(checked.body, builtins, program.source),
        span=kernel.span,
        source=program.source,
    )


def _parameters(checked: _Checked, builtins: Builtins) -> tuple[Parameter, ...]:
    reads, writes = usage.read(checked.body), usage.written(checked.body, builtins)
    found: list[Parameter] = []
    for p in checked.parameters:
        if isinstance(p, Tensor):
            dtype, dims = p.type.dtype.name, p.type.dims
            found.append(TensorParameter(p.name, dtype, dims, p.name in reads, p.name in writes))
        else:
            assert isinstance(p.type, ScalarType)
            found.append(ScalarParameter(p.name, p.type.dtype.name))
    return tuple(found)
