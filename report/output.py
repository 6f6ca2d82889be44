# SPDX-License-Identifier: Apache-2.0
"""Writing without leftovers: a file appears whole under its name, or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Callable

from report.errors import ReportError


def write_with(path: Path, write: Callable[[Path], None]) -> None:
    """Lets `write` fill a temporary file beside `path`, then renames it into place."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise ReportError(f"{path}: cannot be written ({error.strerror}).") from None
    temporary = Path(name)
    try:
        write(temporary)
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        raise ReportError(f"{path}: cannot be written ({error.strerror}).") from None
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    write_with(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))
