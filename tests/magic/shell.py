"""An IPython shell that runs cells as a notebook does, and the kernel of most tests."""

from __future__ import annotations

from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from IPython.utils.capture import RichOutput, capture_output

SCALE = """kernel scale(A: tensor<f32>[N], s: f32) {
  let i = ctx.block.x * 256
  A[i :+ 256] = A[i :+ 256] * s
}"""


class Cells:
    """A shell with the extension loaded; `run` runs a cell as the notebook does."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self.names = shell.user_ns

    def run(self, cell: str) -> list[RichOutput]:
        """Run a cell that must succeed; what it displayed."""
        with capture_output() as captured:
            result = self.shell.run_cell(cell, store_history=True)
        result.raise_error()
        return captured.outputs

    def fail(self, cell: str) -> BaseException:
        """Run a cell that must fail; its error."""
        with capture_output():
            result: ExecutionResult = self.shell.run_cell(cell, store_history=True)
        error = result.error_before_exec or result.error_in_exec
        assert error is not None
        return error
