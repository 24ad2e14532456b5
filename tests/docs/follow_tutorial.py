#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does what docs/tutorial.md says, from the folder of the new op to the wheel.

    tests/docs/follow_tutorial.py [OPTION OF BAZEL]...

The new op is put beside the repository, not into it, and the package that is built has no other: so this takes a minute
or two. The packages are those of the interpreter that Bazel uses.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
OPS = pathlib.Path("tensorflow_custom_ops/ops")
OP = "tanh_shrink"
LIST_OPS = "tools/ci/list_ops.py"
COPY = "tools/ci/copy_repository.sh"

# What the page shows, by language and in its order.
FILES = {"cpp": [f"{OP}.h", f"{OP}.cc"], "python": [f"{OP}.py", f"{OP}_test.py"]}


def code_blocks(language: str) -> list[str]:
    """The blocks of a language in the tutorial."""
    text = (REPOSITORY / "docs/tutorial.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def run(*command: str | os.PathLike[str], cwd: pathlib.Path = REPOSITORY, path: str = "") -> str:
    """Runs a command, and returns what it prints."""
    environment = {**os.environ, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3"}
    result = subprocess.run(command, cwd=cwd, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode:
        sys.exit(f"{result.stdout}\n{command} failed")
    return result.stdout


def make_op(clone: pathlib.Path) -> None:
    """Makes the op's folder where the ops are those of the repository."""
    run(REPOSITORY / COPY, clone)
    (commands,) = code_blocks("sh")
    # Bazel runs in the repository, so that nothing is built twice, and its program works on the clone.
    under = f"--run_under=env BUILD_WORKSPACE_DIRECTORY={clone} BUILD_WORKING_DIRECTORY={clone}"
    run_in_repository = f"env --chdir={REPOSITORY} ./bazelw run '{under}'"
    run("bash", "-euc", commands.replace("./bazelw run", run_in_repository), cwd=clone)
    for language, names in FILES.items():
        for name, text in zip(names, code_blocks(language), strict=False):
            file = clone / OPS / OP / name
            if not file.is_file():
                sys.exit(f"the command makes no {name}")
            file.write_text(text)


def main() -> None:
    """Runs the program."""
    with tempfile.TemporaryDirectory() as folder:
        clone, packages, site = (pathlib.Path(folder) / name for name in ("clone", "packages", "site"))
        make_op(clone)
        # Fails where the new list does not have the op.
        run(sys.executable, clone / LIST_OPS, packages, OP)
        shutil.copytree(clone / OPS / OP, packages / OPS / OP)
        options = [f"--package_path={packages}:%workspace%", *sys.argv[1:]]
        run("./bazelw", "test", *options, f"//{OPS}/{OP}:all")
        run("./bazelw", "build", *options, "//tools/pip_package:wheel")
        (wheel,) = run("./bazelw", "cquery", "--output=files", *options, "//tools/pip_package:wheel").split()
        base = pathlib.Path(run("./bazelw", "info", "output_base").strip())
        python = json.loads((base / "external/tf_python/info.json").read_text())["python"]
        run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--target", site, REPOSITORY / wheel)
        use = code_blocks("python")[-1]
        printed = run(python, "-c", use, cwd=site, path=str(site)).splitlines()
        expected = re.findall(r"^print\(.*\)  # (.*)$", use, re.MULTILINE)
        if printed != expected:
            sys.exit(f"the wheel's op prints {printed}, not {expected}")


if __name__ == "__main__":
    main()
