"""Nsight Compute's source page as it prints it: `ncu --page source --csv --print-source cuda,sass`.

Every cell stands in quotes, but quotes inside a cell are not doubled, as was seen on an H200: of a line
`:: "r"(d), "n"(B)` a CSV reader takes `:: r"(d)`. Only the source of a line can hold quotes.
"""

from __future__ import annotations

SOURCE = 1
"""The column of a line's source; its number stands before it."""

Page = dict[int, tuple[str, int]]
"""Line -> its text and how often its instructions ran."""


def source_pages(shown: str) -> dict[str, Page]:
    """By file."""
    pages: dict[str, Page] = {}
    page: Page = {}
    header: list[str] = []
    for printed in shown.splitlines():
        row = printed.rstrip(",")[1:-1].split('","')
        if row[0] == "File Path":
            page = pages.setdefault(row[1], {})
        elif row[0] == "Line No":
            header = row
        elif row[0].isdigit():
            more = len(row) - len(header)
            text, behind = '","'.join(row[SOURCE : SOURCE + 1 + more]), row[SOURCE + 1 + more :]
            executed = behind[header.index("Instructions Executed") - SOURCE - 1]
            page[int(row[0])] = (text.strip(), int(executed))
    return pages


def without_quotes(text: str) -> str:
    """A line as it can be compared whether or not a version of ncu doubles quotes."""
    return text.replace('"', "")
