# SPDX-License-Identifier: Apache-2.0
"""What is for the host: the container, the workflows, the hook of git and the editor agree with the documentation."""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import re
import subprocess

from absl.testing import absltest, parameterized

README = pathlib.Path("README.md")
CONTRIBUTING = pathlib.Path("CONTRIBUTING.md")
PACKAGING = pathlib.Path("docs/packaging.md")
GATE = pathlib.Path(".ci/run")
DOCKERFILE = pathlib.Path("tools/docker/Dockerfile")
RUN = pathlib.Path("tools/docker/run.sh").absolute()
DEVCONTAINER = pathlib.Path(".devcontainer/devcontainer.json")
WORKFLOWS = tuple(pathlib.Path(".github/workflows").glob("*.yml"))

# What runs in the container is run like this.
IN_CONTAINER = "tools/docker/run.sh "

# Prints its arguments, for the second one of run.sh's calls, in lines.
DOCKER = """#!/bin/sh
case $1 in
  build) echo "$@" >>"$LOG"; echo sha256:1234; exit "$STATUS" ;;
  run) printf '%s\\n' "$@" ;;
esac
"""


def packages(path: pathlib.Path) -> set[str]:
    """The packages that a text says to install by apt-get."""
    text = path.read_text()
    found = re.findall(r"apt-get install((?: --[\w-]+)*)((?: [a-z0-9][a-z0-9+.-]*)+)", text)
    return {name for _, names in found for name in names.split()}


def commands(path: pathlib.Path) -> list[str]:
    """The commands of a workflow."""
    return re.findall(r"^ +- run: (.*)$", path.read_text(), re.MULTILINE)


class ContainerTest(absltest.TestCase):
    def test_has_the_packages_that_are_asked_for(self) -> None:
        self.assertContainsSubset({"g++", "git", "python3"}, packages(README))
        self.assertEqual(packages(CONTRIBUTING), {"npm"})
        self.assertEqual(packages(DOCKERFILE), packages(README) | packages(CONTRIBUTING))

    def test_is_the_editor_s_too(self) -> None:
        settings = json.loads(DEVCONTAINER.read_text())
        dockerfile = DEVCONTAINER.parent / settings["build"]["dockerfile"]
        self.assertTrue(dockerfile.samefile(DOCKERFILE))
        self.assertIn(f"useradd --create-home {settings['remoteUser']}\n", DOCKERFILE.read_text())
        self.assertIn(settings["postCreateCommand"], CONTRIBUTING.read_text())


class RunTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.programs = self.folder / "bin"
        self.programs.mkdir()
        self.log = self.folder / "log"
        self.add_docker()

    def add_docker(self) -> None:
        (self.programs / "docker").write_text(DOCKER)
        (self.programs / "docker").chmod(0o755)

    def run_it(self, *arguments: str, status: int = 0, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": f"{self.programs}:{os.environ['PATH']}",
            "HOME": str(self.folder / "home"),
            "LOG": str(self.log),
            "STATUS": str(status),
            **variables,
        }
        return subprocess.run([RUN, *arguments], env=environment, capture_output=True, text=True, check=False)

    def test_runs_the_command_in_the_repository_as_the_user(self) -> None:
        result = self.run_it("./bazelw", "test", "a b")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = result.stdout.splitlines()
        self.assertEqual(lines[-4:], ["sha256:1234", "./bazelw", "test", "a b"])
        repository = str(RUN.resolve().parents[2])
        home = self.folder / "home/.cache/tensorflow_custom_ops/docker"
        self.assertTrue(home.is_dir())
        for option, value in (
            ("--user", f"{os.getuid()}:{os.getgid()}"),
            ("--env", f"HOME={home}"),
            ("--volume", f"{home}:{home}"),
            ("--volume", f"{repository}:{repository}"),
            ("--workdir", repository),
        ):
            self.assertIn((option, value), list(itertools.pairwise(lines)))

    def test_builds_the_image_from_the_folder_of_the_dockerfile(self) -> None:
        self.run_it("true")
        self.assertEqual(self.log.read_text(), f"build --quiet {RUN.resolve().parent}\n")

    def test_takes_another_image_to_start_from(self) -> None:
        self.run_it("true", BASE="python:3.13-bookworm")
        self.assertIn(" --build-arg BASE=python:3.13-bookworm ", self.log.read_text())
        self.assertRegex(DOCKERFILE.read_text(), r"(?m)^ARG BASE=.+\nFROM \$\{BASE\}$")

    def test_runs_nothing_without_an_image(self) -> None:
        result = self.run_it("true", status=3)
        self.assertEqual((result.returncode, result.stdout), (3, ""))

    def test_says_what_is_missing(self) -> None:
        result = self.run_it()
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"\Arun\.sh: no command is given.*\n\Z")
        (self.programs / "docker").unlink()
        for name in ("bash", "readlink", "dirname"):
            (self.programs / name).symlink_to(f"/usr/bin/{name}")
        result = self.run_it("true", PATH=str(self.programs))
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"\Arun\.sh: there is no docker on PATH; install it.*\n\Z")


class WorkflowsTest(parameterized.TestCase):
    def test_there_are_some(self) -> None:
        self.assertEqual({path.name for path in WORKFLOWS}, {"release.yml", "test.yml"})

    @parameterized.named_parameters((path.name, path) for path in WORKFLOWS)
    def test_commands_are_those_that_the_gate_runs_or_that_are_documented(self, path: pathlib.Path) -> None:
        # A function of the gate runs tests.
        gate = GATE.read_text().replace("run_tests ", "./bazelw test ").replace("check ", "")
        known = {line.strip() for text in (gate, PACKAGING.read_text()) for line in text.splitlines()}
        found = commands(path)
        self.assertNotEmpty(found)
        for command in found:
            self.assertIn(command.removeprefix(IN_CONTAINER).replace('"$GITHUB_REF_NAME"', "TAG"), known)

    @parameterized.named_parameters((path.name, path) for path in WORKFLOWS)
    def test_programs_are_there(self, path: pathlib.Path) -> None:
        for command in commands(path):
            for word in (command.split()[0], command.removeprefix(IN_CONTAINER).split()[0]):
                self.assertTrue(os.access(word, os.X_OK), word)

    def test_tests_run_on_each_python(self) -> None:
        found = re.search(r"Python 3\.(\d+) to 3\.(\d+)", README.read_text())
        assert found
        expected = [f"3.{minor}" for minor in range(int(found[1]), int(found[2]) + 1)]
        (matrix,) = re.findall(r"^ +python: (\[.*\])$", pathlib.Path(".github/workflows/test.yml").read_text(), re.M)
        self.assertEqual(json.loads(matrix), expected)

    def test_only_publishing_has_rights(self) -> None:
        for path in WORKFLOWS:
            text = path.read_text()
            self.assertRegex(text, r"(?m)^permissions: \{\}$")
            rights = re.findall(r"^ +([\w-]+): write\b", text, re.MULTILINE)
            self.assertEqual(rights, ["id-token"] if path.name == "release.yml" else [])


class HookTest(absltest.TestCase):
    def test_runs_the_linters_of_the_repository(self) -> None:
        text = pathlib.Path(".pre-commit-config.yaml").read_text()
        (entry,) = re.findall(r"^ +entry: (.*) --$", text, re.MULTILINE)
        self.assertIn(f"\n    {entry}\n", CONTRIBUTING.read_text())
        self.assertNotIn("rev:", text)


if __name__ == "__main__":
    absltest.main()
