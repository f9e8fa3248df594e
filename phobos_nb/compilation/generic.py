"""The dtype parameters of a kernel: fixed by the caller, inferred from arrays, or by their default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from phobos_nb.arguments.findings import findings
from phobos_nb.compilation import stages
from phobos_nb.compilation.call import dtype_of
from phobos_nb.contract import Parameter
from phobos_nb.diagnostics import PhobosError
from phobos_nb.dtypes import SCALARS
from phobos_nb.language.frontend import kernel_signature
from phobos_nb.language.tree import Program
from phobos_nb.options import CompileOptions

STAND_INS = ("f32", "f16", "i32", "u8", "bool", "i64", "f64", "bf16", "i8")
"""Tried in turn for a dtype without a default when a kernel is looked at before its first call."""


class DtypeParameters:
    """Which dtype parameters a kernel has, and their values.

    open: whether some are left to the arrays of a call. dtypes: a value for each, so that the kernel
    can be checked and shown: the caller's, else the first stand-in that suits; defaults are not in it.
    """

    def __init__(self, program: Program, name: str, options: CompileOptions) -> None:
        self._kernel = kernel_signature(program, name)
        names = [g.name for g in self._kernel.generics if g.kind == "dtype"]
        self._fixed = dict(options.dtypes)
        self._defaults = {g.name: g.default for g in self._kernel.generics if g.default}
        self._open = [n for n in names if n not in options.dtypes]
        self._seen: dict[tuple[Any, ...], dict[str, str]] = {}
        self.dtypes = self._fixed | self._stand_ins(program, options)

    @property
    def open(self) -> bool:
        """Whether some dtype is inferred at each call."""
        return bool(self._open)

    def as_written(self, parameter: Parameter) -> Parameter:
        """The parameter with the name of the dtype parameter that is its element type, while open."""
        written = next(p for p in self._kernel.parameters if p.name == parameter.name)
        return replace(parameter, dtype=written.dtype) if written.dtype in self._open else parameter

    def infer(self, values: Mapping[str, Any]) -> dict[str, str]:
        """The open dtypes for a call, by the first array of each; PH111 where there is none."""
        tensors = [p.name for p in self._kernel.parameters if p.kind == "tensor"]
        named = {name: dtype_of(values[name]) for name in tensors if name in values}
        found = self._kernel.dtypes({n: SCALARS[d] for n, d in named.items() if d in SCALARS})
        chosen = {n: found[n].name if n in found else self._without_array(n) for n in self._open}
        complete = [values[p.name] for p in self._kernel.parameters if p.name in values]
        if (key := self._key(complete)) and len(complete) == len(self._kernel.parameters):
            self._seen[key] = chosen
        return chosen

    def seen(self, arguments: Sequence[Any]) -> dict[str, str] | None:
        """The open dtypes for arguments whose arrays have dtypes met before."""
        return self._seen.get(self._key(arguments) or ())

    def _key(self, arguments: Sequence[Any]) -> tuple[Any, ...] | None:
        pairs = zip(self._kernel.parameters, arguments, strict=False)
        try:
            return tuple(value.dtype for p, value in pairs if p.kind == "tensor")
        except AttributeError:
            return None

    def _without_array(self, name: str) -> str:
        """The default; an array of a foreign dtype then meets the ordinary check of arguments."""
        takers = [p.name for p in self._kernel.parameters if p.dtype == name and p.kind == "tensor"]
        if name not in self._defaults and not takers:
            with findings(self._kernel.name) as found:
                help = f"fix it with specialize({name}=...)"
                found.type_error("PH111", f"no array gives the dtype {name}", help)
        return self.dtypes.get(name) or self._defaults[name]

    def _stand_ins(self, program: Program, options: CompileOptions) -> dict[str, str]:
        missing = [n for n in self._open if n not in self._defaults]
        trials = [dict.fromkeys(missing, s) for s in STAND_INS] if missing else []
        for trial in trials:
            try:
                stages.check(program, self._kernel.name, options.constants, self._fixed | trial)
            except PhobosError:
                continue
            return trial
        return trials[0] if trials else {}
