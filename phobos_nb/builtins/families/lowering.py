"""The `build` of a built-in whose tile IR is not written yet: it says so at the call."""

from __future__ import annotations

from typing import Any, NoReturn

from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.language.typed import Call


def not_lowered(builder: Any, call: Call, values: Any) -> NoReturn:  # noqa: ARG001
    """Refuse to compile a call for the GPU. Raises PH501."""
    message = f"{call.builtin} is not lowered yet: it runs on the CPU only"
    raise PhobosError([Diagnostic("PH501", message, call.span, stage="lower")])
