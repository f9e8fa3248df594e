"""Every environment variable and every compile option, read and checked in one place."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from phobos_nb.dtypes import DType

Setting = int | str | DType
"""A value for a compile-time name: a number or bool, or a dtype by name such as "f16"."""


@dataclass(frozen=True)
class Environment:
    """The environment variables the kit reads; an empty string counts as unset.

    PHOBOS_CHIP: default target. PHOBOS_INDEX_BITS: 32 or 64. PHOBOS_LOG: log level name.
    PHOBOS_CACHE_DIR: where compiled kernels are kept. PHOBOS_CACHE_BYTES: its size limit.
    PHOBOS_PROGRESS: 0 turns progress displays off. PHOBOS_MLIR_OPT: path of upstream's mlir-opt.
    CUDA_ROOT, CUDA_HOME or CUDA_PATH: a CUDA toolkit, whose libdevice upstream's pipeline links.
    """

    chip: str | None
    index_bits: str | None
    log: str | None
    cache_dir: Path | None
    cache_bytes: str | None
    progress: bool
    mlir_opt: str | None
    cuda_root: Path | None = None


def environment(values: Mapping[str, str] | None = None) -> Environment:
    """Read the environment now, so that a changed variable counts from the next call on."""
    env = os.environ if values is None else values

    def get(name: str) -> str | None:
        return env.get(name) or None

    cache = get("PHOBOS_CACHE_DIR")
    root = get("CUDA_ROOT") or get("CUDA_HOME") or get("CUDA_PATH")
    return Environment(
        chip=get("PHOBOS_CHIP"),
        index_bits=get("PHOBOS_INDEX_BITS"),
        log=get("PHOBOS_LOG"),
        cache_dir=Path(cache) if cache else None,
        cache_bytes=get("PHOBOS_CACHE_BYTES"),
        progress=get("PHOBOS_PROGRESS") != "0",
        mlir_opt=get("PHOBOS_MLIR_OPT"),
        cuda_root=Path(root) if root else None,
    )


def child_environment(values: Mapping[str, str]) -> dict[str, str]:
    """The environment of this process with values put in, for a tool that is started."""
    return {**os.environ, **values}


@dataclass(frozen=True)
class CompileOptions:
    """What a caller asked for, before defaults are resolved.

    constants: values for `@autotune` parameters, generics and the compiler's own choices
    (`STAGES`, `THREAD_M`, ...), by name. debug: device asserts and checks are compiled in.
    drop_barrier: the number of a kept barrier to leave out, to see what it is for.
    dtypes: names of scalar types for dtype generics. role: which launch of a kernel in several is meant,
    "" (the first) or "finish".
    """

    chip: str | None = None
    index_bits: int | None = None
    debug: bool = False
    drop_barrier: int | None = None
    constants: Mapping[str, int] = field(default_factory=dict[str, int])
    dtypes: Mapping[str, str] = field(default_factory=dict[str, str])
    role: str = ""


def split_settings(settings: Mapping[str, Setting]) -> tuple[dict[str, int], dict[str, str]]:
    """The numbers and the dtypes among values for compile-time names."""
    dtypes = {name: str(value) for name, value in settings.items() if isinstance(value, str | DType)}
    return {n: v for n, v in settings.items() if not isinstance(v, str | DType)}, dtypes
