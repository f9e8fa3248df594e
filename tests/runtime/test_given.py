"""What `compile` and `load` are given instead of a text, a chip or a width that there is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import phobos_nb as ph

TEXT = "kernel k(X: tensor<f32>[N]) {\n  X[ctx.block.x] = 1.0\n}\n"


@pytest.mark.parametrize(
    ("given", "kind", "help"),
    [
        (3, "int", "`ph.load(path)` reads a file"),
        (None, "NoneType", "`ph.load(path)` reads a file"),
        (TEXT.encode(), "bytes", 'decode it first: `text.decode("utf-8")`'),
        (Path("softmax.ph"), Path("softmax.ph").__class__.__name__, "`ph.load(path)` reads a file"),
    ],
)
def test_what_is_no_text_is_a_type_error(given: Any, kind: str, help: str) -> None:
    """PH702 says what was wanted and given, and what to do; it is a `TypeError` too."""
    with pytest.raises(TypeError) as caught:
        ph.compile(given)
    assert isinstance(caught.value, ph.PhobosError)
    (found,) = caught.value.diagnostics
    assert found.code == "PH702"
    assert found.message == f"compile: wanted the text of kernels (str), got {kind}"
    assert found.help.endswith(help)


def test_a_path_is_told_to_load() -> None:
    """One line that ends in `.ph` is the name of a file: `load` is named with it."""
    with pytest.raises(ph.PhobosError) as caught:
        ph.compile("\n  examples/softmax.ph\n")
    (found,) = caught.value.diagnostics
    assert found.code == "PH004"
    assert found.help.startswith("`ph.load('examples/softmax.ph')` reads a file")
    assert caught.value.source is not None
    assert found.span is not None
    assert caught.value.source.position(found.span.start) == (2, 3)


def test_a_comment_that_ends_so_is_no_path() -> None:
    """A text of one line may end in `.ph` too."""
    assert len(ph.compile(TEXT.replace("\n", " ") + "// as in softmax.ph")) == 1
    with pytest.warns(ph.PhobosWarning, match="no kernel"):
        ph.compile("// as in softmax.ph")


@pytest.mark.parametrize(
    ("options", "code"),
    [({"chip": "sm_79"}, "PH408"), ({"chip": 80}, "PH408"), ({"index_bits": 16}, "PH405")],
)
def test_an_unknown_target_is_refused_at_once(
    options: dict[str, Any], code: str, tmp_path: Path
) -> None:
    """`compile` and `load` raise what `Kernel.compile` does, with the targets that there are."""
    path = tmp_path / "k.ph"
    path.write_text(TEXT)
    with pytest.raises(ph.PhobosError) as late:
        ph.compile(TEXT).k.compile(**options)
    makers: list[Callable[[], object]] = [
        lambda: ph.compile(TEXT, **options),
        lambda: ph.load(path, **options),
    ]
    for make in makers:
        with pytest.raises(ph.PhobosError) as caught:
            make()
        assert caught.value.diagnostics == late.value.diagnostics
        assert caught.value.diagnostics[0].code == code
