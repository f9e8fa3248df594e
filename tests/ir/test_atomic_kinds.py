"""The numbers of atomic kinds against upstream's own."""

import re
import subprocess

import pytest

from phobos_nb.ir.atomic_kinds import AtomicKind
from phobos_nb.ir.upstream import mlir_opt

TEXT = """func.func @f(%v: {0}, %A: memref<?x{0}>, %i: index) {{
  %0 = memref.atomic_rmw {1} %v, %A[%i] : ({0}, memref<?x{0}>) -> {0}
  return
}}"""


@pytest.mark.mlir
@pytest.mark.parametrize("kind", AtomicKind, ids=lambda kind: kind.name.lower())
def test_upstream_stores_the_same_number(kind):
    """Upstream's parser turns the kind's name into the number that the enumeration gives it."""
    name = kind.name.lower()
    text = TEXT.format("f32" if name.endswith("f") else "i32", name)
    printed = subprocess.run(
        [mlir_opt(), "--mlir-print-op-generic"], input=text, capture_output=True, text=True, check=True
    ).stdout
    assert re.search(r"kind = (\d+)", printed).group(1) == str(kind.value)
