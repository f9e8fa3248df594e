"""What a kernel leaves undone: parameters that it never names, and kernels without a result."""

from __future__ import annotations

from phobos_nb.diagnostics import Diagnostics
from phobos_nb.language.registry import Builtins
from phobos_nb.language.tree import KernelNode, ParameterNode, Program, ShapedType
from phobos_nb.language.tree_walk import names
from phobos_nb.language.typed import Assert, Print, TypedKernel
from phobos_nb.language.usage import written
from phobos_nb.language.walk import statements


def warn_of_no_use(
    node: KernelNode, kernel: TypedKernel, builtins: Builtins, diagnostics: Diagnostics
) -> None:
    """Warn of parameters that the text never names (PH119) and of kernels that store nothing (PH213)."""
    named = names(node.body)
    for parameter in node.parameters:
        if parameter.name not in named and not _gives_an_extent(parameter, node, named):
            message = f"the parameter `{parameter.name}` is never used"
            diagnostics.warn("PH119", message, parameter.span, help="leave it out, or use it")
    shows = any(isinstance(s, Print | Assert) for s in statements(kernel.body))
    if not shows and not written(kernel.body, builtins):
        message = f"`{node.name}` stores nothing: no tensor holds what it computes"
        diagnostics.warn("PH213", message, node.name_span, help="store to a tensor: `A[i :+ n] = ...`")


def warn_of_uncalled(program: Program, node: KernelNode, diagnostics: Diagnostics) -> None:
    """Warn, with the first kernel, of functions that no kernel calls (PH120)."""
    if node is not program.kernels[0]:
        return
    called = names(s for k in program.kernels for s in k.body)
    reached: set[str] = set()
    while left := [f for f in program.functions if f.name in called - reached]:
        reached |= {f.name for f in left}
        called |= names(s for f in left for s in f.body)
    for function in program.functions:
        if function.name not in reached:
            message = f"no kernel calls `{function.name}`: it is not checked"
            help = "a function is checked where it is called, with the types that it is given there"
            diagnostics.warn("PH120", message, function.name_span, help=help)


def _gives_an_extent(parameter: ParameterNode, node: KernelNode, named: set[str]) -> bool:
    """Whether the body names an extent that only this parameter has."""
    others = {d for p in node.parameters if p is not parameter for d in _dims(p)}
    return any(dim in named and dim not in others for dim in _dims(parameter))


def _dims(parameter: ParameterNode) -> set[str]:
    kind = parameter.type
    return names(kind.dims) if isinstance(kind, ShapedType) else set()
