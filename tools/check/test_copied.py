# SPDX-License-Identifier: Apache-2.0
"""Gives copied.py figures that agree with their sources, and figures and sources that do not."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from check_test import CheckTest  # noqa: E402
import copied  # noqa: E402
from copied import Comparison, Copy, Source  # noqa: E402

SOURCE = """# Cost
## Cycles
| size | kind | unit, median | both |
|---|---|--:|--:|
| 1 | near | **1250** | 3, 4 |
| 1 | far | 12.46 | - |
| `kron`, 16 | near | 265 487 | 5 |

## Other
It takes 7 of
8 steps.
"""


class CopiedTest(CheckTest):
    def setUp(self) -> None:
        super().setUp()
        (self.root / "b.md").write_text(SOURCE, encoding="utf-8")
        lines = [{"type": "cycles", "n": 2, "last": 5}, {"type": "cycles", "n": 3, "last": 6}]
        (self.root / "kept.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")

    def compare(self, text: str, copy: Copy) -> Comparison:
        (self.root / "a.md").write_text(text, encoding="utf-8")
        comparison = Comparison(self.root)
        comparison.add(copy)
        return comparison

    def said(self, text: str, template: str, *values: float) -> list[str]:
        found = self.compare(text, Copy("a.md", template, lambda _: list(values)))
        return [violation.message for violation in found.violations + found.wrong]

    def test_compares_the_digits_that_are_shown(self) -> None:
        page = "x\nabout 1,250 or\n1.3 of it"
        self.assertEqual(self.said(page, "about {} or {} of", 1250, 1.26), [])
        self.assertIn("'1.3' in", self.said("about 1.3 of", "about {} of", 1.24)[0])
        self.assertIn("is 1,251 in its source", self.said("takes 1,250", "takes {}", 1251)[0])

    def test_misses_a_text_and_a_source(self) -> None:
        self.assertIn("does not say", self.said("takes 5", "took {}", 5)[0])
        self.assertIn("1 sources for the 2 figures", self.said("5 of 6", "{} of {}", 5)[0])
        found = self.compare("5", Copy("a.md", "{}", lambda s: [s.cell("b.md#cycles", "2", 2)]))
        self.assertIn("has no row 2", found.violations[0].message)

    def test_reads_cells_lines_and_sentences(self) -> None:
        source = Source(self.root)
        self.assertEqual(source.cell("b.md#cycles", ("1", "near"), "unit, median"), 1250)
        self.assertEqual(source.cell("b.md#cycles", ("1", "far"), 2), 12.46)
        self.assertEqual(source.cell("b.md#cycles", "`kron`", 2), 265487)
        self.assertEqual(source.cell("b.md#cycles", ("1", "near"), "both", at=1), 4)
        self.assertEqual(source.said("b.md", "{} of {} steps"), [7, 8])
        self.assertEqual(source.kept("kept.jsonl", "last", type="cycles", n=3), 6)

    def test_says_what_a_source_has_no_more(self) -> None:
        source = Source(self.root)
        for read, said in (
            (lambda: source.cell("b.md#cost-of", "1", 2), "no heading"),
            (lambda: source.cell("b.md#cycles", "1", 2, table=1), "has 1 tables"),
            (lambda: source.cell("b.md#cycles", "1", "mean"), "no column 'mean'"),
            (lambda: source.cell("b.md#cycles", ("1", "far"), "both"), "no figure"),
            (lambda: source.kept("kept.jsonl", "last", type="cycles"), "2 values of last"),
            (lambda: source.kept("kept.jsonl", "first", n=2), "0 values"),
            (lambda: source.said("b.md", "{} steps of {}"), "does not say"),
            (lambda: source.said("c.md", "{}"), "cannot be read"),
        ):
            with self.subTest(said=said), self.assertRaisesRegex(copied.Missing, said):
                read()

    def test_writes_the_figures_of_the_sources(self) -> None:
        page = "takes 1,000 of 20\nand 0.5 of 1000 and 0.25\n"
        template = "takes {} of {} and {} of {} and {}"
        comparison = self.compare(
            page, Copy("a.md", template, lambda _: [12345.0, 1200, 0.76, 4567, 0.25])
        )
        comparison.write()
        self.assertEqual(
            (self.root / "a.md").read_text(encoding="utf-8"),
            "takes 12,345 of 1,200\nand 0.8 of 4567 and 0.25\n",
        )


if __name__ == "__main__":
    unittest.main()
