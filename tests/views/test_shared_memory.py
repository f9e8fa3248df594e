"""The byte ruler of shared memory."""

from __future__ import annotations

from xml.etree import ElementTree

from phobos_nb.views.shared_memory import Buffer, SharedMemory, lanes, to_text
from phobos_nb.views.svg import MARGIN, WIDTH, ruler
from tests.views.models import MEMORY

SVG = "{http://www.w3.org/2000/svg}"


def test_the_text_ruler_puts_each_buffer_at_its_offset() -> None:
    """The seed's example: 2048 bytes, four buffers of 512, bars side by side."""
    assert to_text(MEMORY) == "\n".join(
        [
            "Shared memory: 2,048 bytes in 4 buffers; a CTA on sm_75 may have 65,536",
            "      0 |##########                              | a[0]  512 bytes  f32, stage 0",
            "    512 |          ##########                    | a[1]  512 bytes  f32, stage 1",
            "  1,024 |                    ##########          | b[0]  512 bytes  f32, stage 0",
            "  1,536 |                              ##########| b[1]  512 bytes  f32, stage 1",
        ]
    )


def test_a_tiny_buffer_still_shows() -> None:
    """A buffer far narrower than a character gets one."""
    memory = SharedMemory(4096, (Buffer("x", 4092, 4), Buffer("y", 0, 4)))
    assert [line.count("#") for line in to_text(memory).splitlines()[1:]] == [1, 1]


def test_without_shared_memory_the_text_says_so() -> None:
    """An empty plan is a sentence, not an empty ruler."""
    text = "Shared memory: no shared memory; a CTA on sm_75 may have 65,536"
    assert to_text(SharedMemory(0, (), 65536, "sm_75")) == text
    assert to_text(SharedMemory(0)) == "Shared memory: no shared memory"


def test_reused_bytes_are_drawn_in_rows() -> None:
    """Buffers that share bytes at different times never lie on one row."""
    a, b, c = Buffer("a", 0, 100), Buffer("b", 50, 100), Buffer("c", 100, 50)
    assert lanes([b, c, a]) == [[a, c], [b]]


def test_the_picture_is_to_scale() -> None:
    """Every rectangle starts and ends where its bytes are on the axis of the whole plan."""
    boxes = ElementTree.fromstring(ruler(MEMORY)).findall(f".//{SVG}g/{SVG}rect")
    scale = (WIDTH - 2 * MARGIN) / MEMORY.total
    found = [(float(b.attrib["x"]), float(b.attrib["width"])) for b in boxes]
    wanted = [(MARGIN + scale * b.offset, scale * b.size) for b in MEMORY.buffers]
    assert all(
        abs(f - w) < 0.11 for pair in zip(found, wanted, strict=True) for f, w in zip(*pair, strict=True)
    )


def test_a_picture_that_stands_alone_needs_no_style_sheet() -> None:
    """GitHub strips styles: the SVG output has literal colours and its own background."""
    assert "var(" not in ruler(MEMORY)
