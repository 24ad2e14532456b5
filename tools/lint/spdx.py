# SPDX-License-Identifier: Apache-2.0
"""Checks that each source file starts with the line that names its license.

    spdx FILE...

The line is the first, or the second after a `#!` line. The exit status is 1 if a file lacks it.
"""

import re
import sys
from pathlib import Path

_LINE = re.compile(rb"(?:#!.*\n)?(?:#|//) SPDX-License-Identifier: Apache-2\.0\n")


def main() -> int:
    """Prints the files that lack the line; returns the exit status."""
    lacking = [name for name in sys.argv[1:] if not _LINE.match(Path(name).read_bytes())]
    for name in lacking:
        print(f"{name}:1: the file must start with: SPDX-License-Identifier: Apache-2.0")
    return 1 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
