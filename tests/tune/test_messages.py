"""Messages to a child: anything that pickles, large arrays beside the text."""

import threading
from multiprocessing.connection import Client, Listener, Pipe

import numpy as np
import pytest

from phobos_nb.tune import messages
from phobos_nb.tune.messages import receive, send


def exchange(message):
    """The message as the other side of a socket has it."""
    with Listener(authkey=b"key") as listener:
        thread = threading.Thread(target=lambda: send(Client(listener.address, authkey=b"key"), message))
        thread.start()
        with listener.accept() as pipe:
            found = receive(pipe)
        thread.join()
    return found


@pytest.mark.parametrize("plain", [False, True])
def test_arrays_of_any_size_and_layout_arrive(monkeypatch, plain):
    """Small, large, in Fortran order, strided, empty; values, layout and being writable are kept."""
    if plain:
        monkeypatch.delattr(messages.os, "readv")  # as on Windows
    big = np.arange(3 << 18, dtype=np.float64).reshape(3, -1)
    sent = {
        "small": np.arange(5),
        "large": big,
        "fortran": np.asfortranarray(big),
        "strided": big[:, ::2],
        "empty": np.empty((0, 4)),
    }
    found = exchange(("call", sent))
    assert found[0] == "call"
    for name, array in sent.items():
        np.testing.assert_array_equal(found[1][name], array)
        assert found[1][name].dtype == array.dtype
    found[1]["large"][0, 0] = -1
    assert found[1]["fortran"].flags.f_contiguous


def test_large_arrays_are_not_in_the_text(monkeypatch):
    """A message of 8 MB pickles to less than a kilobyte."""
    texts = []
    dumps = messages.pickle.dumps

    def counted(*arguments, **named):
        texts.append(len(dumps(*arguments, **named)))
        return dumps(*arguments, **named)

    monkeypatch.setattr(messages.pickle, "dumps", counted)
    exchange({"x": np.zeros(1 << 20)})
    assert max(texts) < 1024


def test_a_sender_that_is_gone_is_an_error():
    """Between messages and in the middle of an array."""
    here, there = Pipe()
    there.close()
    with pytest.raises(EOFError):
        receive(here)
    here, there = Pipe()
    there.send_bytes(messages.pickle.dumps([1 << 20]))
    there.send_bytes(b"text")
    there.close()
    with pytest.raises(EOFError):
        receive(here)
