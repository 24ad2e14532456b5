# SPDX-License-Identifier: Apache-2.0
"""A repository rule for programs that come from npm."""

def _cause(stderr):
    """Returns the line of npm's output that says why it failed."""
    for line in stderr.splitlines():
        if line.startswith("npm warn tar "):
            return line.removeprefix("npm warn tar ")
        text = line.removeprefix("npm error ").removeprefix("npm ERR! ")

        # The first lines repeat in codes what a later one says in words.
        if text != line and text.split(" ")[0] not in ["code", "syscall", "errno", "path"]:
            return text
    return stderr.strip() or "no output"

def _npm_packages_impl(ctx):
    lock = ctx.attr.package_lock
    npm = ctx.which("npm")
    if not npm:
        fail("npm is not on PATH: install npm 7 or newer, for {}/{}".format(lock.package, lock.name))
    for file in [ctx.attr.package_json, lock]:
        ctx.file(file.name, ctx.read(file), executable = False)
    ctx.report_progress("npm ci")
    result = ctx.execute([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], timeout = 600)

    # npm reports a full disk as a warning and exits with 0.
    if result.return_code or "TAR_ENTRY_ERROR" in result.stderr:
        version = ctx.execute([npm, "--version"]).stdout.strip()
        fail("npm {} (7 or newer is needed) cannot install {}/{}: {}".format(
            version,
            lock.package,
            lock.name,
            _cause(result.stderr),
        ))
    ctx.file("BUILD", """\
filegroup(
    name = "bin",
    srcs = glob(["node_modules/.bin/*"]),
    visibility = ["//visibility:public"],
)
""", executable = False)

npm_packages = repository_rule(
    _npm_packages_impl,
    doc = """The packages of an npm lock file, without their installation scripts.

Offers `:bin`, their programs, which need Node.js to run.""",
    attrs = {
        "package_json": attr.label(mandatory = True, allow_single_file = True, doc = "The package.json."),
        "package_lock": attr.label(mandatory = True, allow_single_file = True, doc = "Its package-lock.json."),
    },
)
