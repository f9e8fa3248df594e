"""The cell magic `%%phobos` as IPython knows it."""

# pyright: basic, reportUntypedFunctionDecorator=false
# IPython's decorators carry no types.

from __future__ import annotations

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from phobos_nb.magic.cell import cell_source, raw_cell
from phobos_nb.magic.define import define
from phobos_nb.magic.options import PANES, cell_options
from phobos_nb.views.display import register
from phobos_nb.views.reference import brief


@magics_class
class PhobosMagics(Magics):
    """The magics of the kit; loaded by `%load_ext phobos_nb`."""

    @magic_arguments()
    @argument("--chip", help="target, such as sm_80; else PHOBOS_CHIP, else this GPU's, else sm_80")
    @argument("--index-bits", type=int, help="width of sizes and offsets, 32 or 64")
    @argument(
        "-D",
        "--define",
        nargs="+",
        action="append",
        metavar="NAME=VALUE",
        help="values of tuning names and generics",
    )
    @argument(
        "--show",
        metavar="PANES",
        help=f"panes to open at first, with commas between: {', '.join(PANES)}",
    )
    @argument(
        "--run",
        action="store_true",
        help="call the kernels with the variables named as their parameters",
    )
    @argument(
        "--interact",
        action="store_true",
        help="a slider per constant, over the variables named as the parameters or over made arrays",
    )
    @argument("--quiet", action="store_true", help="define the kernels, show warnings alone")
    @argument("--debug", action="store_true", help="compile asserts and checks in")
    @cell_magic
    def phobos(self, line: str, cell: str) -> None:
        """Compile the cell's Phobos kernels into the notebook's namespace and show them.

        A mistake raises, with the line numbers of this cell, so that "Run all" stops there.
        IPython puts values for {name} and $name into this line before it is read, so that
        `-D TILE_M={tile}` takes the tile size from a Python variable.
        """
        options = cell_options(parse_argstring(self.phobos, line))
        shell = self.shell
        assert shell is not None
        for shown in define(shell.user_ns, cell_source(cell, raw_cell(shell)), options):
            display(shown, raw=isinstance(shown, dict))


def load(shell: InteractiveShell) -> None:
    """Register the magic, with the tables of the language in its help, and what shows compilations."""
    help = PhobosMagics.phobos.__doc__ or ""
    if brief() not in help:
        PhobosMagics.phobos.__doc__ = f"{help}\n{brief()}\n"
    shell.register_magics(PhobosMagics)
    register(shell.display_formatter.mimebundle_formatter)  # type: ignore  (a traitlets instance)
