# SPDX-License-Identifier: Apache-2.0
"""The version of this project: that of the wheel and of tensorflow_custom_ops.__version__."""

VERSION = "0.1.0"
