"""Pickled messages between a process and its child, arrays beside them rather than copied into them.

A search hands its arrays to every process that measures: for three matrices of 8192 x 8192 and the right
answer that is over a gigabyte, which pickling alone would copy twice, one process at a time.
"""

from __future__ import annotations

import os
import pickle
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

LARGE = 1 << 20
"""Buffers of so many bytes travel by themselves."""


def send(pipe: Connection, message: Any) -> None:
    """Send anything that pickles. Raises `OSError` where the other side is gone."""
    beside: list[memoryview] = []

    def keep_inside(buffer: pickle.PickleBuffer) -> bool:
        view = buffer.raw()
        if view.nbytes < LARGE:
            return True
        beside.append(view)
        return False

    text = pickle.dumps(message, protocol=5, buffer_callback=keep_inside)
    pipe.send_bytes(pickle.dumps([view.nbytes for view in beside]))
    pipe.send_bytes(text)
    for view in beside:
        _write(pipe, view)


def receive(pipe: Connection) -> Any:
    """The next message. Raises `EOFError` or `OSError` where the other side is gone."""
    sizes: list[int] = pickle.loads(pipe.recv_bytes())
    text = pipe.recv_bytes()
    return pickle.loads(text, buffers=[_read(pipe, size) for size in sizes])


def _write(pipe: Connection, view: memoryview) -> None:
    if not hasattr(os, "readv"):
        pipe.send_bytes(view)
        return
    done = 0
    while done < view.nbytes:
        done += os.write(pipe.fileno(), view[done:])


def _read(pipe: Connection, size: int) -> memoryview:
    view = np.empty(size, np.uint8).data  # not cleared first, unlike a bytearray
    if not hasattr(os, "readv"):
        pipe.recv_bytes_into(view)
        return view
    done = 0
    while done < size:
        count = os.readv(pipe.fileno(), [view[done:]])
        if count == 0:
            raise EOFError
        done += count
    return view
