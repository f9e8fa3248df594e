"""What a `%%phobos` cell does: compile, put the kernels into the namespace, show them, run them."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any

from phobos_nb.compilation.compilation import Compilation
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.compilation.module import module_of, without_kernel
from phobos_nb.diagnostics import PhobosError
from phobos_nb.magic.faults import CellError
from phobos_nb.magic.options import CellOptions, arguments_from
from phobos_nb.source import Source
from phobos_nb.views.compilation import CompilationView, Note
from phobos_nb.views.display import Bundle, bundle
from phobos_nb.views.from_compilation import notes_of, view_of

if TYPE_CHECKING:
    from phobos_nb.views.sliders_widget import SlidersWidget

Namespace = MutableMapping[str, Any]


def define(
    namespace: Namespace, source: Source, options: CellOptions
) -> Iterator[Bundle | SlidersWidget]:
    """Define a cell's kernels in the namespace and yield what to show of each.

    Nothing enters the namespace unless every kernel of the cell compiles; a mistake raises `CellError`.
    """
    try:
        module = module_of(source, options.compile)
        kernels = list(module)
        views = [_quiet(k.compile()) if options.quiet else view_of(k.compile()) for k in kernels]
    except PhobosError as error:
        raise CellError(error) from None
    if said := without_kernel(module):
        yield {"text/plain": said}
    notes = {kernel.name: list(overwritten(namespace, kernel.name)) for kernel in kernels}
    namespace.update({kernel.name: kernel for kernel in kernels})
    for view in views:
        noted = view.with_notes(notes[view.name])
        if not options.quiet:
            yield bundle(noted, options.panes)
        elif warned := noted.warned():
            yield {"text/plain": warned}
    if options.interact:
        yield from (sliders(namespace, kernel) for kernel in kernels)
    if options.run:
        run(namespace, kernels)


def sliders(namespace: Namespace, kernel: Kernel) -> Bundle | SlidersWidget:
    """Sliders over the variables named as the parameters, or over made arrays where one is missing.

    What keeps a kernel from having any, such as arrays that do not fit, is shown in their place.
    """
    names = [p.name for p in kernel.parameters]
    given = [namespace[n] for n in names] if all(n in namespace for n in names) else []
    try:
        return kernel.interact(*given)
    except PhobosError as error:
        return {"text/plain": f"{kernel.name} has no sliders: {error}"}


def _quiet(compilation: Compilation) -> CompilationView:
    """A view of the findings alone, which makes no code."""
    return CompilationView(compilation.name, (), (), notes_of(compilation))


def overwritten(namespace: Namespace, name: str) -> Iterator[Note]:
    """A warning when a kernel takes a name that meant something else."""
    if name in namespace:
        if not isinstance(namespace[name], Kernel):
            kind = type(namespace[name]).__name__
            yield Note("warning", f"{name} held a value of type {kind}; it is the kernel now")
    elif hasattr(builtins, name):
        yield Note("warning", f"{name} is the kernel now; `del {name}` brings Python's own back")


def run(namespace: Namespace, kernels: list[Kernel]) -> None:
    """Call every kernel of the cell with the variables named as its parameters."""
    for kernel in kernels:
        names = [p.name for p in kernel.parameters]
        kernel(*arguments_from(namespace, kernel.name, names))
