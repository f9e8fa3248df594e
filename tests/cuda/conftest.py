"""Thread-level modules from a few lines of MLIR."""

from __future__ import annotations

import pytest

from phobos_nb.ir.text import parse

FRAME = """
builtin.module attributes {{gpu.container_module}} {{
  "gpu.module"() <{{sym_name = "m"}}> ({{
    "memref.global"() <{{sym_name = "smem", type = memref<4096xi8, #gpu.address_space<workgroup>>,
      initial_value, sym_visibility = "private", alignment = 128 : i64}}> : () -> ()
    "gpu.func"() <{{function_type = ({types}) -> ()}}> ({{
    ^bb0({arguments}):
      {body}
      "gpu.return"() : () -> ()
    }}) {{gpu.kernel, sym_name = "{name}", phobos.threads = {threads} : i64, phobos.min_blocks = 1 : i64,
        phobos.max_registers = {registers} : i64, phobos.shared_bytes = 4096 : i64,
        phobos.index_bits = {index_bits} : i64, phobos.assumes = {{{assumes}}}}} : () -> ()
  }}) : () -> ()
}}
"""


def thread_module(
    arguments: str,
    body: str,
    *,
    name: str = "kern",
    threads: int = 128,
    index_bits: int = 64,
    registers: int = 0,
    assumes: str = "",
):
    """A module whose kernel has these arguments (`%A: memref<?xf32>, %n: index`) and this body."""
    types = ", ".join(part.split(":", 1)[1].strip() for part in arguments.split("%")[1:])
    types = types.replace(", ,", ",").replace(",,", ",").rstrip(",")
    types = ", ".join(
        t.strip().rstrip(",") for t in (p.split(":", 1)[1] for p in arguments.split("%")[1:])
    )
    return parse(
        FRAME.format(
            types=types,
            arguments=arguments,
            body=body,
            name=name,
            threads=threads,
            registers=registers,
            index_bits=index_bits,
            assumes=assumes,
        )
    )


@pytest.fixture
def module():
    """The function `thread_module`."""
    return thread_module
