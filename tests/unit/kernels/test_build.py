"""Building kernels: out of memory, out of the cache, or anew, and never a wrong one."""

import gc
import os
import shutil
import subprocess
import sys
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn import Robot
from armdyn.kernels import build as module
from armdyn.kernels.build import machine_code
from armdyn.kernels.cache import user_cache
from armdyn.kernels.kernel import Kernel
from armdyn.kernels.llvm import backend as llvm_backend
from armdyn.kernels.llvm import elf
from armdyn.kernels.llvm.backend import Linked, LlvmTarget, object_code
from armdyn.kernels.llvm.target import Target
from armdyn.model.edit import with_gravity
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request
from support.source_code import imports

pytestmark = pytest.mark.slow

MODEL = armdyn.load("two_link").model
REQUEST = Request("mass_matrix")
Q = np.array([0.3, -1.1])


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of its own, and nothing remembered by the process."""
    monkeypatch.setenv("ARMDYN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "_alive", weakref.WeakValueDictionary())
    return user_cache()


@pytest.fixture
def made(monkeypatch):
    """Names of what is compiled."""
    compiled = []

    def counted(text, target):
        compiled.append(target)
        return object_code(text, target)

    monkeypatch.setattr(llvm_backend, "object_code", counted)
    return compiled


def torques(model=MODEL, **options):
    return Kernel(model, Request("inverse_dynamics", **options))(Q, Q, Q)


def test_one_build_serves_all_who_ask(made, cache):
    target = LlvmTarget(Target.host(), entry=True)
    first = machine_code(MODEL, REQUEST, target)
    assert machine_code(MODEL, REQUEST, target) is first
    assert machine_code(armdyn.load("two_link").model, Request("mass_matrix"), target) is first
    assert len(made) == len(cache.entries()) == 1
    del first
    gc.collect()
    assert len(module._alive) == 0
    again = machine_code(MODEL, REQUEST, target)
    assert len(made) == 1
    assert (again.inputs, again.shape, again.entry) == ((("q", 2),), (2, 2), True)


def test_a_kernel_from_disk_gives_the_same_bits(made):
    first = torques()
    gc.collect()
    assert np.array_equal(torques(), first)
    assert len(made) == 1
    truth = Robot(MODEL).inverse_dynamics(Q, Q, Q, formulation="newton_euler")
    np.testing.assert_allclose(first, truth, rtol=1e-13)


def damages(whole):
    yield b""
    yield whole[: len(whole) // 2]
    yield whole[:-1]
    yield whole[:300] + bytes([whole[300] ^ 1]) + whole[301:]
    yield whole[:60] + whole[60:].replace(b'"q", 2', b'"q", 3')
    yield b"\0" * len(whole)


@pytest.mark.slow
def test_a_damaged_file_is_ignored_and_replaced(made, cache):
    first = torques()
    (entry,) = cache.entries()
    file = cache.folder / entry.name
    whole = file.read_bytes()
    for count, damage in enumerate(damages(whole), start=2):
        assert damage != whole
        file.write_bytes(damage)
        gc.collect()
        assert np.array_equal(torques(), first)
        assert len(made) == count
        assert file.read_bytes() == whole


def test_swapped_files_are_ignored(made, cache):
    kernels = [Kernel(MODEL, Request(name)) for name in ("gravity_vector", "mass_matrix")]
    expected = [kernel(Q) for kernel in kernels]
    one, other = (cache.folder / entry.name for entry in cache.entries())
    contents = one.read_bytes(), other.read_bytes()
    one.write_bytes(contents[1])
    other.write_bytes(contents[0])
    del kernels
    gc.collect()
    again = [Kernel(MODEL, Request(name))(Q) for name in ("gravity_vector", "mass_matrix")]
    assert len(made) == 4
    assert all(np.array_equal(a, b) for a, b in zip(again, expected, strict=True))


def test_without_a_cache_or_with_one_that_cannot_be_used(made, tmp_path, monkeypatch):
    monkeypatch.setenv("ARMDYN_CACHE_DIR", "off")
    first = torques()
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("ARMDYN_CACHE_DIR", str(tmp_path / "file"))
    gc.collect()
    assert np.array_equal(torques(), first)
    assert len(made) == 2
    assert not (tmp_path / "cache").exists()


def key(model=MODEL, request=REQUEST, dtype="float64", target=None, program=None):
    return module._key(model, request, LlvmTarget(target or Target.host(), dtype), program)


def test_the_key_is_that_of_everything_that_matters():
    host = Target.host()
    heavier = Robot(MODEL).with_payload(1e-9).model
    different = [
        key(),
        key(model=armdyn.load("scara").model),
        key(model=heavier),
        key(model=with_gravity(MODEL, np.nextafter(MODEL.gravity, 100.0))),
        key(dtype="float32"),
        key(target=replace(host, features=host.features + ",-fma")),
        key(target=replace(host, cpu="x86-64")),
        key(target=replace(host, bits=host.bits // 2)),
        key(target=replace(host, fma=not host.fma)),
        key(target=replace(host, triple="x86_64-pc-windows-msvc")),
        key(request=Request("gravity_vector")),
    ]
    options = [
        {},
        {"friction": False},
        {"payload": True},
        {"gravity": True},
        {"wrench": ("tool",)},
        {"wrench": ("link1",)},
        {"wrench": ("link1", "tool")},
        {"wrench": ("tool", "link1")},
        {"wrench": ("tool",), "wrench_frame": "tool"},
        {"formulation": "newton_euler"},
        {"formulation": "denoc"},
    ]
    different += [key(request=Request("inverse_dynamics", **given)) for given in options]
    places = [{}, {"link": "link1"}, {"frame": "tool"}, {"link": "link1", "frame": "tool"}]
    different += [key(request=Request("jacobian", **given)) for given in places]
    assert len(set(different)) == len(different)
    assert key() == key(model=armdyn.load("two_link").model)
    told = replace(MODEL, title="another title", source="elsewhere")
    assert key(model=told) == key()
    truth = np.bool_(False)
    assert key(request=Request("bias", friction=truth)) == key(
        request=Request("bias", friction=False)
    )


@pytest.mark.parametrize("what", ["armdyn", "llvmlite", "python", "format", "fast entry"])
def test_the_key_changes_with_versions(monkeypatch, what):
    module._versions.cache_clear()
    before = key()
    if what == "armdyn":
        monkeypatch.setattr(module, "__version__", "0.0.1")
    elif what == "llvmlite":
        monkeypatch.setattr(module.llvmlite, "__version__", "0.1.0")
    elif what == "python":
        monkeypatch.setattr(module.platform, "python_version", lambda: "3.99.0")
    elif what == "format":
        monkeypatch.setattr(module, "FORMAT", module.FORMAT + 1)
    else:
        monkeypatch.setattr(module.numpy_api, "arrays_are_as_expected", lambda: False)
    module._versions.cache_clear()
    assert key() != before
    monkeypatch.undo()
    module._versions.cache_clear()
    assert key() == before


def test_the_key_changes_with_the_sources(tmp_path, monkeypatch):
    root = tmp_path / "armdyn"
    shutil.copytree(Path(armdyn.__file__).parent, root, ignore=shutil.ignore_patterns("*.pyc"))
    monkeypatch.setattr(module, "__file__", str(root / "kernels" / "build.py"))

    def fresh():
        module._versions.cache_clear()
        return key()

    found = [fresh()]
    assert fresh() == found[0]
    for name in (
        "kernels/llvm/trig.py",
        "shorten/minimal/torques.py",
        "graph/nodes.py",
        "arrays.py",
    ):
        file = root / name
        os.utime(file, ns=(0, file.stat().st_mtime_ns + 1_000_000_000))
        assert fresh() == found[-1]  # another install of the same wheel
        file.write_text(file.read_text() + "# changed")
        found.append(fresh())
    (root / "model" / "another.py").write_text("")
    found.append(fresh())
    assert len(set(found)) == len(found)
    (root / "cli" / "app.py").write_text("")
    assert fresh() == found[-1]
    module._versions.cache_clear()


SCRIPT = """
import sys
import armdyn, numpy as np
from armdyn.kernels.cache import user_cache
print("ready", flush=True)
sys.stdin.readline()
q = np.array([0.3, -1.1])
robot = armdyn.load("two_link")
for name in ("inverse_dynamics", "mass_matrix", "gravity_vector"):
    kernel = robot.kernel(name)
    print(kernel(*[q] * len(kernel.__self__.inputs)).tobytes().hex())
print(len(user_cache().entries()))
"""


@pytest.mark.slow
def test_processes_that_build_at_once_all_get_the_right_result():
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    for worker in workers:
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        worker.stdin.write("\n")
        worker.stdin.flush()
    outputs = [worker.communicate(timeout=60)[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0, 0]
    expected = [
        torques(),
        *(Kernel(MODEL, Request(n))(Q) for n in ("mass_matrix", "gravity_vector")),
    ]
    for output in outputs:
        *results, _ = output.split()
        assert results == [x.tobytes().hex() for x in expected]
    assert max(output.split()[-1] for output in outputs) == "3"


@pytest.mark.slow
def test_dropped_kernels_give_their_memory_back():
    if not Path("/proc/self/statm").exists():
        pytest.skip("the size of this process is not known")
    program = quantity_program(armdyn.load("panda").model, Request("forward_dynamics_derivatives"))
    content = object_code(llvm_backend.module(program, Target.host()), Target.host())

    def resident():
        gc.collect()
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    for _ in range(20):
        Linked(content, ("loop",))
    before = resident()
    for _ in range(300):
        Linked(content, ("loop",))
    assert resident() - before < 300 * 2000
    assert len(content) > 45_000


GROWTH = """
import gc, re
from pathlib import Path
import numpy as np
import armdyn
from armdyn.kernels.llvm.backend import Linked, module, object_code
from armdyn.kernels.llvm.target import Target
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request

model, host = armdyn.load("two_link").model, Target.host()
text = module(quantity_program(model, Request("potential_energy")), host)

def compiled(k):                                                    # each with constants of its own
    Linked(object_code(re.sub("0x[0-9A-F]{10}", f"0x3FE{k:07X}", text), host), ("loop",))

def called(k):
    robot = armdyn.Robot(model)
    robot.mass_matrix(np.ones(2)), robot.mass_matrix(np.ones((2, 2))), robot.kernel("bias")

def growth(drop, first, last):
    gc.collect()
    before = int(Path("/proc/self/statm").read_text().split()[1])
    for k in range(first, last):
        drop(k)
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1]) - before
    return pages * 4096 / (last - first)

for drop in (compiled, called):
    growth(drop, 0, 60)
    print(growth(drop, 60, 240))
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is not known here")
def test_kernels_that_are_made_and_dropped_leave_nothing():
    command = [sys.executable, "-c", GROWTH]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    grown = [float(line) for line in done.stdout.split()]
    assert max(grown) < 1500, f"bytes a kernel that was compiled, and one that was called: {grown}"


@pytest.mark.parametrize("kept", [b"", b"[]\n", b"{}\n", b"[" * 100_000, b'{"functions": []'])
def test_what_was_kept_and_is_no_code_is_made_again(kept, monkeypatch):
    monkeypatch.setattr(module.ObjectCache, "get", lambda cache, key: kept)
    kernel = Kernel(replace(MODEL, name=repr(kept[:20])), REQUEST)
    assert np.isfinite(kernel.call(Q)).all()


def test_names_of_robots_may_be_anything():
    for name in ("", 'a "b" %s\n', "Ωμέγα 腕", "x" * 3000):
        kernel = Kernel(replace(MODEL, name=name), REQUEST)
        assert repr(name) in kernel.gufunc.__doc__
        assert np.isfinite(kernel.call(Q)).all()


def test_what_is_compiled_is_said(monkeypatch):
    said = []
    noted = module.note
    monkeypatch.setattr(module, "note", lambda text: said.append(text) or noted(text))
    assert Kernel(MODEL, Request("kinetic_energy")).shape == ()
    assert "writing the equations for kinetic_energy of 'two_link'" in said[0]
    assert "operations for kinetic_energy of 'two_link'; the result is kept" in said[1]


def test_the_key_reads_every_room_that_programs_come_from():
    read = {name.removesuffix(".py") for name in module.SOURCES}
    rooms = {name: (name + ".").split(".")[1] for name in imports()}
    used = {rooms[one] for name, ones in imports().items() if rooms[name] in read for one in ones}
    # errors, locks, records and tables decide no number; files hold what the rooms that are read have found
    assert used - read <= {"", "errors", "forks", "html", "io", "records", "version"}


FULL = """
import mmap
import numpy as np
import armdyn
robot = armdyn.load("two_link")
robot.mass_matrix(np.ones(2))                                       # all is imported
page = mmap.PAGESIZE
pages = [mmap.mmap(-1, page) for _ in range(400)]
filled = [mmap.mmap(-1, size * page) for size in (512, 64, 16, 8, 4, 3, 2) for _ in range(100)]
far = mmap.mmap(-1, 5 * 2**30, prot=mmap.PROT_READ)
del pages[::2]                                                      # room for constants alone
print(*robot.inverse_dynamics(*np.ones((3, 2))))
"""


@pytest.mark.skipif(not elf.HERE, reason="LLVM's loader is used here")
def test_code_and_constants_are_near_each_other_in_a_large_process(tmp_path):
    """LLVM's loader aborts, or reads other memory, where the system puts them far apart."""
    command = [sys.executable, "-c", FULL]
    environment = os.environ | {"ARMDYN_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    expected = Robot(MODEL).inverse_dynamics(*np.ones((3, 2)), formulation="newton_euler")
    np.testing.assert_allclose([float(x) for x in done.stdout.split()], expected, rtol=1e-12)
