"""How many registers a lane holds of a matrix of WMMA; PTX ISA, "wmma.load" and "wmma.mma"."""

from __future__ import annotations

from phobos_nb.ir.dialects.subgroup_mma import MatrixType

REGISTERS = {
    "f16": {(16, 16): 8, (32, 16): 8, (16, 8): 8, (8, 16): 8, (16, 32): 8},
    "si8": {(16, 16): 2, (32, 16): 4, (16, 8): 1, (8, 16): 1, (16, 32): 4},
    "f32": {(16, 8): 4, (8, 16): 4},
    "f64": {(8, 4): 1, (4, 8): 1},
}
"""Registers of operands by type and extents; those of f64 are 64 bits wide."""
SUM_REGISTERS = {"f16": 4, "f32": 8, "i32": 8, "f64": 2}


def registers(type_: MatrixType) -> int:
    """Registers that a lane holds of a matrix."""
    element = str(type_.element)
    return SUM_REGISTERS[element] if type_.role.data == "COp" else REGISTERS[element][type_.extents]


def fragment_type(type_: MatrixType) -> str:
    """The C++ type of a lane's part."""
    kind = "vec<double, {}>" if str(type_.element) == "f64" else "ph::fragment<{}>"
    return kind.format(registers(type_))
