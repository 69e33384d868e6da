"""C compilers of this machine."""

import os
import shutil
import subprocess
from pathlib import Path

from armdyn.errors import CompilerError

USUAL = ("cc", "gcc", "clang")
"""Names of compilers that are looked for, if the variable CC names none."""
LONGEST_COMPILATION = 600
"""Seconds after which a compiler is stopped."""


def compiler(need: str) -> str:
    """The path of a C compiler; an error that says for what there is `need` if there is none."""
    wanted = os.environ.get("CC", "").strip()
    for name in (wanted,) if wanted else USUAL:
        found = shutil.which(name)
        if found:
            return found
    where = f"the variable CC names {wanted!r}, which is no program" if wanted else "found none"
    raise CompilerError(
        f"{need} needs a C compiler: {where}; install one ({', '.join(USUAL)}), or name its path "
        "in the variable CC"
    )


def compiled(words: list[str], folder: Path) -> str:
    """Run a compiler in a folder; what it prints, or an error with that."""
    try:
        done = subprocess.run(
            words,
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=LONGEST_COMPILATION,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CompilerError(f"{words[0]} could not be run: {error}") from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise CompilerError(f"{' '.join(words)} failed: {' / '.join(said[:5]) or 'no message'}")
    return done.stdout
