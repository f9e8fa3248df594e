"""What can be said of a kernel without values for its compile-time names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from phobos_nb.contract import Dim
from phobos_nb.dtypes import DType
from phobos_nb.language.check.configuration import search_space
from phobos_nb.language.check.kernel import find_kernel
from phobos_nb.language.tree import Integer, KernelNode, ParameterNode, Program, ShapedType
from phobos_nb.language.unparse import unparse_expression, unparse_type
from phobos_nb.source import Span


@dataclass(frozen=True)
class SignatureParameter:
    """A parameter as written: `dtype` and names in `dims` may be compile-time parameters."""

    name: str
    kind: Literal["tensor", "scalar"]
    dtype: str
    dims: tuple[Dim, ...] = ()


@dataclass(frozen=True)
class CompileTimeParameter:
    """A parameter in `<...>`; kind is dtype, int or bool, `default` its text, empty without one."""

    name: str
    kind: str
    default: str


@dataclass(frozen=True)
class KernelSignature:
    """A kernel from outside. `space` holds all values of each `@autotune` name, in search order."""

    name: str
    parameters: tuple[SignatureParameter, ...]
    generics: tuple[CompileTimeParameter, ...]
    space: Mapping[str, tuple[int, ...]]
    attributes: tuple[str, ...]
    span: Span

    @property
    def constants(self) -> frozenset[str]:
        """Names that have an integer or bool value when compiling."""
        return frozenset(self.space) | {g.name for g in self.generics if g.kind != "dtype"}

    @property
    def symbols(self) -> tuple[str, ...]:
        """Run-time extents in order of first appearance; a launch may fix them as constants."""
        names = [d for p in self.parameters for d in p.dims if isinstance(d, str)]
        return tuple(n for n in dict.fromkeys(names) if n not in self.constants)

    def dtypes(self, found: Mapping[str, DType]) -> dict[str, DType]:
        """Values of dtype parameters from the dtypes of arguments by name; the first one counts."""
        kinds = {g.name for g in self.generics if g.kind == "dtype"}
        out: dict[str, DType] = {}
        for parameter in self.parameters:
            if parameter.dtype in kinds and parameter.name in found:
                out.setdefault(parameter.dtype, found[parameter.name])
        return out

    def __str__(self) -> str:
        listed = ", ".join(_shown(p) for p in self.parameters)
        return f"kernel {self.name}({listed})"


def _shown(parameter: SignatureParameter) -> str:
    if parameter.kind == "scalar":
        return f"{parameter.name}: {parameter.dtype}"
    dims = ", ".join(map(str, parameter.dims))
    return f"{parameter.name}: tensor<{parameter.dtype}>[{dims}]"


def kernel_signature(program: Program, name: str) -> KernelSignature:
    """The signature of a kernel. Raises PH108 for an unknown one."""
    kernel = find_kernel(program, name)
    return KernelSignature(
        name=kernel.name,
        parameters=tuple(_parameter(p) for p in kernel.parameters),
        generics=_generics(kernel),
        space=search_space(kernel),
        attributes=tuple(a.name for a in kernel.attributes),
        span=kernel.span,
    )


def _generics(kernel: KernelNode) -> tuple[CompileTimeParameter, ...]:
    return tuple(
        CompileTimeParameter(g.name, g.kind, unparse_expression(g.default) if g.default else "")
        for g in kernel.generics
    )


def _parameter(node: ParameterNode) -> SignatureParameter:
    kind = node.type
    if not isinstance(kind, ShapedType):
        return SignatureParameter(node.name, "scalar", unparse_type(kind))
    dims = tuple(d.value if isinstance(d, Integer) else unparse_expression(d) for d in kind.dims)
    return SignatureParameter(node.name, "tensor", kind.element.name, dims)
