"""Rows of the dialect `gpu`: ids, barriers, shuffles, printing; and the trap."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.gpu import DimensionAttr
from xdsl.ir import Operation

from phobos_nb.cuda.emit.emitter import Emitter
from phobos_nb.cuda.emit.prelude import helper
from phobos_nb.cuda.emit.table import row
from phobos_nb.cuda.output_form import HEAD, RECORDS, SYMBOL
from phobos_nb.cuda.reading import text
from phobos_nb.ir.dialects.gpu import ShuffleModeAttr

IDS = {
    "gpu.thread_id": "threadIdx",
    "gpu.block_id": "blockIdx",
    "gpu.block_dim": "blockDim",
    "gpu.grid_dim": "gridDim",
}


@row(*IDS)
def _id(e: Emitter, op: Operation) -> None:
    axis = cast(DimensionAttr, op.properties["dimension"]).data
    e.define(op.results[0], f"({e.ctype(op.results[0])}){IDS[op.name]}.{axis}")


helper(
    "lane_id",
    """
@int lane_id() {
  int lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}""",
)


@row("gpu.lane_id")
def _lane(e: Emitter, op: Operation) -> None:
    e.define(op.results[0], e.call("lane_id"))


@row("gpu.subgroup_size")
def _warp_size(e: Emitter, op: Operation) -> None:
    e.define(op.results[0], "32")


@row("gpu.barrier")
def _barrier(e: Emitter, _op: Operation) -> None:
    e.line("__syncthreads();")


SHUFFLES = {
    "xor": "__shfl_xor_sync",
    "up": "__shfl_up_sync",
    "down": "__shfl_down_sync",
    "idx": "__shfl_sync",
}

VALID = {
    "xor": "(({lane} & ({width} - 1)) ^ {offset}) < {width}",
    "up": "({lane} & ({width} - 1)) >= {offset}",
    "down": "({lane} & ({width} - 1)) + {offset} < {width}",
    "idx": "(unsigned){offset} < (unsigned){width}",
}
"""Whether the lane that a shuffle asks for is in the same group; widths are powers of two."""

CARRIERS = {
    "f16": ("(int){}.bits", "f16{{(unsigned short){}}}"),
    "bf16": ("(int){}.bits", "bf16{{(unsigned short){}}}"),
    "bool": ("(int){}", "{} != 0"),
    "signed char": ("(int){}", "(signed char){}"),
    "short": ("(int){}", "(short){}"),
}
"""How types that shuffles do not take travel in an int."""


@row("gpu.shuffle")
def _shuffle(e: Emitter, op: Operation) -> None:
    value, offset, width = op.operands
    mode = str(cast(ShuffleModeAttr, op.properties["mode"]).data)
    pack, unpack = CARRIERS.get(e.scalar_type(value), ("{}", "{}"))
    arguments = f"0xffffffffu, {pack.format(e.text(value))}, {e.text(offset)}, {e.text(width)}"
    e.define(op.results[0], unpack.format(f"{SHUFFLES[mode]}({arguments})"))
    if _used(op):
        lane = e.call("lane_id")
        form = VALID[mode].format(lane=lane, offset=e.text(offset), width=e.text(width))
        e.define(op.results[1], form)


def _used(op: Operation) -> bool:
    return any(True for _ in op.results[1].uses)


WIDENED = {
    "float": "(double){}",
    "bool": "(int){}",
    "signed char": "(int){}",
    "short": "(int){}",
}
"""What C's variadic arguments are promoted to, written out."""


helper(
    "output_record",
    f"""
@unsigned long long* output_record(unsigned long long* output, int words, int place, bool fails) {{
  unsigned long long ticket = atomicAdd(output, 1ull);
  if (ticket >= {RECORDS}) {{
    if (!fails) return nullptr;
    ticket = {RECORDS};
  }}
  unsigned long long* record = output + 1 + ticket * words;
  record[0] = blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  record[1] = threadIdx.x;
  record[2] = place + 1;
  return record;
}}""",
)


def _record(e: Emitter, op: Operation) -> None:
    """One record of Note [Device output]."""
    words, place = e.output_place(op)
    fails = "true" if _fails(op) else "false"
    call = e.call("output_record", SYMBOL, str(words), str(place), fails)
    with e.braces(f"if (unsigned long long* _record = {call})"):
        for i, x in enumerate(op.operands):
            bits = "__double_as_longlong" if e.scalar_type(x) == "double" else "(long long)"
            e.line(f"_record[{HEAD + i}] = (unsigned long long){bits}({e.text(x)});")


def _fails(op: Operation) -> bool:
    return op.next_op is not None and op.next_op.name == "llvm.intr.trap"


@row("gpu.printf")
def _print(e: Emitter, op: Operation) -> None:
    """A record for the host where the text is known, else C's printf.

    An index is printed as `long long` whatever width it is held in.
    """
    if "phobos.text" in op.attributes:
        _record(e, op)
        return
    arguments: list[str] = []
    for x in op.operands:
        ctype = e.scalar_type(x)
        if ctype in ("f16", "bf16"):
            arguments.append(f"(double){e.call(f'f32.{ctype}', e.text(x))}")
        elif e.ranges.bits(x) == 64 and ctype == "int":
            arguments.append(f"(long long){e.text(x)}")
        else:
            arguments.append(WIDENED.get(ctype, "{}").format(e.text(x)))
    e.line(f"printf({', '.join([quoted(text(op.properties['format'])), *arguments])});")


def quoted(string: str) -> str:
    """A C string literal; bytes outside printable ASCII as octal escapes, which end by themselves."""
    known = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}
    return '"' + "".join(known.get(c) or _escaped(c) for c in string) + '"'


def _escaped(character: str) -> str:
    if " " <= character <= "~":
        return "\\?" if character == "?" else character
    return "".join(f"\\{byte:03o}" for byte in character.encode())


@row("llvm.intr.trap")
def _trap(e: Emitter, op: Operation) -> None:
    """After an assertion's record only the thread ends: a trap would take the context and the record.

    Barriers wait for the threads that have not exited (CUDA C++ Programming Guide, __syncthreads).
    """
    before = op.prev_op
    recorded = before is not None and "phobos.text" in before.attributes
    e.line("return;" if recorded else "__trap();")
