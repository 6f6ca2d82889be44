# SPDX-License-Identifier: Apache-2.0
"""Runs Bitwuzla as the program that yosys-smtbmc starts: SMT-LIB 2 on standard input, answers on
standard output.

PyPI has Bitwuzla as a Python module only. Its parser reads ahead in a file, so it cannot answer in
between. Given one command at a time it can, but it then miscounts the levels of push and pop; this
file therefore handles push and pop itself.
"""

import re
import sys


def commands(lines):
    """Yields the SMT-LIB commands in a stream of lines, each as soon as its last bracket is closed.
    """
    text, depth = "", 0
    for line in lines:
        text += line
        bare = re.sub(r"\|[^|]*\||;.*", "", line)
        depth += bare.count("(") - bare.count(")")
        if depth == 0 and text.strip():
            yield text.strip()
            text = ""


def main() -> None:
    import bitwuzla

    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
    for command in commands(sys.stdin):
        level = re.fullmatch(r"\((push|pop) (\d+)\)", command)
        if command == "(exit)":
            return
        try:
            if level:
                getattr(parser.bitwuzla(), level[1])(int(level[2]))
            else:
                parser.parse(command, False, False)
        except bitwuzla.BitwuzlaException as error:
            print(f'(error "{error}")')
        sys.stdout.flush()


if __name__ == "__main__":
    main()
