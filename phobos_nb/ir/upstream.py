"""Upstream MLIR as a second opinion: its verifier, its parser, and its own way to PTX.

Needs `mlir-opt` of LLVM 22: the path in PHOBOS_MLIR_OPT, else `mlir-opt-22` or `mlir-opt` on PATH.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from xdsl.dialects.builtin import IndexType, MemRefType, ModuleOp
from xdsl.ir import Attribute

from phobos_nb.ir.dialects.gpu import FuncOp
from phobos_nb.ir.fold import width_of
from phobos_nb.ir.text import generic, parse
from phobos_nb.ir.upstream_form import upstream_form
from phobos_nb.ir.upstream_ops import upstream_ops
from phobos_nb.options import child_environment, environment
from phobos_nb.target import Target

TIMEOUT = 120
"""Seconds after which a run of upstream's tool counts as failed."""


class UpstreamError(Exception):
    """Upstream refused a module, changed it, or is not installed."""


def mlir_opt() -> str | None:
    """The path of upstream's `mlir-opt`, None when there is none."""
    chosen = environment().mlir_opt
    names = (chosen,) if chosen else ("mlir-opt-22", "mlir-opt")
    return next((path for path in map(shutil.which, names) if path), None)


def cuda_toolkit() -> Path | None:
    """A folder with `nvvm/libdevice`, the device's math library; None when there is none.

    Looked for in the environment, in NVIDIA's wheels and in the usual place of an installed toolkit.
    """
    wheels = importlib.util.find_spec("nvidia")
    folders = wheels.submodule_search_locations if wheels is not None else None
    candidates = [
        environment().cuda_root,
        *(found for folder in folders or () for found in Path(folder).glob("c*")),
        Path("/usr/local/cuda"),
        *sorted(Path("/usr/local").glob("cuda-*"), reverse=True),
    ]
    library = Path("nvvm", "libdevice", "libdevice.10.bc")
    return next((root for root in candidates if root is not None and (root / library).exists()), None)


def _run(text: str, *options: str) -> str:
    tool = mlir_opt()
    if tool is None:
        raise UpstreamError("mlir-opt was not found; set PHOBOS_MLIR_OPT to the one of LLVM 22")
    toolkit = cuda_toolkit()
    done = subprocess.run(
        [tool, *options],
        input=text,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
        env=child_environment({} if toolkit is None else {"CUDA_ROOT": str(toolkit)}),
    )
    if done.returncode != 0:
        raise UpstreamError(done.stderr.strip() or f"{tool} ended with {done.returncode}")
    return done.stdout


def verify(module: ModuleOp) -> None:
    """Let upstream parse and verify a thread-level module.

    Operations of our own are put as `upstream_ops` puts them.

    Raises
    ------
    UpstreamError
        With upstream's message.
    """
    _run(generic(_upstream_ops(module)))


def _upstream_ops(module: ModuleOp) -> ModuleOp:
    try:
        return upstream_ops(module)
    except NotImplementedError as error:
        raise UpstreamError(str(error)) from error


def roundtrip(module: ModuleOp) -> ModuleOp:
    """The module after upstream has read and printed it, operations of our own by `upstream_ops`.

    Upstream drops properties that it does not know without a word, so the result is compared.

    Raises
    ------
    UpstreamError
        When it refuses the module, or gives back another one.
    """
    module = _upstream_ops(module)
    again = parse(_run(generic(module), "--mlir-print-op-generic"))
    if not module.is_structurally_equivalent(again):
        raise UpstreamError(f"upstream changed the module: {_first_difference(module, again)}")
    return again


def _first_difference(sent: ModuleOp, got: ModuleOp) -> str:
    for ours, theirs in zip(sent.walk(), got.walk(), strict=False):
        same = (
            ours.name == theirs.name
            and ours.properties == theirs.properties
            and ours.attributes == theirs.attributes
            and list(ours.result_types) == list(theirs.result_types)
        )
        if not same:
            return f"{_head(ours.name, ours.properties, ours.attributes)} became " + _head(
                theirs.name, theirs.properties, theirs.attributes
            )
    return "the number or order of operations differs"


def _head(name: str, *attributes: dict[str, Attribute]) -> str:
    return f"{name} {' '.join(f'{k} = {v}' for group in attributes for k, v in group.items())}"


def to_ptx(module: ModuleOp, target: Target) -> str:
    """The PTX that upstream's own NVVM pipeline makes of a thread-level module with one `gpu.module`.

    Functions such as `math.exp` come from CUDA's libdevice. Kernels take memrefs as descriptors, see
    `parameters`.

    Raises
    ------
    UpstreamError
        When the pipeline fails, or needs libdevice and there is none.
    """
    chip = f"cubin-chip={target.upstream_chip} cubin-features={target.ptx_feature}"
    passes = (
        "builtin.module(gpu.module(convert-vector-to-llvm),"
        f"gpu-lower-to-nvvm-pipeline{{{chip} cubin-format=isa opt-level=3}})"
    )
    found = _PTX.search(_run(generic(upstream_form(_upstream_ops(module))), f"--pass-pipeline={passes}"))
    if found is None:
        raise UpstreamError("upstream's pipeline gave no PTX")
    ptx = _unescaped(found.group(1))
    missing = sorted(set(_LIBRARY_CALL.findall(ptx)))
    if missing:
        raise UpstreamError(f"{', '.join(missing)} of libdevice: no CUDA toolkit with it was found")
    return ptx


_PTX = re.compile(r'assembly = "((?:[^"\\]|\\.)*)"', re.DOTALL)
_LIBRARY_CALL = re.compile(r"\.extern \.func[^;]*?(__nv_\w+)")
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)


def _unescaped(text: str) -> str:
    """An MLIR string literal's characters: two hex digits after a backslash name one byte."""

    def character(found: re.Match[str]) -> str:
        code = found.group(1)
        return chr(int(code, 16)) if len(code) == 2 else {"n": "\n", "t": "\t"}.get(code, code)

    return _ESCAPE.sub(character, text).rstrip("\0")


# Launching upstream's PTX ------------------------------------------------------------------------

Role = Literal["address", "offset", "extent", "stride", "value"]


@dataclass(frozen=True)
class PtxParameter:
    """One parameter of a kernel as upstream's pipeline declares it.

    argument: position of the entry argument it belongs to. role: `value` for a scalar; a memref of
    rank 1 arrives as two addresses, an offset, an extent and a stride. format: its `struct` format
    character; index is 64 bits wide in upstream's PTX whatever the kernel's `phobos.index_bits`.
    """

    argument: int
    role: Role
    format: str


_FORMATS = {"f16": "e", "f32": "f", "f64": "d"}
_INTEGER_FORMATS = {1: "B", 8: "b", 16: "h", 32: "i", 64: "q"}
_DESCRIPTOR: tuple[tuple[Role, str], ...] = (
    ("address", "Q"),
    ("address", "Q"),
    ("offset", "q"),
    ("extent", "q"),
    ("stride", "q"),
)


def parameters(function: FuncOp) -> tuple[PtxParameter, ...]:
    """What the PTX of a kernel takes, in order, each aligned to its own size."""
    found: list[PtxParameter] = []
    for position, type_ in enumerate(function.function_type.inputs):
        if isinstance(type_, MemRefType):
            found += [PtxParameter(position, role, code) for role, code in _DESCRIPTOR]
        else:
            found.append(PtxParameter(position, "value", _format(type_)))
    return tuple(found)


def _format(type_: Attribute) -> str:
    if isinstance(type_, IndexType):
        return "q"
    return _FORMATS.get(str(type_)) or _INTEGER_FORMATS.get(width_of(type_), "h")


def arguments(
    function: FuncOp, values: Sequence[int | float], extent: int = 1 << 40
) -> list[tuple[str, int | float]]:
    """Entry arguments (addresses, extents, strides, scalars) as upstream's PTX wants them.

    Gives `(struct format, value)` per PTX parameter. `extent` stands in every descriptor: kernels
    address by strides that they are given and never read it.
    """
    fixed: dict[Role, int] = {"offset": 0, "extent": extent, "stride": 1}
    return [
        (p.format, fixed[p.role] if p.role in fixed else values[p.argument])
        for p in parameters(function)
    ]
