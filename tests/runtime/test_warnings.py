"""A doubtful kernel is not compiled quietly from Python either: its warnings are Python's."""

import warnings

import pytest

import phobos_nb as ph

FILLED = """
kernel sums(X: tensor<f32>[M, N], Y: tensor<f32>[M, 1]) {
  Y[0 :+ 16, 0 :+ 1] = rowsum(exp(X[0 :+ 16, 0 :+ 64]))
}
"""
"""Elements past the end are 0 and exp(0) is 1: what is not there is added up."""

UNKNOWN = "@launhc(64)\nkernel k(X: tensor<f32>[N]) { X[ctx.thread] = 1.0 }\n"


def told(act):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        act()
    return found


@pytest.mark.parametrize(("text", "code", "line"), [(FILLED, "PH210", 3), (UNKNOWN, "PH401", 1)])
def test_compile_and_load_warn_at_the_callers_line(tmp_path, text, code, line):
    """The whole diagnostic, with its place in the text, at the line that compiled it, each time."""
    path = tmp_path / "doubtful.ph"
    path.write_text(text, "utf-8")
    for act in (lambda: ph.compile(text, name="doubtful.ph"), lambda: ph.load(path)) * 2:
        (warning,) = told(act)
        assert warning.category is ph.PhobosWarning
        assert warning.filename == __file__
        assert str(warning.message).startswith(f"warning[{code}]")
        assert f"doubtful.ph:{line}:" in str(warning.message)


def test_notes_and_right_kernels_are_quiet():
    """Nothing is said of a kernel without warnings, be there notes on it or not."""
    text = "@registers\nkernel k(X: tensor<f32>[N]) { X[ctx.thread] = 1.0 }"
    assert ph.compile(text).k.compile().notes
    assert not told(lambda: ph.compile(text))


def test_a_warning_can_be_made_an_error():
    """`simplefilter("error", PhobosWarning)` stops a script at a doubtful kernel."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", ph.PhobosWarning)
        with pytest.raises(ph.PhobosWarning, match="launhc"):
            ph.compile(UNKNOWN)


@pytest.mark.parametrize("name", ["source", "kernels", "functions", "__len__"])
def test_a_kernel_with_a_name_of_the_module(name):
    """It is reached by name in brackets, which a warning says; others are attributes as ever."""
    text = f"kernel {name}(X: tensor<f32>[N]) {{ X[ctx.block.x] = 1.0 }}\n"
    text += text.replace(name, "plain")
    (warning,) = told(lambda: ph.compile(text, name="cell.ph"))
    assert warning.category is ph.PhobosWarning
    assert warning.filename == __file__
    reach = f'cell.ph: the kernel `{name}` is reached by `module["{name}"]`'
    assert str(warning.message).startswith(reach)
    module = ph.compile(text)
    assert module[name].signature.startswith(f"{name}(")
    assert [k.name for k in module] == [name, "plain"]
    assert module.plain is module["plain"]
    assert len(module) == 2
    assert dir(module).count(name) == 1
