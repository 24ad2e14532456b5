# SPDX-License-Identifier: Apache-2.0
"""Tests of third_party/gpus/cuda_configure.bzl in a workspace of its own, with toolkits made of scripts."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess

from absl.testing import absltest

from tests.gpu.toolchain.fake_toolkit import make_toolkit, write_program

REPOSITORY = pathlib.Path(__file__).parents[3]
FILES = (
    "third_party/gpus/BUILD",
    "third_party/gpus/cuda_configure.bzl",
    "third_party/gpus/cuda_library.bzl",
    "third_party/gpus/find_cuda.py",
    "third_party/gpus/name_source.sh",
    "third_party/gpus/nvcc.sh",
    "third_party/gpus/nvcc_toolchain.bzl",
)
BAZELRC = "common --enable_workspace --noenable_bzlmod\n"
WORKSPACE = """\
load("//third_party/gpus:cuda_configure.bzl", "cuda_configure")

cuda_configure(name = "local_config_cuda")
"""
BUILD = """\
load("@local_config_cuda//cuda:build_defs.bzl", "CUDA", "cuda_library", "if_cuda", "if_cuda_is_configured")

cuda_library(
    name = "kernel",
    srcs = ["kernel.cu.cc"],
)

genrule(
    name = "description",
    outs = ["description.txt"],
    tags = ["manual"],
    cmd = repr([CUDA.version, CUDA.architectures, if_cuda("with", "without"), if_cuda_is_configured(["configured"])]),
)
"""


class CudaConfigureTest(absltest.TestCase):
    folder: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.folder = pathlib.Path(absltest.TEST_TMPDIR.value, "cuda_configure")
        cls.workspace = cls.folder / "workspace"
        for name in FILES:
            (cls.workspace / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, cls.workspace / name)
        for name, text in {".bazelrc": BAZELRC, "WORKSPACE": WORKSPACE, "BUILD": BUILD, "kernel.cu.cc": ""}.items():
            (cls.workspace / name).write_text(text, encoding="utf-8")
        cls.nvcc = cls.folder / "bin/nvcc"

    @classmethod
    def tearDownClass(cls) -> None:
        cls.bazel("shutdown")
        super().tearDownClass()

    @classmethod
    def bazel(cls, command: str, *arguments: str) -> tuple[int, str, str]:
        """Runs Bazel in the workspace; returns its status, output and errors."""
        result = subprocess.run(
            [
                *(REPOSITORY / "bazelw", "--nosystem_rc", "--nohome_rc", f"--output_user_root={cls.folder}/output"),
                *("--host_jvm_args=-Xmx512m", command, *arguments),
            ],
            cwd=cls.workspace,
            env=os.environ | {"PATH": f"{cls.nvcc.parent}:{os.environ['PATH']}"},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        return result.returncode, result.stdout, result.stderr

    def describe(self, *arguments: str) -> tuple[str, str]:
        """What BUILD files see of CUDA, and what Bazel prints."""
        status, output, errors = self.bazel("query", "--output=build", *arguments, "//:description")
        self.assertEqual(status, 0, errors)
        return output, errors

    def test_not_configured(self) -> None:
        write_program(self.nvcc, f"touch '{self.folder}/probed'; exit 1")
        self.addCleanup(self.nvcc.unlink)
        output, errors = self.describe("--repo_env=CUDA_HOME=/nowhere")
        self.assertIn(r"[None, [], \"without\", []]", output)
        self.assertNotIn("cuda", errors.lower())
        self.assertNotIn("nvcc", errors)
        self.assertFalse((self.folder / "probed").exists())
        status, _, errors = self.bazel("build", "//:kernel")
        self.assertEqual(status, 1)
        self.assertIn("Target //:kernel is incompatible", errors)
        status, _, errors = self.bazel("build", "//...")
        self.assertEqual(status, 0, errors)

    def test_configured(self) -> None:
        root = make_toolkit(self.folder / "mine", "12.4.131")
        arguments = ("--repo_env=TF_NEED_CUDA=1", f"--repo_env=CUDA_HOME={root}")
        output, errors = self.describe(*arguments)
        self.assertIn(
            r"[\"12.4.131\", [\"sm_60\", \"sm_70\", \"sm_80\", \"sm_89\", \"compute_90\"],"
            r" \"with\", [\"configured\"]]",
            output,
        )
        self.assertNotIn("DEBUG", errors)
        # Another version in the same place.
        make_toolkit(root, "12.8.93")
        output, errors = self.describe(*arguments)
        self.assertIn(r"[\"12.8.93\", [\"sm_60\",", output)
        output, errors = self.describe(*arguments, "--repo_env=TF_CUDA_COMPUTE_CAPABILITIES=9.0")
        self.assertIn(r"[\"12.8.93\", [\"compute_90\"],", output)

    def test_a_toolkit_that_is_installed_later_is_found(self) -> None:
        cache = self.folder / "cache"
        arguments = (
            *("--repo_env=TF_NEED_CUDA=1", f"--repo_env=XDG_CACHE_HOME={cache}"),
            "--repo_env=TF_CUDA_TOOLKIT_PATH=",
        )
        (self.nvcc.parent).mkdir(exist_ok=True)
        self.nvcc.symlink_to(make_toolkit(self.folder / "thirteen", "13.0.88") / "bin/nvcc")
        self.addCleanup(self.nvcc.unlink)
        output, errors = self.describe(*arguments)
        self.assertIn("13.0.88", output)
        self.assertEqual(errors.count("compile check only"), 1, errors)
        make_toolkit(cache / "tensorflow_custom_ops/cuda/12.4.131", "12.4.131")
        output, errors = self.describe(*arguments)
        self.assertIn("12.4.131", output)
        self.assertNotIn("compile check only", errors)

    def test_wrong_toolkit(self) -> None:
        status, _, errors = self.bazel(
            "query", "--repo_env=TF_NEED_CUDA=1", "--repo_env=CUDA_HOME=/nowhere", "//:description"
        )
        self.assertNotEqual(status, 0)
        self.assertIn("Error in fail: CUDA_HOME is /nowhere, which is no CUDA toolkit", errors)

    def test_wrong_need(self) -> None:
        status, _, errors = self.bazel("query", "--repo_env=TF_NEED_CUDA=yes", "//:description")
        self.assertNotEqual(status, 0)
        self.assertIn("TF_NEED_CUDA is yes; set it to 1", errors)


if __name__ == "__main__":
    absltest.main()
