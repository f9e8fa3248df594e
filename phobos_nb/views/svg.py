"""The byte ruler of shared memory as SVG."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from phobos_nb.views.shared_memory import Buffer, SharedMemory, lanes

WIDTH, MARGIN, ROW, BAR = 720, 12, 54, 34
CHARACTER = 6.6  # advance of one 11 px monospace character


@dataclass(frozen=True)
class Palette:
    """Colours of a drawing: literal ones for a picture that stands alone, variables inside a page."""

    background: str
    ink: str
    muted: str
    fills: tuple[str, ...]

    @property
    def colors(self) -> tuple[str, ...]:
        """All of them, in one order for every palette."""
        return (self.background, self.ink, self.muted, *self.fills)


ALONE = Palette("#ffffff", "#1f2328", "#59636e", ("#cfe3ff", "#ffe3c2", "#d5f0d5", "#ecd9fb"))
DARK = Palette("#111418", "#e6e8eb", "#9aa4ae", ("#6aa5f540", "#f0a24a48", "#5dbb6348", "#b581e248"))
"""What those of `ALONE` become where the system is dark and the viewer knows styles."""

PAGE = Palette("none", "var(--ph-ink)", "var(--ph-muted)", tuple(f"var(--ph-fill{i})" for i in range(4)))


def ruler(memory: SharedMemory, palette: Palette = ALONE) -> str:
    """The ruler: a row of buffers (more rows where bytes are reused) above an axis of bytes.

    `memory.total` must be positive.
    """
    rows = lanes(memory.buffers)
    height = MARGIN + ROW * len(rows) + 10
    names = list(dict.fromkeys(_family(b) for b in memory.buffers))
    parts = [
        f'<rect width="{WIDTH}" height="{height}" rx="4" fill="{palette.background}"/>',
        *(
            _buffer(b, memory.total, MARGIN + row * ROW, palette, names.index(_family(b)))
            for row, members in enumerate(rows)
            for b in members
        ),
        _axis(memory, MARGIN + ROW * len(rows), palette),
    ]
    title = f"<title>Shared memory: {escape(memory.headline)}</title>"
    styles = f"<style>{_in_the_dark()}</style>" if palette is ALONE else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" font-family="ui-monospace, Menlo, Consolas, monospace" '
        f'font-size="11" class="ph-ruler">{title}{styles}{"".join(parts)}</svg>'
    )


def _in_the_dark() -> str:
    """Rules that put dark colours for the literal ones, which viewers without style sheets keep."""
    rules = (
        f".ph-ruler [{what}='{old}']{{{what}:{new}}}"
        for old, new in zip(ALONE.colors, DARK.colors, strict=True)
        for what in (("fill", "stroke") if old in (ALONE.ink, ALONE.muted) else ("fill",))
    )
    return f"@media (prefers-color-scheme:dark){{{''.join(rules)}}}"


def _family(buffer: Buffer) -> str:
    """Stages of one buffer, such as `a[0]` and `a[1]`, share a colour."""
    return buffer.name.partition("[")[0]


def _x(byte: int, total: int) -> float:
    return round(MARGIN + (WIDTH - 2 * MARGIN) * byte / total, 1)


def _buffer(buffer: Buffer, total: int, top: int, palette: Palette, color: int) -> str:
    left, right = _x(buffer.offset, total), _x(buffer.stop, total)
    fill = palette.fills[color % len(palette.fills)]
    tip = f"{buffer.name}: bytes {buffer.offset:,} to {buffer.stop:,}, {buffer.what}".rstrip(", ")
    box = (
        f'<g><title>{escape(tip)}</title><rect x="{left}" y="{top}" width="{round(right - left, 1)}" '
        f'height="{BAR}" fill="{fill}" stroke="{palette.ink}" stroke-width="0.8"/>'
    )
    labels = _label(buffer.name, left, right, top + 15, palette.ink, bold=True)
    labels += _label(f"{buffer.size:,} B", left, right, top + 28, palette.ink)
    return f"{box}{labels}</g>"


def _label(text: str, left: float, right: float, y: int, ink: str, *, bold: bool = False) -> str:
    """A centred label, left out where the box is too narrow for it."""
    if len(text) * CHARACTER + 4 > right - left:
        return ""
    weight = ' font-weight="600"' if bold else ""
    middle = round((left + right) / 2, 1)
    return f'<text x="{middle}" y="{y}" text-anchor="middle" fill="{ink}"{weight}>{escape(text)}</text>'


def _axis(memory: SharedMemory, top: int, palette: Palette) -> str:
    """Offsets below the bar; one that would touch the label before it is left out."""
    parts: list[str] = []
    last = -1.0
    for byte in sorted({0, memory.total, *(b.offset for b in memory.buffers)}):
        x, label = _x(byte, memory.total), f"{byte:,}"
        parts.append(
            f'<line x1="{x}" y1="{top - 18}" x2="{x}" y2="{top - 12}" stroke="{palette.muted}"/>'
        )
        half = len(label) * CHARACTER / 2
        center = min(max(x, half + 2), WIDTH - half - 2)
        if center - half > last:
            parts.append(
                f'<text x="{round(center, 1)}" y="{top}" text-anchor="middle" '
                f'fill="{palette.muted}">{label}</text>'
            )
            last = center + half + 4
    return "".join(parts)
