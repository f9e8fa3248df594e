"""Printed CUDA to a cubin through the disk cache."""

from __future__ import annotations

from functools import cache

from phobos_nb.cuda import nvrtc
from phobos_nb.cuda.cache import Cache, key
from phobos_nb.cuda.emit.source import CudaSource
from phobos_nb.options import environment
from phobos_nb.source import Source, line_table_name
from phobos_nb.target import Target


def build(
    cuda: CudaSource, target: Target, source: Source | None = None, store: Cache | None = None
) -> nvrtc.NvrtcResult:
    """Compile for a target, or take the cubin from the cache.

    source: the kernel text that the `#line` directives name; store: default the user's cache. Line
    tables name files of the folder /phobos, which is on no machine. Raises PhobosError PH600 (the text
    was refused) or PH601 (no NVRTC).
    """
    arch, options = target.nvrtc_arch, nvrtc.OPTIONS
    text = cuda.naming(source.name, source.table_name) if source else cuda.text
    found = key(text, arch, options, nvrtc.version())

    def make() -> nvrtc.NvrtcResult:
        return nvrtc.compile(text, arch, line_table_name(f"{cuda.entry}.cu"), source=source)

    return (store or default_cache()).get_or(found, make)


def default_cache() -> Cache:
    """The user's cache as the environment says now."""
    asked = environment()
    return _cache(str(asked.cache_dir or ""), asked.cache_bytes or "")


@cache
def _cache(folder: str, limit: str) -> Cache:
    """One object for each setting of the environment, so that its counts add up."""
    del folder, limit
    return Cache()
