# SPDX-License-Identifier: Apache-2.0
"""What the tests of the checks share: a folder for the inputs, and what a check says of them."""

import contextlib
import io
import pathlib
import tempfile
import unittest

OPENING = "// SPDX-License-Identifier: Apache-2.0\n// A file of a test.\n"


class CheckTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()

    def write(self, path: str, text: str) -> pathlib.Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def run_quietly(self, function, *arguments) -> tuple[int, str]:
        """Exit status, and all that was printed."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = function(*arguments)
        return status, said.getvalue()

    def verdict_of(self, run, path: str, text: str) -> str:
        """What a check says of a root with this file."""
        self.write(path, text)
        status, said = self.run_quietly(run, self.root)
        self.assertEqual(status, 1 if "violations" in said else 0)
        return said
