# SPDX-License-Identifier: Apache-2.0
"""Which names an op cannot have."""

from __future__ import annotations

from absl.testing import absltest, parameterized

from tools.new_op import names, new_op
from tools.new_op.names import Name, RefusedError

PYTHON = '''\
"""Nothing but its words."""
import tensorflow as tf
def scaled(input):  # A comment.
    return gen_scaled.scaled(input, "string")
'''

CPP = """\
// A Comment about Nothing.
struct Scaled : Elementwise<1> {};
#define REGISTER_SCALED(T) R"doc(A "Documented
op.)doc" "String"
"""


class NamesTest(parameterized.TestCase):
    @parameterized.parameters(
        ("swish", "Swish"),
        ("soft_clip", "SoftClip"),
        ("top_2x", "Top2x"),
        ("conv2", "Conv2"),
        ("a" * 30, "A" + "a" * 29),
    )
    def test_takes(self, name: str, camel: str) -> None:
        names.check_style(name)
        self.assertEqual(Name(name).camel, camel)

    @parameterized.parameters(
        ("SoftClip", "'SoftClip' is no name in lower case"),
        ("soft-clip", "is no name in lower case"),
        ("soft__clip", "is no name in lower case"),
        ("_clip", "is no name in lower case"),
        ("clip_", "is no name in lower case"),
        ("2clip", "is no name in lower case"),
        ("clip/../../x", "is no name in lower case"),
        ("clip\n", "is no name in lower case"),
        ("clïp", "is no name in lower case"),
        ("", "'' is no name in lower case"),
        ("a" * 31, "has 31 characters, and may have 30"),
        ("lambda", "lambda is a reserved word of Python"),
        ("async", "async is a reserved word of Python"),
        ("template", "template is a reserved word of C"),
        ("co_yield", "co_yield is a reserved word of C"),
        ("sorted", "sorted is a function or type of Python"),
        ("clip_grad", "clip_grad is the name of a gradient"),
    )
    def test_refuses_by_style(self, name: str, message: str) -> None:
        with self.assertRaisesRegex(RefusedError, message):
            names.check_style(name)

    @parameterized.parameters(
        ("build_info", "build_info is a module or function of the package"),
        ("my_op", "my_op: the package has an op my_op"),
        ("myop", "myop: the package has an op my_op"),
        ("bias_add", "bias_add: TensorFlow has an op BiasAdd$"),
        # TensorFlow's is LRN.
        ("lrn", "lrn: TensorFlow has an op LRN$"),
        # An elementwise op would register the gradient.
        ("soft_plus", "soft_plus: TensorFlow has an op SoftplusGrad"),
    )
    def test_refuses_what_there_is(self, name: str, message: str) -> None:
        with self.assertRaisesRegex(RefusedError, message):
            names.check_new(name, ["other_op", "my_op"], ["build_info", "ops"], ["BiasAdd", "LRN", "SoftplusGrad"])

    def test_takes_what_is_new(self) -> None:
        names.check_new("soft_clip", ["other_op", "my_op"], ["build_info", "ops"], ["BiasAdd", "Clip"])

    @parameterized.parameters(
        ("tf", "tf: a.py uses tf for something else"),
        ("input", "a.py uses input for"),
        ("scaled", "a.py uses gen_scaled for"),
        ("elementwise", "a.h uses Elementwise for"),
        ("register_scaled", "a.h uses REGISTER_SCALED for"),
    )
    def test_refuses_what_means_something_else(self, name: str, message: str) -> None:
        with self.assertRaisesRegex(RefusedError, message):
            names.check_unused(name, {"a.py": PYTHON, "a.h": CPP})

    @parameterized.parameters("words", "comment", "string", "nothing", "documented", "op")
    def test_takes_what_comments_and_strings_have(self, name: str) -> None:
        names.check_unused(name, {"a.py": PYTHON, "a.h": CPP})

    def test_replaces_all_forms(self) -> None:
        text = "soft_clip SoftClipGrad gen_soft_clip REGISTER_SOFT_CLIP(SOFT_CLIP_H_)"
        self.assertEqual(
            Name("an_op").replace(Name("soft_clip"), text), "an_op AnOpGrad gen_an_op REGISTER_AN_OP(AN_OP_H_)"
        )

    def test_knows_tensorflows_ops(self) -> None:
        # Also those that are for XLA.
        self.assertContainsSubset({"Relu", "LRN", "SoftplusGrad", "XlaSort"}, set(new_op.tensorflow_ops()))


if __name__ == "__main__":
    absltest.main()
