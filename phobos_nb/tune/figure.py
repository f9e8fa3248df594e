"""A matplotlib figure that a notebook shows as a picture by itself."""

from __future__ import annotations

import io
from typing import Any, cast

from matplotlib.figure import Figure as Plain

DOTS = 100
"""Per inch, of the picture in a notebook: matplotlib's own default."""


class Figure(Plain):
    """IPython draws figures of `pyplot` alone, or after `%matplotlib inline`; this one always."""

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        cast(Any, self).savefig(picture, format="png", dpi=DOTS)
        return picture.getvalue()
