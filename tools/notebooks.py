"""Run notebooks in place and save them as they are committed: outputs, no times, no widget state."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


WIDGET = "application/vnd.jupyter.widget-view+json"


def clean(notebook: nbformat.NotebookNode) -> None:
    """Drop what differs between machines and runs."""
    notebook.metadata = nbformat.from_dict(
        {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
    )
    for cell in notebook.cells:
        tags = cell.metadata.get("tags")
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
        for output in cell.get("outputs", []):
            if "text/html" in output.get("data", {}):
                output["data"].pop(WIDGET, None)  # its model is gone; the html beside it is shown


def main(paths: list[str]) -> int:
    """Run and save each notebook; a cell that fails without saying so in a tag ends the run."""
    for path in map(Path, paths):
        notebook = nbformat.read(path, as_version=4)
        clean(notebook)
        client = NotebookClient(
            notebook, timeout=600, kernel_name="python3", extra_arguments=["--log-level=ERROR"]
        )
        client.execute(cwd=str(path.parent))
        clean(notebook)
        nbformat.write(notebook, path)
        print(f"{path}: {path.stat().st_size // 1024} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
