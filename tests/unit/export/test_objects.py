import ctypes
import shutil
import struct
import subprocess

import numpy as np
import pytest

import armdyn
from armdyn.kernels.llvm import loop
from armdyn.kernels.llvm.objects import PLATFORMS, kernel_object
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request

NAME = "arm_inverse_dynamics_loop"


@pytest.fixture(scope="module")
def program():
    return quantity_program(armdyn.load("two_link").model, Request("inverse_dynamics"))


def elf(content):
    """Machine and names of the symbols of an ELF file."""
    assert content[:6] == b"\x7fELF\x02\x01"
    machine = struct.unpack_from("<H", content, 18)[0]
    place, size, count = (*struct.unpack_from("<Q", content, 40), *struct.unpack_from("<HH", content, 58))  # fmt: skip
    sections = [struct.unpack_from("<IIQQQQIIQQ", content, place + k * size) for k in range(count)]
    table = next(s for s in sections if s[1] == 2)
    strings = sections[table[6]]
    places = (struct.unpack_from("<I", content, at)[0] for at in range(table[4], table[4] + table[5], 24))  # fmt: skip
    return machine, {_text(content, strings[4] + k) for k in places}


def coff(content):
    """The same of a COFF file."""
    machine, _, _, place, count, _, _ = struct.unpack_from("<HHIIIHH", content)
    strings, names = place + 18 * count, set()
    k = 0
    while k < count:
        entry = content[place + 18 * k : place + 18 * k + 18]
        zero, offset = struct.unpack_from("<II", entry)
        names.add(entry[:8].rstrip(b"\0").decode() if zero else _text(content, strings + offset))
        k += 1 + entry[17]
    return machine, names


def mach_o(content):
    """The same of a Mach-O file."""
    magic, machine, _, kind, count = struct.unpack_from("<IIIII", content)
    assert (magic, kind) == (0xFEEDFACF, 1)
    at = 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", content, at)
        if command == 2:
            break
        at += size
    place, symbols, strings = struct.unpack_from("<III", content, at + 8)
    places = (struct.unpack_from("<I", content, place + 16 * k)[0] for k in range(symbols))
    return machine, {_text(content, strings + k) for k in places}


def _text(content, at):
    return content[at : content.index(b"\0", at)].decode()


READERS = {"ELF": elf, "COFF": coff, "Mach-O": mach_o}
MACHINES = {
    "aarch64-linux": 183, "x86_64-linux": 62, "x86_64-windows": 0x8664,
    "x86_64-darwin": 0x01000007, "aarch64-darwin": 0x0100000C,
}  # fmt: skip


@pytest.mark.parametrize("name", PLATFORMS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_platform_gets_an_object_in_its_format(name, dtype, program):
    platform = PLATFORMS[name]
    machine, symbols = READERS[platform.format](kernel_object(program, NAME, platform, dtype))
    assert machine == MACHINES[name]
    assert ("_" if platform.format == "Mach-O" else "") + NAME in symbols
    assert not [symbol for symbol in symbols if symbol.lstrip("_").startswith("Py")]


def test_a_large_program_needs_no_python(program, monkeypatch):
    """Scratch memory that does not fit the stack is allocated; who lacks it is not in Python."""
    monkeypatch.setattr(loop, "STACK", 64)
    _, symbols = elf(kernel_object(program, NAME, PLATFORMS["aarch64-linux"]))
    assert {"malloc", "free", "abort"} <= symbols
    assert not [symbol for symbol in symbols if symbol.startswith("Py")]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_kernels_of_this_platform_are_functions_of_batches(tmp_path):
    import platform

    if platform.machine() not in ("x86_64", "aarch64") or platform.system() != "Linux":
        pytest.skip("the test links for Linux")
    arm = armdyn.load("two_link")
    name = f"{platform.machine()}-linux"
    exported = arm.export(tmp_path, target="kernels", platform=name, functions=["inverse_dynamics", "mass_matrix", "kinetic_energy"])  # fmt: skip
    subprocess.run(exported.try_it, shell=True, cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "libtwo_link.so"))
    q, qd, qdd = np.random.default_rng(1).uniform(-2, 2, (3, 11, 2))
    tau, M, E = np.empty((11, 2)), np.empty((11, 2, 2)), np.empty(11)

    def call(function, *arrays):
        pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in arrays]
        function(ctypes.c_size_t(11), *pointers)

    call(library.two_link_inverse_dynamics_batch, q, qd, qdd, tau)
    call(library.two_link_mass_matrix_batch, q, M)
    call(library.two_link_kinetic_energy_batch, q, qd, E)
    np.testing.assert_allclose(tau, arm.inverse_dynamics(q, qd, qdd), atol=1e-12)
    np.testing.assert_allclose(M, arm.mass_matrix(q), atol=1e-12)
    np.testing.assert_allclose(E, arm.kinetic_energy(q, qd), atol=1e-12)
