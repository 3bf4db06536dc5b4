"""Fails on includes that the layers do not allow, and on oversized files.

The tables below are the law: docs/architecture.md explains them. Checks, over
every C++ file of the repository:
  - an include of another layer needs an arrow in LAYERS;
  - within a layer, a folder includes only folders that stand before it in
    ROOMS, so that no two folders include each other;
  - a third-party header may be included only by the layers in THIRD_PARTY;
  - the layers' arrows in use form no cycle, and product code never includes
    tests;
  - a file has at most 500 lines, a header 200, or its first comment says why
    it is "longer"; a function has at most 60;
  - a folder has at most 30 files, unless they are data;
  - no two files define types of the same name in the same namespace: the
    linker would take functions of one for those of the other.
Usage: layering_test.py [ROOT]; exit code 1 with one line per violation.
"""

import collections
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

# The folders of a layer that has several, each after those that it may
# include. Where a folder is not named, its layer is one folder.
ROOMS = {
    "workunits": ["workunits/models", "workunits", "workunits/objects",
                  "workunits/ledger"],
    "kernels": ["kernels", "kernels/reference", "kernels/cpu/vector",
                "kernels/cpu", "kernels/gpu/device", "kernels/gpu",
                "kernels/opencl", "kernels/cuda", "kernels/devices"],
    "workunits/training": ["workunits/training", "workunits/training/layers"],
    "protocol": ["protocol", "protocol/native"],
    "validator": ["validator/update_rules", "validator"],
    "server/store": ["server/store", "server/store/memory",
                     "server/store/sqlite"],
    "server/http": ["server/http/tls", "server/http/clients", "server/http"],
    "server/datasets": ["server/datasets", "server/datasets/readers"],
    "server": [
        "server/settings",      # the project's folder, its keys and settings
        "server/writer",        # the thread that makes every change
        "server/units",         # units that are under way
        "server/hosts",         # who computes: trust, presence, limits
        "server/making",        # a run, and what its next unit is
        "server/state",         # all of that in memory
        "server/objects",       # uploads, what is kept, what is deleted
        "server/sending",       # which host gets what
        "server/judging",       # which results are believed
        "server/merging",       # updates become the model
        "server/house",         # the server's own workers
        "server/rechecking",    # what was believed is computed again
        "server/peers",         # models of other projects
        "server/project",       # all of that, wired
        "server/backup",
        "server/apps",          # programs for stock BOINC clients
        "server/doors",         # what is asked over HTTP
        "server/doors/native",
        "server/doors/boinc/accounts",
        "server/doors/boinc/files",
        "server/doors/boinc/scheduling",
        "server/doors/boinc",
        "server/doors/peers",
        "server/page",          # what people see
        "server/orders/runs",   # runs made and changed
        "server/orders",        # what admin commands ask of a server
        "server/web",           # administration in a browser
        "server/serving",
        "server/simulator/scenario",
        "server/simulator",     # many hosts on a virtual clock
        "server/cli/support",
        "server/cli/auditing",
        "server/cli",           # the admin commands
        "server",
    ],
    "client": [
        "client/machine",       # what it has and is told to use
        "client/folder",        # the data folder, with the projects joined
        "client/site",          # hosts that exchange objects directly
        "client/permission",    # may it compute now?
        "client/exchange",      # what is asked of a project
        "client/units",         # results in flight
        "client/status",        # what people see
        "client/agent",         # the loop
        "client/stock_boinc",
        "client/ui",
        "client/control",       # commands for an agent of another user
        "client/commands",
        "client",
    ],
    "client/worker": ["client/worker/confinement",
                      "client/worker/units", "client/worker/checks",
                      "client/worker/boinc", "client/worker"],
}

# These may include everything; nothing may include them.
OUTSIDE = ("tests", "bench")

# First part of a third-party header's path -> the layers that may include it.
ANY = set(LAYERS)
THIRD_PARTY = {
    "fmt/": ANY,  # stands for std::format, which our compilers lack
    "openssl/": {"base", "server/http"},  # crypto; TLS and its certificates
    "spdlog/": {"base"},
    "nlohmann/": {"base", "workunits", "protocol", "protocol/worker", "validator",
                  "server", "server/http", "server/datasets", "client"},
    "pugixml.hpp": {"protocol/boinc"},  # BOINC's XML
    "boinc/": {"client/stock_boinc/gui_rpc"},  # libboinc's GUI RPC
    "hwy/": {"kernels"},
    "CL/": {"kernels"},
    "cuda": {"kernels"},
    "SQLiteCpp/": {"server/store"},
    "sqlite3.h": {"server/store"},
    "unicode/": {"server"},  # ICU: names that look alike
    "boost/": {"server/http"},
    "toml++/": {"server"},
    "zlib.h": {"server/datasets"},
    "seccomp.h": {"client/worker"},
    "systemd/": {"client"},  # who sits at this computer
    "png.h": {"server/datasets"},  # the grid of samples of `dataset add`
    "CLI/": {"commandline", "server", "client", "client/worker"},
    # The server's use: its own commands talk to run/admin.sock.
    "curl/": {"protocol/transfer", "server"},
    "doctest/": set(),
}

# Headers of the operating system that end in .h.
SYSTEM = re.compile(
    r"^(sys|net|netinet|arpa|linux)/|^(unistd|fcntl|poll|signal|sched|netdb|errno|"
    r"stdlib|malloc|spawn|immintrin|cpuid|dlfcn|pthread|termios|pwd|grp|syslog|ifaddrs|elf)\.h$")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
NAMESPACE = re.compile(r"namespace ([\w:]*) ?\{$")
TYPE = re.compile(r"(?:struct|class|enum class|enum) (\w+)\b(?!::)[^;]*$")
SOURCES = {".h", ".cpp", ".cu", ".cl"}
MOST_LINES = {".h": 200}
MOST_LINES_DEFAULT = 500
MOST_FUNCTION_LINES = 60
MOST_FILES = 30
# Folders whose files are data: samples of formats, fuzz corpora.
DATA = re.compile(r"/(corpus|golden|dictionaries)(/|$)")


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


def folder_of(path):
    return path.rpartition("/")[0]


def rooms_of(layer):
    return ROOMS.get(layer, [layer])


def folder_violations(paths):
    """Folders with too many files, and folders of product code that no table
    names."""
    files = collections.Counter(folder_of(path) for path in paths)
    for folder, count in sorted(files.items()):
        if count > MOST_FILES and not DATA.search(folder):
            yield (f"{folder}: {count} files, at most {MOST_FILES}: divide it "
                   f"by what they are for")


def room_violation(path, layer, header):
    """An include of another folder of the same layer."""
    rooms = rooms_of(layer)
    source, target = folder_of(path), folder_of(header)
    for folder in (source, target):
        if folder not in rooms:
            return (f"{path}: folder {folder} stands nowhere in ROOMS of "
                    f"tests/layering_test.py")
    if rooms.index(target) > rooms.index(source):
        return (f"{path}: includes {header}: {target} stands after {source} in "
                f"tests/layering_test.py")
    return None


def function_violations(path, text):
    """Of product code; functions of namespaces: clang-format puts their first and last lines at
    the start of a line, and nothing else ends in a line that is "}" alone."""
    start = 0
    if is_outside(path):
        return
    for number, line in enumerate(text.splitlines(), 1):
        if line == "}" and number - start - 1 > MOST_FUNCTION_LINES:
            yield (f"{path}:{start}: a function of {number - start - 1} lines, "
                   f"at most {MOST_FUNCTION_LINES}: divide it")
        elif line[:1] not in ("", " ", "}", "#", "/"):
            start = number


def own_include_violation(path, layer, header, arrows):
    target = layer_of(header)
    if "/" not in header or target is None:
        if is_outside(header):
            return f"{path}: includes {header}: product code never does"
        return f"{path}: includes \"{header}\": write the path from the root"
    if target == layer:
        return room_violation(path, layer, header)
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


def violations(files, others=()):
    """files: path from the root -> text; others: paths of files that are not
    C++. Returns a sorted list of lines."""
    arrows = set()
    found = list(folder_violations([*files, *others]))
    for path, text in files.items():
        found += size_violations(path, text)
        found += include_violations(path, text, arrows)
        found += function_violations(path, text)
    found += cycle_violations(arrows)
    found += twice_violations(files)
    return sorted(found)


def read_tree(root):
    """The C++ files with their texts, and the paths of all others."""
    folders = {layer.split("/")[0] for layer in LAYERS} | set(OUTSIDE)
    files, others = {}, []
    for folder in sorted(folders):
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix in SOURCES and path.is_file():
                files[name] = path.read_text()
            elif path.is_file() and path.suffix != ".pyc":
                others.append(name)
    return files, others


def check_the_checker():
    """Every rule finds a planted violation, and passes what is allowed."""
    allowed = {
        "server/making/a.cpp": '#include "server/units/u.h"\n'
                        '#include "server/store/s.h"\n#include <vector>\n'
                        '#include <sys/stat.h>\n#include <fmt/format.h>\n',
        "tests/server/t.cpp": '#include "kernels/k.h"\n#include <zlib.h>\n',
        "base/long.h": "// Longer than usual: a table.\n" + "\n" * 300,
    }
    assert violations(allowed) == [], violations(allowed)
    planted = {
        "client/agent/a.cpp": ('#include "kernels/k.h"\n', "no arrow"),
        "base/b.h": ('#include "workunits/w.h"\n', "no arrow"),
        "server/cli/c.cpp": ('#include "client/worker/x.h"\n', "no arrow"),
        "workunits/d.cpp": ('#include <spdlog/spdlog.h>\n', "only base"),
        "client/ui/e.cpp": ('#include <doctest/doctest.h>\n', "only tests"),
        "base/f.cpp": ('#include <unheard/of.h>\n', "not in the tables"),
        "base/g.cpp": ('#include "tests/support/t.h"\n', "never"),
        "base/h.cpp": ('#include "error.h"\n', "from the root"),
        "base/i.h": ("\n" * 201, "201 lines"),
        "base/j.cpp": ("\n" * 501, "501 lines"),
        "validator2/k.cpp": ("", "no layer"),
        "server/units/l.cpp": ('#include "server/making/m.h"\n', "after"),
        "server/rooms/m.cpp": ('#include "server/units/u.h"\n', "nowhere"),
        "base/n.cpp": ("void f() {\n" + "  g();\n" * 61 + "}\n", "61 lines"),
    }
    for path, (text, expected) in planted.items():
        found = violations({path: text})
        assert len(found) == 1 and expected in found[0], (path, found)
    crowd = {f"base/{number}.h": "" for number in range(31)}
    assert "31 files" in violations(crowd)[0]
    assert not violations({}, [f"tests/a/golden/{n}" for n in range(31)])
    one = "namespace quorate {\nstruct Twice {\n};\n}  // namespace quorate\n"
    own = "namespace {\nstruct Twice {\n};\n}  // namespace\n"
    assert not violations({"base/a.h": one, "base/b.cpp": own, "base/c.cpp": own})
    found = violations({"base/a.h": one, "server/units/b.h": one})
    assert len(found) == 1 and "rename one" in found[0], found
    cycle = {("a", "b"), ("b", "c"), ("c", "a"), ("a", "d")}
    assert len(list(cycle_violations(cycle))) == 3
    assert not list(cycle_violations({("a", "b"), ("b", "c"), ("a", "c")}))


def main():
    check_the_checker()
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1
                        else pathlib.Path(__file__).parent.parent)
    files, others = read_tree(root)
    found = violations(files, others)
    for line in found:
        print(line)
    print(f"layering: {len(files)} files, {len(found)} violations")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
