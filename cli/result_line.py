# SPDX-License-Identifier: Apache-2.0
"""The schema of result lines for Python: what a line must be, and the columns that it makes."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

SCHEMA: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
PROPERTIES: dict[str, dict[str, Any]] = SCHEMA["properties"]
REQUIRED: list[str] = SCHEMA["required"]
KINDS = {"string": str, "boolean": bool, "array": list, "object": dict}


def type_of(key: str) -> str:
    """The name of a key's type in JSON Schema, null aside."""
    rule = PROPERTIES[key]
    if "enum" in rule or "const" in rule:
        return "string"
    return (
        rule["type"]
        if isinstance(rule["type"], str)
        else next(each for each in rule["type"] if each != "null")
    )


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _wanted(key: str, value: Any) -> str | None:
    """What a key wants if the value is something else; None: the value is good."""
    rule, kind = PROPERTIES[key], type_of(key)
    allowed = rule.get("enum", [rule["const"]] if "const" in rule else None)
    if allowed is not None:
        return None if value in allowed else " or ".join(allowed)
    if kind not in ("number", "integer"):
        return None if isinstance(value, KINDS[kind]) else KINDS[kind].__name__
    least, most = rule.get("minimum", -math.inf), rule.get("maximum", math.inf)
    if kind == "integer" and least == 0 and most == math.inf:
        return None if is_integer(value) and value >= 0 else "a count"
    if not (is_number(value) if kind == "number" else is_integer(value)):
        return "a number" if kind == "number" else "int"
    if value < least:
        return f"at least {least}"
    return None if value <= most else f"at most {most}"


def fault(line: dict[str, Any]) -> str | None:
    """What is wrong with a result line. Keys that are not listed pass, and so does null for one
    that is not required.
    """
    for key in REQUIRED:
        if line.get(key) is None:
            return f'a result without the key "{key}".'
    return wrong_value(line)


def wrong_value(line: dict[str, Any]) -> str | None:
    """What is wrong with a value of a line that has keys of a result, but maybe not all of them."""
    for key, value in line.items():
        if key not in PROPERTIES or value is None:
            continue
        if (wanted := _wanted(key, value)) is not None:
            return f'the key "{key}" has the value {value!r}, expected {wanted}.'
    return None


def result_line(**keys: Any) -> str:
    """The text of a result line. Raises ValueError for what the schema does not allow."""
    line = {"type": "result", **keys}
    line.setdefault("unit", "ns")
    unknown = next((key for key in line if key not in PROPERTIES), None)
    wrong = (
        fault(line) if unknown is None else f'the key "{unknown}" is not in cli/result_line.json.'
    )
    if wrong is not None:
        raise ValueError(wrong)
    return json.dumps(line)
