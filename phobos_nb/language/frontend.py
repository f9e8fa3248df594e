"""The entry points of the language: parse a text, look at a signature, check a kernel."""

from __future__ import annotations

from phobos_nb.language.check.kernel import check, check_change
from phobos_nb.language.parser import parse, sound_part
from phobos_nb.language.signature import KernelSignature, kernel_signature

__all__ = ["KernelSignature", "check", "check_change", "kernel_signature", "parse", "sound_part"]
