# SPDX-License-Identifier: Apache-2.0
"""Mutants that nobody chooses: every place of a source where an operator, a condition, a number, a
signal or a statement can be another one, and a draw of these by a seed.

A mutant is killed when a proof finds a counterexample or its induction no longer holds, or when a
simulation fails. One that lives is compared with the original: by yosys, register by register, or
by ABC's property-directed reachability, which finds out that a register is read only after it was
written. It is equal at every output in every cycle from the first reset on (`equivalent`), or not
shown to be (`survived`). Only a survivor is a gap in the proofs and simulations.
"""

from __future__ import annotations

import dataclasses
import pathlib
import random
import re
import shutil
import threading
from typing import Iterator

from . import equal, lint, prove, simulate, tools
from .results import FAILED, PASSED, result
from .unit import Module, Proof, Simulation, Unit, label

# What another operator may stand for.
OPERATORS = {
    "==": ("!=",), "!=": ("==",), "<": ("<=", ">"), "<=": ("<",), ">": (">=", "<"), ">=": (">",),
    "&&": ("||",), "||": ("&&",), "&": ("|",), "|": ("&",), "^": ("|",), "+": ("-",), "-": ("+",),
    "<<": (">>",), ">>": ("<<",),
}
# Parts of a source that do not become gates, or only decide which gates there are.
SKIPPED = {
    "AssertionItemPort", "ConcurrentAssertionMember", "ConcurrentAssertionStatement",
    "ElabSystemTask", "ImmediateAssertionMember", "ImmediateAssertStatement", "InitialBlock",
    "PackageImportDeclaration", "ParameterDeclarationStatement", "ParameterPortList",
    "RangeDimensionSpecifier", "SystemTimingCheck", "TimeUnitsDeclaration", "TypedefDeclaration",
    "VariableDimension",
}  # fmt: skip

# The seed where there is no commit to take.
NO_HISTORY = "no git history"


@dataclasses.dataclass(frozen=True)
class Mutant:
    """The bytes [begin, end) of `path` become `new`."""

    path: pathlib.Path
    line: int
    begin: int
    end: int
    old: str
    new: str

    @property
    def name(self) -> str:
        def words(text: str) -> str:
            text = " ".join(text.split()) or "nothing"
            return text if len(text) <= 48 else text[:45] + "..."

        return f"{self.path.name}:{self.line} {words(self.old)} -> {words(self.new)}"

    def text(self) -> str:
        """The source with the mutation in it."""
        source = self.path.read_bytes()
        return (source[: self.begin] + self.new.encode() + source[self.end :]).decode()


def _syntax():
    """pyslang's module of syntax trees. Raises tools.Absent."""
    try:
        from pyslang import syntax
    except ImportError:
        raise tools.Absent(
            "pyslang is not installed (pip install -r hardware/requirements.txt)") from None
    return syntax


def _kind(node) -> str:
    return str(node.kind).rpartition(".")[2]


def _nodes(node, above: tuple = ()) -> Iterator[tuple]:
    """Yields (node, kinds above it) of all nodes below that become gates; tokens too."""
    kind = _kind(node)
    if kind in SKIPPED:
        return
    yield node, above
    if not hasattr(node, "__iter__"):
        return
    children = list(node)
    if kind == "IfGenerate" or kind == "LoopGenerate":
        # The condition decides which gates there are.
        children = [child for child in children if _kind(child).endswith("GenerateBlock")
            or _kind(child) == "ElseClause"]  # fmt: skip
    for child in children:
        if child is not None:
            yield from _nodes(child, (*above, kind))


def _span(node) -> tuple:
    where = node.range if hasattr(node, "range") else node.sourceRange
    return where.start.offset, where.end.offset


def mutants_of(path: pathlib.Path) -> list:
    """Returns all mutants of a source, in its order. Raises tools.Absent."""
    syntax = _syntax()
    source = path.read_bytes()
    tree = syntax.SyntaxTree.fromText(source.decode())
    found: list = []

    def add(begin: int, end: int, new: str) -> None:
        line = source.count(b"\n", 0, begin) + 1
        found.append(Mutant(path, line, begin, end, source[begin:end].decode(), new))

    def text_of(node) -> str:
        begin, end = _span(node)
        return source[begin:end].decode()

    signals = _signals(tree.root, text_of)
    # What is assigned to is no other signal: two drivers would not elaborate.
    written: set = set()
    for node, above in _nodes(tree.root):
        kind = _kind(node)
        if "AssignmentExpression" in kind:
            written.add(_span(node.left)[0])
        if kind.endswith("Expression") and hasattr(node, "operatorToken") and hasattr(node, "left"):
            token = node.operatorToken
            begin, end = _span(token)
            if "Assignment" not in kind:
                for other in OPERATORS.get(source[begin:end].decode(), ()):
                    add(begin, end, other)
        if kind == "ConditionalPredicate" and above[-1] == "ConditionalStatement":
            begin, end = _span(node)
            for new in (f"!({text_of(node)})", "1'b1", "1'b0"):
                add(begin, end, new)
        if kind == "ConditionalExpression":
            (left, right), (begin, _), (_, end) = (
                (text_of(node.left), text_of(node.right)), _span(node.left), _span(node.right))
            add(begin, end, f"{right} : {left}")
        if kind == "UnaryLogicalNotExpression":
            begin, end = _span(node)
            add(begin, end, text_of(node.operand))
        if kind in ("IntegerLiteralExpression", "UnbasedUnsizedLiteralExpression",
                "IntegerVectorExpression"):  # fmt: skip
            begin, end = _span(node)
            for new in _other_numbers(text_of(node)):
                add(begin, end, new)
        if kind == "ExpressionStatement" and "Assignment" in _kind(node.expr):
            begin, end = _span(node)
            add(begin, end, ";")
        if kind == "IdentifierName" and _is_read(above):
            begin, end = _span(node)
            for new in () if begin in written else _others(signals, text_of(node)):
                add(begin, end, new)
    return found


def _is_read(above: tuple) -> bool:
    return any(kind.endswith("Expression") or kind == "NamedPortConnection" for kind in above)


def _signals(root, text_of) -> dict:
    """Returns {name: its type}: the signals and ports of a source's module."""
    types: dict = {}
    for node, _ in _nodes(root):
        kind = _kind(node)
        if kind == "ImplicitAnsiPort":
            types[text_of(node.declarator)] = " ".join(text_of(node.header.dataType).split())
        if kind == "DataDeclaration":
            for declarator in node.declarators:
                if _kind(declarator) == "Declarator":
                    types[text_of(declarator)] = " ".join(text_of(node.type).split())
    return types


def _others(signals: dict, name: str) -> list:
    """Returns the two signals of the same type that stand next to this one in the source."""
    if name not in signals or name in ("clk_i", "rst_ni"):
        return []
    same = [other for other, kind in signals.items()
        if kind == signals[name] and other not in ("clk_i", "rst_ni")]  # fmt: skip
    index = same.index(name)
    return [same[i] for i in (index - 1, index + 1) if 0 <= i < len(same)]


def _other_numbers(text: str) -> list:
    if text == "'0":
        return ["'1"]
    if text == "'1":
        return ["'0"]
    if match := re.fullmatch(r"1'b([01])", text):
        return [f"1'b{1 - int(match.group(1))}"]
    if re.fullmatch(r"\d+", text):
        number = int(text)
        return [str(number + 1)] + ([str(number - 1)] if number > 0 else [])
    return []


def own_sources(unit: Unit) -> list:
    """Returns the sources of the unit's mutants, not those of units that it uses."""
    return [path for path in unit.sources if unit.folder in path.parents]


def seed_of(units: list, root: pathlib.Path) -> str:
    """Returns the last commit that changed a source of these units: a commit that changes proofs or
    simulations is judged by the draw that showed the gap, and a commit that changes a source brings
    other mutants. Returns NO_HISTORY if git does not know that commit: it is not installed, the
    sources are not of a repository, or its history is cut off."""
    paths = [str(path) for unit in units for path in own_sources(unit)]

    def git(*arguments: str) -> str:
        outcome = tools.run(["git", *arguments], 10, root)
        return outcome.text.strip() if outcome.status == 0 else ""

    if not shutil.which("git") or git("rev-parse", "--is-shallow-repository") != "false":
        return NO_HISTORY
    return git("log", "-1", "--abbrev=12", "--format=%h", "--", *paths) or NO_HISTORY


def draw(unit: Unit, count: int, seed: str, each_file: bool = False) -> list:
    """Returns `count` mutants of the unit, or of each of its files, in the order in which a seed
    draws them. Raises tools.Absent."""
    pools = [mutants_of(path) for path in own_sources(unit)]
    if not each_file:
        pools = [[mutant for pool in pools for mutant in pool]]
    drawn: list = []
    for pool in pools:
        order = random.Random(f"{seed} {unit.name} {pool[0].path.name if pool else ''}")
        order.shuffle(pool)
        drawn += pool[:count]
    return drawn


# What the original's proofs are, by unit, proof and parameters: mutants are judged against it.
_originals: dict = {}
_originals_lock = threading.Lock()
# How many mutants of a source each judge has killed: {source: {name: number}}.
_kills: dict = {}
_kills_lock = threading.Lock()


def _without_places(problem: prove.Problem) -> str:
    """A problem for the solver without its comments, which name lines and columns of sources."""
    text = (problem.folder / "problem.smt2").read_text()
    return "\n".join(line for line in text.splitlines() if not line.startswith(";"))


def _original(unit: Unit, proof: Proof, parameters: dict, folder: pathlib.Path) -> tuple:
    """Returns (its text, whether its induction holds) of the unmutated proof."""
    key = (str(unit.folder), proof.name, label(parameters))
    with _originals_lock:
        if key not in _originals:
            place = folder.parent / "original" / proof.name / label(parameters)
            sources = unit.sources + [unit.folder / file for file in proof.files]
            problem = prove.write_smt2(proof, parameters, sources, place)
            holds = proof.method == "induction" and prove.induction(proof, problem)[0] is True
            _originals[key] = (_without_places(problem), holds)
        return _originals[key]


@dataclasses.dataclass
class _Trial:
    """A unit with a mutant in it."""

    unit: Unit
    mutant: Mutant
    sources: list
    folder: pathlib.Path
    seconds: float = 0.0
    silent: list = dataclasses.field(default_factory=list)

    def proof(self, proof: Proof) -> bool:
        """Whether a proof objects: by a search from reset, or because its induction fails."""
        if not _sees(self.unit, proof.top, proof.files, self.mutant):
            return False
        sources = self.sources + [self.unit.folder / file for file in proof.files]
        small = proof.bug_parameters or proof.parameters[0]
        # And at all sizes of the quick runs, those at which the mutant changes nothing aside.
        sizes = proof.quick if isinstance(proof.quick, list) and proof.quick else proof.parameters
        for parameters in [small, *(size for size in sizes if size != small)]:
            folder = self.folder / proof.name / label(parameters)
            problem = prove.write_smt2(proof, parameters, sources, folder)
            text, inductive = _original(self.unit, proof, parameters, self.folder)
            if _without_places(problem) == text:
                self.silent.append(f"{proof.name} (does not see it)")
                continue
            if inductive:
                # The step and its base prove what a longer search would look for.
                name = f"{proof.name}, induction"
                if self._objects(name, *prove.induction(proof, problem)):
                    return True
                depth = proof.base or proof.depth + 1
                if self._objects(proof.name, *prove.bounded(proof, problem, depth)):
                    return True
            elif parameters == small:
                if self._objects(proof.name, *prove.bounded(proof, problem, proof.bug_depth)):
                    return True
        return False

    def _objects(self, name: str, verdict: bool | None, outcome: tools.Outcome) -> bool:
        self.seconds += outcome.seconds
        if verdict is not False:
            self.silent.append(f"{name} ({'no answer' if verdict is None else 'holds'})")
        return verdict is False

    def simulation(self, which) -> bool:
        """Whether a quick simulation fails. Raises prove.Trouble if the mutant is an error for
        Verilator only together with the simulation's other sources, which lint has not seen, and
        RuntimeError if the simulation does not build for another reason: then it is broken."""
        if not which.mutants or not _sees(self.unit, which.top, which.files, self.mutant):
            return False
        for quick in which.quick or which.parameters[:1]:
            name = f"{which.name} {label(quick)}".strip()
            outcome = simulate.run_once(self.unit, which, quick, self.sources,
                self.folder / which.name / label(quick), True)  # fmt: skip
            self.seconds += outcome.seconds
            if outcome.status == 3:
                if f"/changed/{self.mutant.path.name}:" in tools.first_error(outcome.text):
                    raise prove.Trouble(outcome.text)
                raise RuntimeError(f"{name} does not build: {tools.tail(outcome.text)}")
            # A harness that waits for ever has noticed, too.
            if outcome.status != 0:
                return True
            self.silent.append(f"{name} (exit status {outcome.status})")
        return False

    def killer(self, whole: bool) -> str:
        """What kills the mutant; empty: nothing does. `whole`: of the harnesses in Python, which
        build a whole system and take minutes; otherwise of all others."""
        # PDR proves what other proofs prove, and takes longer.
        proofs = [each for each in self.unit.proofs if each.bugs and each.method != "pdr"]
        simulations = [each for each in self.unit.simulations
            if each.harness[0].endswith(".py") == whole]  # fmt: skip
        # What has killed most mutants of this source comes first, then what contains least.
        with _kills_lock:
            counts = dict(_kills.setdefault(self.mutant.path, {}))
        for which in sorted([*([] if whole else proofs), *simulations],
                key=lambda each: (-counts.get(each.name, 0), isinstance(each, Simulation),
                    len(_inside(self.unit, each.top, each.files)))):  # fmt: skip
            if (self.proof if isinstance(which, Proof) else self.simulation)(which):
                with _kills_lock:
                    mine = _kills[self.mutant.path]
                    mine[which.name] = mine.get(which.name, 0) + 1
                return which.name
        return ""


def judge(unit: Unit, mutant: Mutant, folder: pathlib.Path) -> list:
    """Returns one line: passed if the mutant is killed, equivalent or no design at all (`fate`)."""
    shutil.rmtree(folder, ignore_errors=True)
    changed = folder / "changed" / mutant.path.name
    changed.parent.mkdir(parents=True)
    changed.write_text(mutant.text())
    sources = [changed if source == mutant.path else source for source in unit.sources]
    trial = _Trial(unit, mutant, sources, folder)

    def line(fate: str, note: str, log: str = "") -> list:
        status = FAILED if fate == "survived" else PASSED
        return [result(unit.name, "mutants", mutant.name, status, trial.seconds, fate=fate,
            note=f"{fate}{note}", log=log)]  # fmt: skip

    # The mutant's own module takes a second. Whole tops take longer than most judges: they only
    # have to accept what these do not kill. Any module may have a package's mutants in it.
    alone = [module for module in unit.modules if module.name == mutant.path.stem]
    reason = _refused(unit, alone or _tops(unit), sources, folder)
    if reason:
        return line("refused", f": {reason}")
    try:
        # First: it takes seconds.
        if equal.identical_alone(unit, mutant.path.stem, sources, folder):
            return line("equivalent", ": no gate differs")
        killer = trial.killer(whole=False)
    except prove.Trouble as trouble:
        return line("refused", f": {tools.first_error(str(trouble))}")
    if killer:
        return line("killed", f" by {killer}")
    reason = _refused(unit, _tops(unit), sources, folder) if alone else ""
    if reason:
        return line("refused", f": {reason}")
    described = _is_described(unit, mutant)
    stem, what = mutant.path.stem, _what(mutant)
    # A function is equal for all arguments, whoever calls it.
    if ((described or what != stem)
            and equal.equivalent_alone(unit, stem, what, sources, folder)):  # fmt: skip
        return line("equivalent", "")
    if described and equal.equivalent_after_reset(unit, stem, sources, folder):
        return line("equivalent", "")
    try:
        killer = trial.killer(whole=True)
    except prove.Trouble as trouble:
        return line("refused", f": {tools.first_error(str(trouble))}")
    if killer:
        return line("killed", f" by {killer}")
    if described and equal.equivalent(unit, _tops(unit), sources, folder):
        return line("equivalent", "")
    diff = f"line {mutant.line}: {mutant.old} -> {mutant.new}; " + ", ".join(trial.silent)
    return line("survived", "", diff)


def _inside(unit: Unit, top: str, files: list) -> dict:
    """Returns {name: text} of the sources that a top module contains, itself with them, as far as
    the names in the sources tell; empty: the top is none of them."""
    # Comments name modules that are elsewhere.
    texts = {source.stem: re.sub(r"//[^\n]*", "", source.read_text())
        for source in [*unit.sources, *(unit.folder / file for file in files)]
        if source.suffix in (".sv", ".v")}  # fmt: skip
    inside, new = {top} & set(texts), {top} & set(texts)
    while new:
        new = {stem for name in new for stem in texts
            if stem not in inside and re.search(rf"\b{stem}\b", texts[name])}  # fmt: skip
        inside |= new
    return {stem: texts[stem] for stem in inside}


def _sees(unit: Unit, top: str, files: list, mutant: Mutant) -> bool:
    """Whether a top module contains the mutant's."""
    inside = _inside(unit, top, files)
    name = _what(mutant)
    return not inside or mutant.path.stem == top or any(
        re.search(rf"\b{name}\b", text) for stem, text in inside.items()
        if stem != mutant.path.stem)  # fmt: skip


def _what(mutant: Mutant) -> str:
    """The name by which other sources use what has the mutant in it: its module, or the function
    of its package if only other sources call that, or the package."""
    stem = mutant.path.stem
    text = mutant.path.read_text()
    before = text.encode()[: mutant.begin].decode()
    function = re.findall(
        r"\bfunction\s+automatic\s+[^;(]*?(\w+)\s*\(|\b(endfunction)\b", before)  # fmt: skip
    if stem.endswith("_pkg") and function and function[-1][0]:
        name = function[-1][0]
        if len(re.findall(rf"\b{name}\b", text)) == 1:
            return name
    return stem


def _comparable(unit: Unit) -> list:
    """Returns the described modules without black boxes: what a box does with its inputs is not
    known, so that its module is equal to the original only if all gates are the same."""
    return [module for module in unit.modules if not module.black_boxes]


def _tops(unit: Unit) -> list:
    """Returns the comparable modules that no other comparable module contains."""
    comparable = _comparable(unit)
    described = {module.name for module in comparable}
    texts = {source.stem: source.read_text() for source in unit.sources
        if source.stem in described}  # fmt: skip

    def is_inside(module: Module) -> bool:
        return any(stem != module.name and re.search(rf"\b{module.name}\s*(#\s*\(|\w+\s*\()", text)
            for stem, text in texts.items())  # fmt: skip

    return [module for module in comparable if not is_inside(module)]


def _is_described(unit: Unit, mutant: Mutant) -> bool:
    """Whether all that is comparable contains all that the mutant may change: its module, or all
    modules that use its package."""
    stem = mutant.path.stem
    names = {module.name for module in _comparable(unit)}
    if not stem.endswith("_pkg"):
        return stem in names
    return all(source.stem in names or source.stem.endswith("_pkg")
        or not re.search(rf"\b{stem}\b", source.read_text())
        for source in unit.sources)  # fmt: skip


def _refused(unit: Unit, modules: list, sources: list, folder: pathlib.Path) -> str:
    """Why a tool refuses the sources of these modules; empty: none does."""
    for module in modules:
        for parameters in module.parameters:
            text = lint.warnings(unit, module, parameters, sources, folder / "lint")
            # A signal that nothing reads any more is what many bugs leave behind.
            found = [line for line in text if "UNUSED" not in line and "Exiting due" not in line]
            if found:
                return found[0]
        outcome = lint.slang(unit, module, module.parameters[0], folder / "read", sources)
        if outcome.status != 0:
            return tools.first_error(outcome.text)
    return ""
