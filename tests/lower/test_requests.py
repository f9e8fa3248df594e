"""`@pipeline` and `@tensorcore` are asserted or answered, with the place of the attribute."""

import pytest

from phobos_nb.contract import Variant
from phobos_nb.diagnostics import PhobosError
from phobos_nb.language.typed import AttributeUse
from phobos_nb.lower.pipeline import KernelFacts, Lowered, lower
from phobos_nb.source import Span
from phobos_nb.target import get
from tests.lower.kernels import attention, gemm


def lowered(kernel, *attributes: AttributeUse) -> Lowered:
    facts = KernelFacts(kernel.parameters, attributes=attributes)
    return lower(kernel.module, facts, get("sm_80"), Variant())


def test_pipeline_without_a_loop_fails_with_the_reason():
    """PH511 stands at the attribute and lists the loop's line and why it cannot run ahead."""
    with pytest.raises(PhobosError) as caught:
        lowered(attention(), AttributeUse("pipeline", {"stages": 0}, Span(3, 12)))
    (found,) = caught.value.diagnostics
    assert found.code == "PH511"
    assert found.span == Span(3, 12)
    assert found.help.startswith("line 4: ")


@pytest.mark.parametrize("stages", [2, 4])
def test_pipeline_sets_the_stages(stages):
    """`@pipeline(n)` gives the loop n stages."""
    result = lowered(gemm(), AttributeUse("pipeline", {"stages": stages}, Span(0, 1)))
    assert result.loops[0].stages == stages


def test_tensorcore_says_that_it_falls_back():
    """The fall-back to multiply-adds is a visible note at the attribute."""
    result = lowered(gemm(), AttributeUse("tensorcore", {"path": ""}, Span(5, 9)))
    (note,) = result.notes
    assert (note.code, note.span) == ("PH512", Span(5, 9))


def test_a_tile_with_more_sums_than_registers_is_refused_by_name():
    """256 x 256 on 256 threads would be 256 sums a thread; PH513 says so before any CUDA is made."""
    with pytest.raises(PhobosError) as caught:
        lowered(gemm((256, 256, 8), 256))
    (found,) = caught.value.diagnostics
    assert found.code == "PH513"
    assert "256 x 256 tile takes 256 registers a thread, sm_80 allows 255" in found.message
