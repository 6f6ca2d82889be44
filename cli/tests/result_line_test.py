# SPDX-License-Identifier: Apache-2.0
"""Python refuses what the schema of result lines does not allow, as C++ does."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from cli.result_line import result_line  # noqa: E402

RIGHT = {"provider": "tutti", "name": "default", "metric": "loop", "threads": 2, "median": 34.5}


class ResultLine(unittest.TestCase):
    def test_a_number_is_within_its_limits(self) -> None:
        for share in (0, 0.5, 1):
            self.assertIn('"in_barriers"', result_line(**RIGHT, in_barriers=share))
        for share, wanted in ((-0.5, "at least 0"), (1.5, "at most 1"), ("all", "a number")):
            with self.assertRaisesRegex(ValueError, f'"in_barriers" .* {wanted}'):
                result_line(**RIGHT, in_barriers=share)

    def test_an_integer_is_within_its_limits(self) -> None:
        for key, value, wanted in (
            ("threads", 0, "at least 1"),
            ("threads", 2.5, "int"),
            ("samples", -1, "a count"),
            ("samples", 0.5, "a count"),
        ):
            with self.assertRaisesRegex(ValueError, f'"{key}" .* {wanted}'):
                result_line(**{**RIGHT, key: value})


if __name__ == "__main__":
    unittest.main()
