"""Whether values can tell one cause from another: NaN looks the same wherever it comes from."""

from __future__ import annotations

import numpy as np

from phobos_nb.simulate.trial import Array, Question

OTHERS = "nothing tells one cause from another: compare a call with other numbers"


def hidden(question: Question) -> str:
    """Why the values tell nothing; empty where they do tell."""
    if only_nan(question.right):
        return f"all right values are NaN, and {OTHERS}"
    if not only_nan(question.found[question.wrong]):
        return ""
    blank = [n for n, a in question.trial.arrays.items() if n != question.name and only_nan(a)]
    if not blank:
        return ""
    return f"{blank[0]} is all NaN, and so is what is computed from it; {OTHERS}"


def alone(question: Question) -> str:
    """Why a change that gives the right values may be another than the one: they are all one value.

    Empty where they differ, or where the right ones are known for other numbers too.
    """
    values = np.unique(np.asarray(question.right, np.float64))
    if question.trial.right is not None or len(values) != 1 or question.right.size == 1:
        return ""
    return f"all right values are {values[0]:g}, which other changes may give too"


def only_nan(values: Array) -> bool:
    """Whether there are values, and all are NaN."""
    return bool(values.size) and values.dtype.kind not in "iub" and bool((values != values).all())
