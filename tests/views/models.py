"""View models of the seed pages' 2 x 2 example: 32 x 32 x 4 tiles in two stages on sm_75."""

from __future__ import annotations

from phobos_nb.views.compilation import Barrier, CompilationView, Fact, Note
from phobos_nb.views.listing import listing, missing, source_listing
from phobos_nb.views.shared_memory import Buffer, SharedMemory

SOURCE = """@launch(256)
kernel scale(A: tensor<f32>[N], s: f32) {
  let i = ctx.block.x * 256
  A[i :+ 256] = A[i :+ 256] * s  // in place
}"""

MEMORY = SharedMemory(
    total=2048,
    limit=65536,
    target="sm_75",
    buffers=tuple(
        Buffer(f"{name}[{stage}]", 512 * (2 * i + stage), 512, f"f32, stage {stage}", line=12 + i)
        for i, name in enumerate("ab")
        for stage in range(2)
    ),
)

THREAD = """func.func @scale(%arg0: memref<?xf32>) { loc("c":3:1)
  %0 = arith.constant 256 : index loc("c":4:11)
  gpu.barrier loc(unknown)
} loc("c":3:1)"""

VIEW = CompilationView(
    name="scale",
    parameters=("A: tensor<f32>[N]", "s: f32"),
    facts=(Fact("target", "sm_75", "32-bit index"), Fact("registers", "24", "of 255")),
    notes=(
        Note("warning", "unknown attribute @lunch: did you mean @launch?", 2),
        Note("note", "a & b"),
    ),
    listings=(
        source_listing(SOURCE, first_line=2),
        listing("Thread MLIR", "mlir", THREAD, "c", whole="scale.compile().thread_mlir"),
        missing("PTX", "ptx", "PTX needs NVRTC: pip install 'phobos_nb[nvrtc]'."),
    ),
    memory=MEMORY,
    barriers=(
        Barrier(kept=True, reason="a is written at line 12 and read at line 14", number=1, line=14),
        Barrier(kept=False, reason="the next store goes to the other stage", line=12),
    ),
)
