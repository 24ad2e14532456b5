# SPDX-License-Identifier: Apache-2.0
"""Custom TensorFlow ops: MyOp, SimpleAdd, and the way to write your own.

Importing the package loads its op library into TensorFlow and registers the ops' gradients; a
SavedModel that uses the ops needs no more than this import to be loaded.
"""

# The library is loaded first, for the modules of functions register gradients for its ops. And _functions is
# generated, so that the list of ops is in one place.
# ruff: noqa: E402, F403, N811, PLE0604

from tensorflow_custom_ops import _loader as _loader

_loader.load()

from tensorflow_custom_ops import _functions as _functions
from tensorflow_custom_ops._build_info import VERSION as __version__
from tensorflow_custom_ops._functions import *

__all__ = ["__version__", *_functions.__all__]
