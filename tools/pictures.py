"""Where pictures of the documentation stand, and how they are kept small."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from tools.lab import ROOT

IMAGES = ROOT / "docs" / "images"


def smaller(path: Path) -> None:
    """Keep the 256 most frequent colours as they are, vivid ones first, others as the nearest."""
    picture = Image.open(path).convert("RGB")
    counted = picture.getcolors(picture.width * picture.height) or []
    counted.sort(key=lambda c: c[0] * (8 + max(c[1]) - min(c[1])), reverse=True)
    palette = Image.new("P", (1, 1))
    palette.putpalette([channel for _, colour in counted[:256] for channel in colour])
    picture.quantize(palette=palette, dither=Image.Dither.NONE).save(path, optimize=True)
