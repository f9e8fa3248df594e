"""The child's side of `worker.py`: makes one object and calls its methods until the parent is gone."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Client
from typing import Any

from phobos_nb.tune.messages import receive, send


def main() -> None:
    """Connect to the address on the command line with the key from standard input, and serve."""
    key = sys.stdin.buffer.read()
    with Client(sys.argv[1], authkey=key) as pipe:
        try:
            factory, arguments = receive(pipe)
            made: list[Any] = []
            _answer(pipe, lambda: made.append(factory(*arguments)))
            while made:
                method, arguments = receive(pipe)
                _answer(pipe, partial(getattr(made[0], method), *arguments))
        except (EOFError, ConnectionError):
            return


def _answer(pipe: Any, work: Callable[[], Any]) -> None:
    """Send (True, result), or (False, (class name, text)) of the exception."""
    try:
        result = work()
    except Exception as error:
        send(pipe, (False, (type(error).__name__, str(error))))
    else:
        send(pipe, (True, result))


if __name__ == "__main__":
    main()
