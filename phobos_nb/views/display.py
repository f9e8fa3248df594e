"""What is sent to a notebook: the same content in several forms, the richest of which is shown.

Compiler objects know nothing of views. IPython is told by name how to show them, which loads
neither their classes nor a view before one is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from phobos_nb.views.compilation import CompilationView, summary
from phobos_nb.views.html import OPEN, page
from phobos_nb.views.shared_memory import to_text
from phobos_nb.views.svg import ruler

if TYPE_CHECKING:
    from phobos_nb.compilation.compilation import Compilation
    from phobos_nb.compilation.profile import Profile
    from phobos_nb.lower.plan_shared_memory import SharedPlan
    from phobos_nb.simulate.difference import Differences
    from phobos_nb.tune.live import LiveSearch
    from phobos_nb.tune.result import Tuning
    from phobos_nb.tune.shapes_result import ShapesTuning

Bundle = dict[str, str]


def bundle(view: CompilationView, panes: tuple[str, ...] | None = None) -> Bundle:
    """A compilation as html and text; `panes` are the titles of those open at first."""
    return {"text/plain": summary(view), "text/html": page(view, OPEN if panes is None else panes)}


def show_compilation(compilation: Compilation, *_: object) -> Bundle:
    """What a notebook shows of a `Compilation`."""
    from phobos_nb.views.from_compilation import view_of

    return bundle(view_of(compilation))


def show_shared_memory(plan: SharedPlan, *_: object) -> Bundle:
    """The byte ruler: a picture of its own, which GitHub shows too, and text."""
    from phobos_nb.views.from_compilation import memory_of_plan

    memory = memory_of_plan(plan)
    picture = {"image/svg+xml": ruler(memory)} if memory.total else {}
    return {"text/plain": to_text(memory), **picture}


def show_profile(profile: Profile, *_: object) -> Bundle:
    """A call under ncu: per source line the GPU's counts beside the simulator's."""
    from phobos_nb.views.profile import text, view_of
    from phobos_nb.views.profile_html import page as profile_page

    view = view_of(profile)
    return {"text/plain": text(view), "text/html": profile_page(view)}


def show_comparison(found: Differences, *_: object) -> Bundle:
    """What a notebook shows of a comparison with the right answer."""
    from phobos_nb.views.comparison import view_of
    from phobos_nb.views.comparison_html import page as comparison_page

    return {"text/plain": repr(found), "text/html": comparison_page(view_of(found))}


def show_tuning(tuning: Tuning, *_: object) -> Bundle:
    """What a notebook shows of a search: html and text."""
    from phobos_nb.views.autotune import view_of
    from phobos_nb.views.autotune_html import page as search_page
    from phobos_nb.views.autotune_text import text

    view = view_of(tuning)
    return {"text/plain": text(view), "text/html": search_page(view)}


def show_shapes(tuning: ShapesTuning, *_: object) -> Bundle:
    """What a notebook shows of a search of several shapes: html and text."""
    from phobos_nb.views.shapes_html import page as shapes_page

    return {"text/plain": repr(tuning), "text/html": shapes_page(tuning)}


def show_live_search(search: LiveSearch, *_: object) -> Any:
    """A search in the background as a widget, with html and text beside it."""
    from phobos_nb.views.autotune_widget import AutotuneWidget

    return AutotuneWidget(search)._repr_mimebundle_()  # pyright: ignore[reportPrivateUsage] - IPython's protocol


class BundleFormatter(Protocol):
    """What is used of IPython's formatter of MIME bundles."""

    def for_type_by_name(self, module: str, name: str, show: Callable[..., Bundle], /) -> object:
        """Show objects of a class by calling a function, without importing the class."""
        ...


def register(formatter: BundleFormatter) -> None:
    """Tell a formatter how to show compilations and shared-memory plans."""
    formatter.for_type_by_name("phobos_nb.compilation.compilation", "Compilation", show_compilation)
    formatter.for_type_by_name("phobos_nb.compilation.profile", "Profile", show_profile)
    formatter.for_type_by_name("phobos_nb.simulate.difference", "Differences", show_comparison)
    formatter.for_type_by_name("phobos_nb.tune.result", "Tuning", show_tuning)
    formatter.for_type_by_name("phobos_nb.tune.shapes_result", "ShapesTuning", show_shapes)
    formatter.for_type_by_name("phobos_nb.tune.live", "LiveSearch", show_live_search)
    formatter.for_type_by_name("phobos_nb.lower.plan_shared_memory", "SharedPlan", show_shared_memory)


def register_with_ipython() -> None:
    """The same for the shell of this process, where there is one, without `%load_ext`."""
    import IPython

    shell: Any = IPython.get_ipython()  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType, reportPrivateImportUsage]
    if shell is not None:
        register(shell.display_formatter.mimebundle_formatter)
