# SPDX-License-Identifier: Apache-2.0
"""Keras layers that are made of this package's ops.

Imported on demand, for it imports Keras: by `import tensorflow_custom_ops.layers`, or where `layers` is first used as
an attribute of the package. A program that loads a saved model with such a layer imports it too.
"""

try:
    import keras
except ImportError as error:
    raise ImportError(
        "the layers of tensorflow_custom_ops need Keras on TensorFlow (KERAS_BACKEND=tensorflow), and Keras cannot be "
        f"imported: {error}"
    ) from error

if keras.backend.backend() != "tensorflow":
    raise ImportError(
        "the layers of tensorflow_custom_ops are made of TensorFlow's ops, and Keras runs on "
        f"{keras.backend.backend()}: set the environment variable KERAS_BACKEND=tensorflow"
    )

from tensorflow_custom_ops.layers.flash_attention import FlashAttention  # only with flash_attention.py
from tensorflow_custom_ops.layers.my_layer import MyLayer  # only with my_layer.py
from tensorflow_custom_ops.layers.normalization import LayerNorm, RmsNorm, RmsNormResidual  # only with normalization.py
from tensorflow_custom_ops.layers.rotary_embedding import RotaryEmbedding  # only with rotary_embedding.py
from tensorflow_custom_ops.layers.top_k_mask import TopKMask  # only with top_k_mask.py

__all__: list[str] = [
    "FlashAttention",  # only with flash_attention.py
    "LayerNorm",  # only with normalization.py
    "MyLayer",  # only with my_layer.py
    "RmsNorm",  # only with normalization.py
    "RmsNormResidual",  # only with normalization.py
    "RotaryEmbedding",  # only with rotary_embedding.py
    "TopKMask",  # only with top_k_mask.py
]
