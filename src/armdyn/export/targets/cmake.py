"""A project of CMake: library, headers, test, installation, and a project that finds it."""

from armdyn.export.c.export import CSources
from armdyn.export.names import comment
from armdyn.export.targets.eigen import eigen_header
from armdyn.export.targets.target import ExportTarget, Package, filled


def _package(made: CSources) -> Package:
    first = made.functions[0]
    zeros = {i.name: i.size or 1 for i in first.program.inputs}
    arguments = [f"    {made.real} {name}[{size}] = {{0}};" for name, size in zeros.items()]
    given = ", ".join([*zeros, "result"] if first.program.shape else zeros)
    call = f"{made.prefix}_{first.name}({given});"
    files = {
        "CMakeLists.txt": "cmake/CMakeLists.txt",
        f"{made.prefix}Config.cmake.in": "cmake/Config.cmake.in",
        "example/CMakeLists.txt": "cmake/example.txt",
        "example/main.c": "cmake/main.c",
    }
    texts = filled(
        made,
        files,
        TITLE=comment(made.model.title or made.model.name).replace("$", " ").replace(";", ","),
        SELFTEST=made.selftest,
        PACKAGE_INIT="@PACKAGE_INIT@",  # which is CMake's to replace
        FUNCTION=first.name,
        ARGUMENTS="\n".join(arguments),
        SIZE=max(1, len(first.program.outputs)),
        CALL=call if first.program.shape else f"result[0] = {call}",
    )
    try_it = "cmake -S . -B build && cmake --build build && ctest --test-dir build"
    return made.texts | eigen_header(made) | texts, try_it


CMAKE = ExportTarget("cmake", "a library with headers, test and installation", _package)
