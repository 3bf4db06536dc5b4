#!/usr/bin/env python3
"""Fails on includes that the layers do not allow, and on oversized files.

The tables below are the law: docs/architecture.md explains them. Checks, over
every C++ file of the repository:
  - an include of another layer needs an arrow in LAYERS;
  - a third-party header may be included only by the layers in THIRD_PARTY;
  - the arrows in use form no cycle, and product code never includes tests;
  - a file has at most 500 lines, a header 200, or its first comment says why
    it is "longer";
  - no two files define types of the same name in the same namespace: the
    linker would take functions of one for those of the other.
Usage: layering_test.py [ROOT]; exit code 1 with one line per violation.
"""

import pathlib
import re
import sys

# Layer -> the layers that it may include. A file belongs to the layer with
# the longest matching path. Programs that only wire parts together (main.cpp)
# are bound like the rest of their folder.
LAYERS = {
    "base": set(),
    # Manual pages and completion, made of any program's help texts.
    "commandline": set(),
    "workunits": {"base"},
    "kernels": {"base"},
    "workunits/training": {"base", "workunits", "kernels"},
    "protocol": {"base", "workunits"},
    # Talks to a worker process over its pipes: client and server both do.
    "protocol/worker": {"base", "workunits", "protocol"},
    # Asks a server, over libcurl: clients their projects, servers their peers.
    "protocol/transfer": {"base", "workunits", "protocol"},
    # The dialect of stock BOINC clients.
    "protocol/boinc": {"base", "workunits", "protocol"},
    "validator": {"base", "workunits"},
    "server/store": {"base", "workunits"},
    "server/http": {"base"},
    "server/datasets": {"base", "workunits"},
    # protocol/boinc: stock BOINC clients are served, too.
    "server": {"base", "workunits", "protocol", "protocol/boinc",
               "protocol/transfer", "protocol/worker", "validator", "server/store", "server/http",
               "server/datasets", "commandline"},
    # server/http knows no server: the volunteer's own page is served with it.
    # protocol/boinc: what a project answers when an account is made there.
    "client": {"base", "workunits", "protocol", "protocol/worker",
               "protocol/boinc", "protocol/transfer", "client/stock_boinc/gui_rpc", "server/http",
               "commandline"},
    # An installed BOINC client, behind one header.
    "client/stock_boinc/gui_rpc": {"base", "protocol"},
    # protocol/boinc: what a BOINC client and a task say to each other.
    "client/worker": {"base", "workunits", "workunits/training", "kernels",
                      "protocol", "protocol/worker", "protocol/boinc",
                      "commandline"},
}

# These may include everything; nothing may include them.
OUTSIDE = ("tests", "bench")

# First part of a third-party header's path -> the layers that may include it.
ANY = set(LAYERS)
THIRD_PARTY = {
    "fmt/": ANY,  # stands for std::format, which our compilers lack
    "openssl/": {"base", "server/http"},  # crypto; TLS and its certificates
    "spdlog/": {"base"},
    "nlohmann/": {"workunits", "protocol", "protocol/worker", "validator",
                  "server", "server/datasets", "client"},
    "pugixml.hpp": {"protocol/boinc"},  # BOINC's XML
    "boinc/": {"client/stock_boinc/gui_rpc"},  # libboinc's GUI RPC
    "hwy/": {"kernels"},
    "CL/": {"kernels"},
    "cuda": {"kernels"},
    "SQLiteCpp/": {"server/store"},
    "sqlite3.h": {"server/store"},
    "boost/": {"server/http"},
    "toml++/": {"server"},
    "zlib.h": {"server/datasets"},
    "png.h": {"server/datasets"},  # the grid of samples of `dataset add`
    "CLI/": {"commandline", "server", "client", "client/worker"},
    # The server's use: its own commands talk to run/admin.sock.
    "curl/": {"protocol/transfer", "server"},
    "doctest/": set(),
}

# Headers of the operating system that end in .h.
SYSTEM = re.compile(
    r"^(sys|netinet|arpa|linux)/|^(unistd|fcntl|poll|signal|sched|netdb|errno|"
    r"stdlib|malloc|spawn|immintrin|cpuid|dlfcn|pthread|termios|pwd|syslog|ifaddrs|elf)\.h$")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
NAMESPACE = re.compile(r"namespace ([\w:]*) ?\{$")
TYPE = re.compile(r"(?:struct|class|enum class|enum) (\w+)\b(?!::)[^;]*$")
SOURCES = {".h", ".cpp", ".cu", ".cl"}
MOST_LINES = {".h": 200}
MOST_LINES_DEFAULT = 500


def layer_of(path):
    """The layer of a file or header path; None outside of every layer."""
    parts = path.split("/")[:-1]
    for end in range(len(parts), 0, -1):
        name = "/".join(parts[:end])
        if name in LAYERS:
            return name
    return None


def is_outside(path):
    return path.split("/")[0] in OUTSIDE


def first_comment(text):
    lines = []
    for line in text.splitlines():
        if not line.startswith(("//", "#pragma", "#!")) and line.strip():
            break
        lines.append(line)
    return " ".join(lines)


def size_violations(path, text):
    most = MOST_LINES.get(pathlib.PurePath(path).suffix, MOST_LINES_DEFAULT)
    count = text.count("\n")
    if count > most and "longer" not in first_comment(text).lower():
        yield (f"{path}: {count} lines, at most {most}: split it, or say in "
               f"its first comment why it is longer")


def own_include_violation(path, layer, header, arrows):
    target = layer_of(header)
    if "/" not in header or target is None:
        if is_outside(header):
            return f"{path}: includes {header}: product code never does"
        return f"{path}: includes \"{header}\": write the path from the root"
    if target == layer:
        return None
    arrows.add((layer, target))
    if target not in LAYERS[layer]:
        return (f"{path}: includes {header}: no arrow from {layer} to {target}"
                f" in tests/layering_test.py")
    return None


def system_include_violation(path, layer, header):
    for prefix, layers in THIRD_PARTY.items():
        if header.startswith(prefix):
            if layer in layers:
                return None
            return (f"{path}: includes <{header}>: only "
                    f"{', '.join(sorted(layers)) or 'tests'} may")
    if ("/" in header or header.endswith(".h")) and not SYSTEM.match(header):
        return f"{path}: includes <{header}>: not in the tables"
    return None


def include_violations(path, text, arrows):
    if is_outside(path):
        return
    layer = layer_of(path)
    if layer is None:
        yield f"{path}: belongs to no layer of tests/layering_test.py"
        return
    for kind, header in INCLUDE.findall(text):
        # Highway includes a file again for every instruction set.
        if kind == '"' and header != path:
            found = own_include_violation(path, layer, header, arrows)
        else:
            found = (system_include_violation(path, layer, header)
                     if kind == "<" else None)
        if found:
            yield found


def types_of(text):
    """Types that a file defines at the scope of a namespace that has a name, as
    (namespace, name); clang-format puts all of them at the start of a line."""
    spaces = []
    for line in text.splitlines():
        if space := NAMESPACE.match(line):
            spaces.append(space[1])
        elif line.startswith("}  // namespace"):
            spaces.pop()
        elif (defined := TYPE.match(line)) and "" not in spaces:
            yield "::".join(spaces), defined[1]


def twice_violations(files):
    """Product code alone: a test's types meet those of its program only."""
    first = {}
    for path, text in files.items():
        if is_outside(path) or not path.endswith((".h", ".cpp")):
            continue
        for key in types_of(text):
            if first.setdefault(key, path) != path:
                yield (f"{path}: defines {'::'.join(key)}, as {first[key]} "
                       f"does: rename one")


def cycle_violations(arrows):
    """Removes layers that include nothing that is left, until none is."""
    left = set(arrows)
    while True:
        busy = {source for source, _ in left}
        kept = {arrow for arrow in left if arrow[1] in busy}
        if kept == left:
            break
        left = kept
    for source, target in sorted(left):
        yield f"include cycle: {source} -> {target} is part of one"


def violations(files):
    """files: path from the root -> text. Returns a sorted list of lines."""
    arrows = set()
    found = []
    for path, text in files.items():
        found += size_violations(path, text)
        found += include_violations(path, text, arrows)
    found += cycle_violations(arrows)
    found += twice_violations(files)
    return sorted(found)


def read_tree(root):
    folders = {layer.split("/")[0] for layer in LAYERS} | set(OUTSIDE)
    files = {}
    for folder in sorted(folders):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SOURCES and path.is_file():
                files[path.relative_to(root).as_posix()] = path.read_text()
    return files


def check_the_checker():
    """Every rule finds a planted violation, and passes what is allowed."""
    allowed = {
        "server/a.cpp": '#include "server/store/s.h"\n#include <vector>\n'
                        '#include <sys/stat.h>\n#include <fmt/format.h>\n',
        "tests/server/t.cpp": '#include "kernels/k.h"\n#include <zlib.h>\n',
        "base/long.h": "// Longer than usual: a table.\n" + "\n" * 300,
    }
    assert violations(allowed) == [], violations(allowed)
    planted = {
        "client/a.cpp": ('#include "kernels/k.h"\n', "no arrow"),
        "base/b.h": ('#include "workunits/w.h"\n', "no arrow"),
        "server/c.cpp": ('#include "client/worker/x.h"\n', "no arrow"),
        "workunits/d.cpp": ('#include <spdlog/spdlog.h>\n', "only base"),
        "client/e.cpp": ('#include <doctest/doctest.h>\n', "only tests"),
        "base/f.cpp": ('#include <unheard/of.h>\n', "not in the tables"),
        "base/g.cpp": ('#include "tests/support/t.h"\n', "never"),
        "base/h.cpp": ('#include "error.h"\n', "from the root"),
        "base/i.h": ("\n" * 201, "201 lines"),
        "base/j.cpp": ("\n" * 501, "501 lines"),
        "validator2/k.cpp": ("", "no layer"),
    }
    for path, (text, expected) in planted.items():
        found = violations({path: text})
        assert len(found) == 1 and expected in found[0], (path, found)
    one = "namespace quorate {\nstruct Twice {\n};\n}  // namespace quorate\n"
    own = "namespace {\nstruct Twice {\n};\n}  // namespace\n"
    assert not violations({"base/a.h": one, "base/b.cpp": own, "base/c.cpp": own})
    found = violations({"base/a.h": one, "server/b.h": one})
    assert len(found) == 1 and "rename one" in found[0], found
    cycle = {("a", "b"), ("b", "c"), ("c", "a"), ("a", "d")}
    assert len(list(cycle_violations(cycle))) == 3
    assert not list(cycle_violations({("a", "b"), ("b", "c"), ("a", "c")}))


def main():
    check_the_checker()
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1
                        else pathlib.Path(__file__).parent.parent)
    files = read_tree(root)
    found = violations(files)
    for line in found:
        print(line)
    print(f"layering: {len(files)} files, {len(found)} violations")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
