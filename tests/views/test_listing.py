"""Listings and the source lines that their lines came from."""

from __future__ import annotations

import re

import pytest

from phobos_nb.views.highlight import LANGUAGES, pieces
from phobos_nb.views.listing import Line, listing, source_listing
from tests.views.models import SOURCE, THREAD

PTX = """.version 9.0
.visible .entry gemm(
)
{
\t.loc\t1 7 3
\tmov.u32 \t%r1, %tid.x;
$L__tmp0:
\t.loc\t2 40 1, function_name $L__info_string0, inlined_at 1 9 1
\tret;
\t.loc\t2 41 1
\tbar.sync 0;
}
\t.file\t1 "/a/folder/cell-1"
\t.file\t2 "/a/folder/gemm.cu"
\t.section\t.debug_abbrev
.b8 1"""
SASS = """\t//## File "/a/folder/cell-1", line 7
        /*0010*/                   S2R R0, SR_TID.X ;
\t//## File "/a/folder/gemm.cu", line 40 inlined at "/a/folder/cell-1", line 9
\t//## File "/a/folder/cell-1", line 9
        /*0020*/                   EXIT ;
\t//## File "/a/folder/gemm.cu", line 41
.L_x_1:
        /*0030*/                   BRA `(.L_x_1) ;
        /*0040*/                   NOP ;"""


def test_source_lines_have_the_readers_numbers() -> None:
    """The first line of a cell's body is line 2, below the magic."""
    shown = source_listing(SOURCE, first_line=2)
    assert [line.origin for line in shown.lines] == [2, 3, 4, 5, 6]
    assert shown.text == SOURCE


@pytest.mark.parametrize(
    ("language", "text", "lines"),
    [
        (
            "sass",
            SASS,
            [("0010  S2R R0, SR_TID.X", 7), ("0020  EXIT", 9), ("0030  BRA `(.L_x_1)", None)],
        ),
        ("ptx", PTX, [("  mov.u32   %r1, %tid.x;", 7), ("  ret;", 9), ("  bar.sync 0;", None)]),
        ("mlir", THREAD, [("  %0 = arith.constant 256 : index", 4), ("  gpu.barrier", None)]),
    ],
)
def test_marks_become_origins(language: str, text: str, lines: list[tuple[str, int | None]]) -> None:
    """Marks are taken out of the text; a helper's line counts for the source line that called it."""
    shown = listing("x", language, text, "c" if language == "mlir" else "cell-1")
    found = [(line.text, line.origin) for line in shown.lines]
    assert [line for line in lines if line not in found] == []
    assert not re.search(r"loc\(|\.loc|## File|\.section|/a/folder", shown.text)


def test_machine_code_is_instructions_and_labels() -> None:
    """Directives and the padding at the end are no part of the listing."""
    text = f"\t.target\tsm_75\n\ngemm:\n{SASS}"
    shown = listing("SASS", "sass", text, "cell-1").text
    assert shown == "0010  S2R R0, SR_TID.X\n0020  EXIT\n.L_x_1:\n0030  BRA `(.L_x_1)"


def test_a_called_function_is_of_no_line() -> None:
    """Behind its label, which is shown, no instruction has the origin of the kernel's last line."""
    text = """
	//## File "/phobos/cell-1", line 9
        /*0010*/   EXIT ;
$__internal_0_$__cuda_sm20_div_s64:
        /*0020*/   RET.REL.NODEC R2 `(gemm) ;"""
    assert listing("SASS", "sass", text, "cell-1").lines == (
        Line("0010  EXIT", 9),
        Line("$__internal_0_$__cuda_sm20_div_s64:"),
        Line("0020  RET.REL.NODEC R2 `(gemm)"),
    )


def test_an_mlir_line_without_place_has_no_origin() -> None:
    """`loc(unknown)`, and a place in another text, mark nothing."""
    assert listing("x", "mlir", "gpu.barrier loc(unknown)", "c").lines == (Line("gpu.barrier"),)
    assert listing("x", "mlir", 'gpu.barrier loc("d":1:1)', "c").lines == (Line("gpu.barrier"),)


@pytest.mark.parametrize("language", LANGUAGES)
def test_colouring_keeps_every_character(language: str) -> None:
    """The pieces of a line joined are the line, whatever the language makes of it."""
    for line in [
        '#line 7 "c"',
        *PTX.split("\n"),
        *SASS.split("\n"),
        *THREAD.split("\n"),
        SOURCE,
        '"open',
        "@",
        "",
    ]:
        assert "".join(text for _, text in pieces(line, language)) == line


def test_the_words_of_the_language_are_coloured() -> None:
    """Keywords, types, attributes, calls, numbers and comments are told apart in Phobos text."""
    line = "@launch(256) let a: tile<f32>[TILE_M] = dot(x1, 2.5e-1) // let"
    kinds = {text: kind for kind, text in pieces(line, "phobos") if kind}
    assert kinds == {
        "@launch": "f",
        "256": "n",
        "let": "k",
        "tile": "t",
        "f32": "t",
        "dot": "f",
        "2.5e-1": "n",
        "// let": "c",
    }


def test_machine_code_colours_tell_operations_from_registers() -> None:
    """The operation stands out; registers, predicates and special registers do not."""
    kinds = [
        text
        for kind, text in pieces("0010  @P0 LDS.U.128 R10, [UR4+R2], PT, SR_TID.X", "sass")
        if kind == "f"
    ]
    assert kinds == ["LDS.U.128"]
