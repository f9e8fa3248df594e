"""`phobos-nb doctor`: what is installed, what the GPU is, what to install."""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
import shutil
import sys
from collections.abc import Iterator

from phobos_nb import __version__
from phobos_nb.cli.options import Commands
from phobos_nb.diagnostics import PhobosError
from phobos_nb.options import CompileOptions, environment

PACKAGES = {
    "base": ("numpy", "pandas", "matplotlib", "xdsl", "ml_dtypes", "platformdirs", "filelock"),
    "notebook": ("ipython", "ipywidgets", "anywidget", "jupyterlab"),
    "compiler": (
        "cuda-bindings", "nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvdisasm",
    ),
    "GPU": ("cupy-cuda13x", "cupy-cuda12x", "torch", "triton"),
}  # fmt: skip


def register(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser("doctor", help="say what is installed and what is missing")
    parser.set_defaults(run=run)


def run(parsed: argparse.Namespace) -> int:  # noqa: ARG001
    """Print the report; always 0, since a machine without a GPU is no fault."""
    for line in report():
        print(line)
    return 0


def report() -> Iterator[str]:
    """The lines of the report."""
    yield f"phobos_nb {__version__}, Python {platform.python_version()}, {platform.platform()}"
    for group, names in PACKAGES.items():
        yield f"{group:9} {', '.join(f'{n} {version(n)}' for n in names)}"
    yield from _tools()
    yield from _gpu()
    yield from _choices()


def version(package: str) -> str:
    """A package's version, or a dash."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "-"


def _tools() -> Iterator[str]:
    from phobos_nb.cuda import nvrtc
    from phobos_nb.cuda.sass import find_nvdisasm

    try:
        yield "nvrtc     {}.{}".format(*nvrtc.version())
    except PhobosError as error:
        yield f"nvrtc     {error}"
    yield f"nvdisasm  {find_nvdisasm() or 'not found (nvidia-cuda-nvdisasm); optional'}"
    name = environment().mlir_opt or "mlir-opt-22"
    yield f"mlir-opt  {shutil.which(name) or f'{name} not found (Debian: mlir-22-tools); optional'}"


def _missing() -> list[str]:
    """The extras whose tools are not found; none where there are no packages of them."""
    from phobos_nb.cuda import nvrtc
    from phobos_nb.cuda.sass import find_nvdisasm

    if sys.platform == "darwin":
        return []
    found: list[str] = []
    try:
        nvrtc.library()
    except PhobosError:
        found.append("nvrtc")
    return found if find_nvdisasm() else [*found, "sass"]


def _install(extras: list[str], why: str) -> Iterator[str]:
    """What to install, if anything; quoted, since shells read the brackets."""
    if extras:
        yield f"install   pip install 'phobos_nb[{','.join(extras)}]', {why}"


def _gpu() -> Iterator[str]:
    from phobos_nb.cuda.driver import describe_gpus, driver_version, native_chip

    driver = driver_version()
    if driver is None:
        yield "driver    none: no GPU on this machine; compiling, simulating and NumPy calls work"
        yield from _install(_missing(), "for PTX and machine code")
        return
    yield f"driver    supports CUDA {driver[0]}.{driver[1]}"
    yield from (f"GPU       {line}" for line in describe_gpus())
    if native_chip() is None:
        extra = "cu13" if driver[0] >= 13 else "cu12"
        yield from _install([extra, *(x for x in _missing() if x == "sass")], "to launch on the GPU")


def _choices() -> Iterator[str]:
    from phobos_nb.compilation.configuration import resolve

    env = environment()
    configuration = resolve(CompileOptions())
    yield f"target    {configuration.target.name} ({configuration.chip_reason})"
    from phobos_nb.cuda.cache import Cache

    cache = Cache()
    yield f"cache     {f'off: {cache.trouble}' if cache.trouble else cache.folder}"
    yield f"indices   {configuration.variant.index_bits} bits ({configuration.index_reason})"
    named = {"PHOBOS_CACHE_DIR": env.cache_dir, "PHOBOS_LOG": env.log, "PHOBOS_MLIR_OPT": env.mlir_opt}
    for name, value in named.items():
        if value:
            yield f"{name}={value}"
