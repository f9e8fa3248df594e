"""Target and options of one compilation, resolved once, at its start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from phobos_nb import target as targets
from phobos_nb.contract import Variant
from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.language.typed import TypedKernel
from phobos_nb.lower.choices import SPLIT
from phobos_nb.options import CompileOptions, environment
from phobos_nb.target import Target


@dataclass(frozen=True)
class Configuration:
    """Everything a compilation depends on beside the text.

    chip_reason and index_reason say where the choice came from, for views and `doctor`.
    """

    target: Target
    variant: Variant
    debug: bool
    drop_barrier: int | None
    constants: Mapping[str, int] = field(default_factory=dict[str, int])
    chip_reason: str = ""
    index_reason: str = ""
    role: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """What two equal compilations agree in."""
        constants = tuple(sorted(self.constants.items()))
        return self.target.name, self.variant, self.debug, self.drop_barrier, constants, self.role

    @property
    def options(self) -> CompileOptions:
        """The same as options, everything resolved."""
        bits = self.variant.index_bits
        return CompileOptions(
            self.target.name, bits, self.debug, self.drop_barrier, self.constants, role=self.role
        )

    def of_call(self, typed: TypedKernel, choices: Mapping[str, int], variant: Variant) -> Configuration:
        """What is compiled for a call; its k loop is only split where that is among the choices."""
        constants = {**self.constants, **choices, **typed.constants}
        if SPLIT not in choices:
            constants.pop(SPLIT, None)
        return replace(self, variant=variant, constants=constants)


def check_options(options: CompileOptions) -> None:
    """Raise what `resolve` would for a chip (PH408) and an index width (PH405) that were asked for."""
    if options.chip:
        targets.get(options.chip)
    if options.index_bits is not None:
        _width(options.index_bits)


def resolve(options: CompileOptions) -> Configuration:
    """Choose target and index width: the caller's, else the environment's, else the GPU's.

    Raises `PhobosError` for an unknown chip, an index width other than 32 and 64 and a `drop_barrier`
    that is no integer.
    """
    _check_drop(options.drop_barrier)
    chip, chip_reason = _chip(options)
    target = targets.get(chip)
    bits, index_reason = _index_bits(options, target)
    variant = Variant(index_bits=bits)
    return Configuration(
        target,
        variant,
        options.debug,
        options.drop_barrier,
        dict(options.constants),
        chip_reason,
        index_reason,
    )


def _check_drop(drop: object) -> None:
    if drop is None or (isinstance(drop, int) and not isinstance(drop, bool)):
        return
    message = f"drop_barrier: wanted the number of a kept barrier, got {drop!r}"
    help = "`.compile().barriers` lists them with their numbers and reasons"
    raise PhobosError([Diagnostic("PH516", message, help=help, stage="target")])


def _chip(options: CompileOptions) -> tuple[str, str]:
    chosen = environment().chip
    if options.chip:
        return options.chip, "asked for"
    if chosen:
        return chosen, "PHOBOS_CHIP"
    from phobos_nb.cuda.driver import native_chip

    native = native_chip()
    return (native, "this GPU") if native else (targets.default().name, "default without a GPU")


def _index_bits(options: CompileOptions, target: Target) -> tuple[int, str]:
    chosen = environment().index_bits
    if options.index_bits is not None:
        return _width(options.index_bits), "asked for"
    if chosen:
        return _width(chosen), "PHOBOS_INDEX_BITS"
    return target.default_index_bits, f"default of {target.name}"


def _width(text: int | str) -> int:
    if str(text) not in ("32", "64"):
        message = f"index_bits: wanted 32 or 64, got {text}"
        raise PhobosError([Diagnostic("PH405", message, stage="target")])
    return int(text)
