import os
import re

import pytest

from support.paths import SOURCE
from support.processes import printed

FORK = """
import os, signal, threading
import numpy as np
import armdyn
import llvmlite.binding as llvm

signal.alarm(30)
busy, go = threading.Event(), threading.Event()
real = llvm.parse_assembly


def parse(*given):  # LLVM is at work, with everything around it half done
    busy.set()
    go.wait(0.3)
    return real(*given)


llvm.parse_assembly = parse
first, second = (armdyn.load("two_link").with_payload(mass, (0, 0, 0)) for mass in (1, 2))
state = np.full(2, 0.1), np.full(2, 0.2), np.full(2, 0.3)
threading.Thread(target=first.inverse_dynamics, args=state).start()
busy.wait()
child = os.fork()
if child == 0:
    signal.alarm(10)
    for robot in (first, second):
        robot.inverse_dynamics(*state)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows does not fork")
@pytest.mark.parametrize("when", ["busy.wait()", "busy.wait(0.02)  # while modules are imported"])
def test_a_child_computes_while_another_thread_of_its_parent_compiles(when):
    code = f"import warnings; warnings.simplefilter('ignore')\n{FORK}".replace("busy.wait()", when)
    assert printed(code, ARMDYN_CACHE_DIR="off") == "0\n"


def test_no_property_has_the_lock_of_python():
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    taking = [p.name for p, text in texts.items() if re.search(r"functools.*cached_prop", text)]
    assert taking == ["forks.py"]
