# SPDX-License-Identifier: Apache-2.0
"""The process that runs what may crash or hang.

It imports TensorFlow, and for each request forks a process that runs tasks: that takes no time, and is safe while no
TensorFlow runtime has started threads.

child.py SOCKET_FD [LIBRARY]... -- [MODULE]...
"""

from __future__ import annotations

import importlib
import itertools
import os
import pickle
import resource
import socket
import sys
from collections.abc import Callable, Sequence
from multiprocessing import connection
from typing import Any

import numpy as np
import tensorflow as tf

# Not public: functions that a graph calls, and what is registered.
from tensorflow.python.eager import context
from tensorflow.python.framework import op_def_registry

from tensorflow_custom_ops.testing import protocol
from tensorflow_custom_ops.testing.call import value_of

# What tensors of most types are aligned to.
_ALIGNMENT = 64


def _unaligned(array: np.ndarray) -> tf.Tensor:
    """A tensor whose buffer begins one element behind an aligned address, where TensorFlow can have one."""
    # As bytes of one size, for DLPack does not know all types of TensorFlow's.
    carrier = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}.get(array.dtype.itemsize)
    dtype = tf.as_dtype(array.dtype)
    if carrier is None or array.size == 0 or not (dtype.is_floating or dtype.is_integer or dtype.is_complex):
        return tf.constant(array)
    buffer = np.empty(array.nbytes + 2 * _ALIGNMENT, np.uint8)
    start = -buffer.ctypes.data % _ALIGNMENT + array.itemsize
    view = buffer[start : start + array.nbytes].view(carrier).reshape(array.shape)
    view[...] = array.view(carrier)
    tensor = tf.experimental.dlpack.from_dlpack(view.__dlpack__())
    return tf.bitcast(tensor, dtype)


class _Tasks:
    """What a worker can do."""

    def __init__(self) -> None:
        self._functions: dict[tuple[bytes, bool], Any] = {}

    def _function(self, graph: protocol.Graph, jit: bool) -> Any:  # noqa: ANN401 - of no public type
        key = pickle.dumps(graph), jit
        if key not in self._functions:
            self._functions[key] = tf.function(
                _importer(graph),
                autograph=False,
                jit_compile=True if jit else None,
                input_signature=[tf.TensorSpec(shape, dtype) for shape, dtype in graph.specs],
            )
        return self._functions[key]

    def registered(self, op: str) -> bool:
        """Whether this process knows an op."""
        return op_def_registry.get(op) is not None

    def run(
        self,
        graph: protocol.Graph,
        runs: Sequence[Sequence[np.ndarray]],
        jit: bool = False,
        unaligned: bool = False,
        device: str | None = None,
    ) -> list[list[np.ndarray]]:
        """The outputs of a graph for each list of inputs."""
        function = self._function(graph, jit)
        make = _unaligned if unaligned else tf.constant
        with tf.device(device):
            return [[value_of(output) for output in function(*(make(array) for array in inputs))] for inputs in runs]

    def run_with_threads(
        self,
        graph: protocol.Graph,
        inputs: Sequence[np.ndarray],
        threads: int,
        repeats: int,
        jit: bool = False,
    ) -> list[list[np.ndarray]]:
        """The outputs of several runs in a session that has some number of threads."""
        config = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads)
        with tf.Graph().as_default() as session_graph:
            placeholders = [tf.compat.v1.placeholder(dtype, shape) for shape, dtype in graph.specs]
            function = tf.function(_importer(graph), autograph=False, jit_compile=True) if jit else _importer(graph)
            outputs = list(function(*placeholders))
            with tf.compat.v1.Session(graph=session_graph, config=config) as session:
                feed = dict(zip(placeholders, inputs, strict=True))
                return [[np.array(output) for output in session.run(outputs, feed)] for _ in range(repeats)]

    def run_saved_model(self, path: str, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The outputs of the function `call` of a SavedModel."""
        model = tf.saved_model.load(path)
        return [value_of(output) for output in model.call(*(tf.constant(array) for array in inputs))]


def _importer(graph: protocol.Graph) -> Callable[..., list[tf.Tensor]]:
    graph_def = tf.compat.v1.GraphDef.FromString(graph.graph_def)
    for function in graph_def.library.function:
        context.context().add_function_def(function)

    def imported(*inputs: tf.Tensor) -> list[tf.Tensor]:
        captured = [tf.constant(array) for array in graph.captured]
        outputs: list[tf.Tensor] = tf.graph_util.import_graph_def(
            graph_def,
            input_map={
                name: tensor for name, tensor in zip(graph.input_names, [*inputs, *captured], strict=True) if name
            },
            return_elements=list(graph.output_names),
            name="checked",
        )
        return outputs

    return imported


def _work(channel: connection.Connection) -> None:
    """Does tasks until nobody asks for more."""
    tasks = _Tasks()
    while True:
        try:
            name, kwargs = channel.recv()
        except EOFError:
            return
        answer: tuple[str, Any]
        try:
            answer = "result", getattr(tasks, name)(**kwargs)
        except Exception as error:
            answer = "error", (type(error).__name__, str(error))
        channel.send(answer)


def main() -> None:
    """Forks a worker for each descriptor of a connection that is sent, and tells how a worker has ended."""
    requests = socket.socket(fileno=int(sys.argv[1]))
    arguments = iter(sys.argv[2:])
    for library in itertools.takewhile(lambda argument: argument != "--", arguments):
        tf.load_op_library(library)
    for module in arguments:
        importlib.import_module(module)
    requests.sendall(b"+")
    while True:
        message, descriptors, _, _ = socket.recv_fds(requests, protocol.REQUEST_SIZE, 2)
        if not message:
            return
        if not descriptors:
            _, status = os.waitpid(int(message), 0)
            requests.sendall(protocol.pack(status))
            continue
        channel, log = descriptors
        worker = os.fork()
        if worker == 0:
            requests.close()
            os.dup2(log, 2)
            # Nobody asked for core files.
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            _work(connection.Connection(channel))
            os._exit(0)
        os.close(channel)
        os.close(log)
        requests.sendall(protocol.pack(worker))


if __name__ == "__main__":
    main()
