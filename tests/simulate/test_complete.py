"""Every thread-level operation has a row here; what cannot be executed is named with its reason."""

from phobos_nb.ir.context import DIALECTS
from phobos_nb.simulate.ops import ROWS

THREAD_LEVEL = {"arith", "gpu", "math", "memref", "nvgpu", "scf", "vector", "nvvm", "phobos"}
NOT_EXECUTED = {
    "terminators of regions, decoded with their parents": {
        *(
            "scf.yield",
            "scf.condition",
            "scf.reduce",
            "scf.reduce.return",
            "gpu.yield",
            "gpu.terminator",
        ),
        "memref.alloca_scope.return",
        "memref.atomic_yield",
    },
    "hide the accumulator: generated code has `phobos.wgmma` instead": {
        *("nvgpu.warpgroup.generate.descriptor", "nvgpu.warpgroup.mma"),
        *("nvgpu.warpgroup.mma.init.accumulator", "nvgpu.warpgroup.mma.store"),
    },
    "what operations of our own become for upstream": {
        *("nvvm.inline_ptx", "nvvm.stmatrix", "nvvm.wgmma.mma_async", "nvgpu.mbarrier.get", "nvvm.mapa"),
        *("nvvm.cp.async.bulk.shared.cluster.global", "nvvm.cp.async.bulk.global.shared.cta"),
        *("nvvm.cp.async.bulk.shared.cluster.shared.cta", "nvvm.cp.async.bulk.prefetch"),
    },
    "host side": {
        "nvgpu.tma.create.descriptor",
        *("gpu.alloc", "gpu.dealloc", "gpu.host_register", "gpu.host_unregister", "gpu.launch"),
        *(
            "gpu.launch_func",
            "gpu.memcpy",
            "gpu.module",
            "gpu.set_default_device",
            "gpu.wait",
            "gpu.func",
        ),
        *("memref.alloc", "memref.dealloc", "memref.global", "memref.dma_start", "memref.dma_wait"),
    },
    "never at thread level: the compiler writes other operations for them": {
        *("arith.addui_extended", "arith.mulsi_extended", "arith.mului_extended", "gpu.all_reduce"),
        *("math.fpowi", "math.ipowi", "memref.alloca_scope", "memref.collapse_shape", "memref.copy"),
        *("memref.expand_shape", "memref.extract_aligned_pointer_as_index", "memref.rank"),
        *("memref.extract_strided_metadata", "scf.index_switch", "scf.parallel", "vector.print"),
        *("vector.transfer_read", "vector.transfer_write"),
    },
}


def test_every_operation_has_a_row():
    """No thread-level operation of the dialects lacks a row without a reason."""
    named = {op.name for d in DIALECTS if d.name in THREAD_LEVEL for op in d.operations}
    excused = set().union(*NOT_EXECUTED.values())
    assert named - set(ROWS) - excused == set()
    assert excused & set(ROWS) == set()


def test_what_the_emitter_prints_runs_here():
    """Every operation with a CUDA row has a row here."""
    from phobos_nb.cuda import emit  # noqa: F401
    from phobos_nb.cuda.emit import emitter  # noqa: F401
    from phobos_nb.cuda.emit.table import ROWS as EMITTED

    assert EMITTED
    ends = {"gpu.return", "scf.yield", "scf.condition"}
    assert set(EMITTED) - set(ROWS) - ends == set()
