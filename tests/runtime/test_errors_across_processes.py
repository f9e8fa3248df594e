"""Errors leave worker processes whole: their kind, their text, every diagnostic and its place."""

import pickle
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.compilation.module import SourceFileError
from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.magic.faults import CellError
from phobos_nb.source import Source, Span

WRONG = "kernel k(X: tensor<f32>[N]) { X[ctx.thread] = 1 +\n}"
FAULT = Diagnostic("PH101", "something", Span(0, 3), help="mend it")

for module in walk_packages(ph.__path__, "phobos_nb."):
    if "__main__" not in module.name:
        import_module(module.name)


def kinds(base):
    for kind in base.__subclasses__():
        yield kind
        yield from kinds(kind)


def made(kind):
    """One error of a kind, made as the package makes it."""
    if kind is SourceFileError:
        return SourceFileError(Path("nowhere/kernel.ph"))
    if kind is CellError:
        return CellError(PhobosError([FAULT], Source(WRONG, "cell")))
    return kind([FAULT], Source(WRONG, "cell"))


@pytest.mark.parametrize("kind", [PhobosError, *kinds(PhobosError)], ids=lambda k: k.__name__)
def test_an_error_of_every_kind_survives_pickling(kind):
    """Kind, text, diagnostics, place and source are those of the first."""
    error = made(kind)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)
    assert again.diagnostics == error.diagnostics
    assert again.source == error.source


def compile_wrong():
    ph.compile(WRONG)


def call_wrong():
    ph.compile("@launch(32)\nkernel k(X: tensor<f32>[N]) { X[ctx.thread] = 1.0 }").k.simulate(
        np.zeros(4, np.float64), grid=1
    )


@pytest.mark.parametrize("work", [compile_wrong, call_wrong])
def test_a_worker_process_raises_what_went_wrong(work):
    """The pool of workers stays whole, and the error is the one that the worker raised."""
    with pytest.raises(PhobosError) as here:
        work()
    with ProcessPoolExecutor(1) as pool:
        with pytest.raises(type(here.value)) as there:
            pool.submit(work).result(60)
        assert str(there.value) == str(here.value)
        assert pool.submit(len, "abc").result(60) == 3
