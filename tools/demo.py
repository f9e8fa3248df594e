"""Run the GEMM tutorial in a fresh kernel and write it as one html page below build/report."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "notebooks" / "01_gemm.ipynb"
REPORT = ROOT / "build" / "report" / "01_gemm.html"


def run(notebook: nbformat.NotebookNode) -> str:
    """Run every cell in place; the error of the first that fails, or nothing."""
    client = NotebookClient(
        notebook, timeout=600, kernel_name="python3", extra_arguments=["--log-level=ERROR"]
    )
    try:
        client.execute(cwd=str(NOTEBOOK.parent))
    except CellExecutionError as error:
        return str(error)
    return ""


def write(notebook: nbformat.NotebookNode, path: Path = REPORT) -> None:
    """Write the page; it fetches nothing, so it opens without a network."""
    exporter = HTMLExporter(template_name="lab", mathjax_url="", require_js_url="", jquery_url="")
    page, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": "phobos_nb: GEMM"}})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page.replace("</head>", f"<style>{dark(exporter)}</style></head>", 1), "utf-8")


def dark(exporter: HTMLExporter) -> str:
    """JupyterLab's dark theme where the system is dark; the views follow it by its variables."""
    environment = exporter.environment
    theme, _, _ = environment.loader.get_source(environment, "static/theme-dark.css")
    return f":root{{color-scheme:light dark}}\n@media (prefers-color-scheme:dark){{{theme}}}"


def main() -> int:
    """Run, write, say where; 1 when a cell failed."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    cells = sum(cell.cell_type == "code" for cell in notebook.cells)
    print(f"running {NOTEBOOK.relative_to(ROOT)} ({cells} code cells)")
    failure = run(notebook)
    write(notebook)
    print(failure or "all cells ran")
    print(f"report: {REPORT.relative_to(ROOT)}")
    return 1 if failure else 0


if __name__ == "__main__":
    sys.exit(main())
