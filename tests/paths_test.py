#!/usr/bin/env python3
"""Fails where a comment or a document names a file that does not exist.

Looks at comments of code, CMake files and scripts, at doc strings, and at the
whole text of *.md. A path is what begins with a folder of the repository's
root; these forms are understood:
  - server/http/tls       a file or a folder, its name whole,
  - validator/quorum      or without an ending: the module, .h and .cpp;
  - kernels/{cpu,gpu}     several at once, as a shell has them;
  - tests/*/golden        at least one of them; tests/fuzz/corpus/TARGET, too;
  - server/http/limits_test.cpp, or limits_test.cpp alone: below tests/.
In *.md, links to other documents and to their headings must lead somewhere.
Usage: paths_test.py [ROOT]; exit code 1 with one line per dead path.
"""

import pathlib
import re
import sys

from layering_test import DATA, LAYERS, OUTSIDE

FOLDERS = sorted({layer.split("/")[0] for layer in LAYERS} |
                 {*OUTSIDE, "cmake", "docs", "packaging"})
# Of other projects, or examples of a form.
FOREIGN = {
    "client/server",  # a word
    "server/client",
}
# Made by the build below build/, included as if they were beside the sources.
GENERATED = re.compile(r"/embedded\.h$")

# Not in the middle of a longer path, nor of a URL or a variable.
PATH = re.compile(r"(?<![\w/.~$}>=@-])(?:%s)/[\w.*{},/+-]*[\w*}]" %
                  "|".join(FOLDERS))
TEST = re.compile(r"(?<![\w/.*{}-])\w+_test\.(?:py|cpp)\b")
PLACEHOLDER = re.compile(r"(?<=/)[A-Z]{2,}(?=/|$)")
BRACES = re.compile(r"\{([^{}]*)\}")
LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)

STRING = r'"(?:[^"\\\n]|\\.)*"'
SLASHES = re.compile(rf"{STRING}|//([^\n]*)|/\*(.*?)\*/", re.DOTALL)
HASHES = re.compile(rf"{STRING}|'[^'\n]*'|(?<![\w$&{{])#([^\n]*)")
DOC_STRING = re.compile(r'"""(.*?)"""', re.DOTALL)
COMMENTS = {
    **dict.fromkeys([".h", ".cpp", ".cu", ".cl", ".js", ".css"], [SLASHES]),
    **dict.fromkeys([".cmake", ".sh", ".in", "CMakeLists.txt"], [HASHES]),
    ".py": [DOC_STRING, HASHES],
}


def kind_of(path):
    name = path.rpartition("/")[2]
    return name if name in COMMENTS else pathlib.PurePath(path).suffix


def prose_of(path, text):
    """What people read of a file, as (line, text)."""
    if kind_of(path) == ".md":
        yield 1, text
    for pattern in COMMENTS.get(kind_of(path), []):
        for found in pattern.finditer(text):
            for group in filter(None, found.groups()):
                yield text.count("\n", 0, found.start(found.lastindex)) + 1, group


def expanded(path):
    """a/{b,c} as a/b and a/c."""
    found = BRACES.search(path)
    if not found:
        return [path]
    return [each for part in found[1].split(",")
            for each in expanded(path[:found.start()] + part +
                                 path[found.end():])]


class Tree:
    def __init__(self, paths):
        """paths: of all files, from the root."""
        self.known = set()
        for path in paths:
            while path:
                self.known.add(path)
                stem, dot, _ = path.rpartition(".")
                if dot and "/" not in path[len(stem):]:
                    self.known.add(stem)
                path = path.rpartition("/")[0]
        self.tests = {path.rpartition("/")[2] for path in paths
                      if path.startswith("tests/")}

    def has(self, path):
        if path not in self.known:
            path = PLACEHOLDER.sub("*", path)
        if "*" in path:
            pattern = re.compile(re.escape(path).replace(r"\*", "[^/]*"))
            return any(pattern.fullmatch(each) for each in self.known)
        if path in self.known or path in FOREIGN or GENERATED.search(path):
            return True
        is_test = TEST.fullmatch(path.rpartition("/")[2])
        return bool(is_test) and "tests/" + path in self.known

    def dead(self, path, text):
        for first, prose in prose_of(path, text):
            for found in PATH.finditer(prose):
                if not all(self.has(each) for each in expanded(found[0])):
                    yield first + prose.count("\n", 0, found.start()), found[0]
            for found in TEST.finditer(prose):
                if found[0] not in self.tests:
                    yield first + prose.count("\n", 0, found.start()), found[0]


def anchors_of(text):
    """The names that GitHub gives to the headings of a document."""
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
            for heading in HEADING.findall(text)}


def dead_links(documents):
    for path, text in documents.items():
        for found in LINK.finditer(text):
            target, _, anchor = found[1].partition("#")
            if "://" in target:
                continue
            folder = pathlib.PurePosixPath(path).parent
            other = path if not target else re.sub(
                r"[^/]+/\.\./", "", str(folder / target))
            if other not in documents or anchor and (
                    anchor not in anchors_of(documents[other])):
                yield path, text.count("\n", 0, found.start()) + 1, found[1]


def violations(files):
    """files: path from the root -> text."""
    tree = Tree(files)
    found = [(path, line, dead) for path, text in files.items()
             for line, dead in tree.dead(path, text)]
    found += dead_links({path: text for path, text in files.items()
                         if path.endswith(".md")})
    return [f"{path}:{line}: {dead} does not exist"
            for path, line, dead in sorted(set(found))]


def read_tree(root):
    """Every file; the text only of those that are looked at."""
    files = {}
    paths = [*root.iterdir()]
    for folder in FOLDERS:
        paths += (root / folder).rglob("*")
    for path in sorted(path for path in paths if path.is_file()):
        name = path.relative_to(root).as_posix()
        is_prose = kind_of(name) == ".md" or kind_of(name) in COMMENTS
        files[name] = (path.read_text()
                       if is_prose and not DATA.search("/" + name) else "")
    return files


def check_the_checker():
    """Every rule finds a planted dead path, and passes what exists."""
    there = {"server/http/router.h": "", "tests/server/http/router_test.cpp": "",
             "kernels/cpu/matmul.cpp": "", "docs/a.md": "# What, and why\n"}
    for text, kind in {
            "// server/http/router.h: x, kernels/cpu, server/http/router": ".h",
            "// server/http/router_test.cpp and router_test.cpp.": ".cpp",
            'f("server/gone.h");  // a client/server': ".cpp",
            "# kernels/{cpu/matmul,cpu}, tests/*/http": ".cmake",
            "[a](docs/a.md#what-and-why) build/server/x": ".md"}.items():
        assert not violations({**there, "x" + kind: text}), (kind, text)
    for text, kind, line in [("\n// server/http/gone.h", ".h", 2),
                             ("/* kernels/gpu */", ".cpp", 1),
                             ("f();  // gone_test.cpp", ".cpp", 1),
                             ("# kernels/{cpu,gone}", ".cmake", 1),
                             ('"""\n\ndocs/b.md"""', ".py", 3),
                             ("a\ntests/*/gone", ".md", 2),
                             ("\n\n[a](docs/b.md)", ".md", 3),
                             ("[a](docs/a.md#which)", ".md", 1)]:
        found = violations({**there, "x" + kind: text})
        assert found and found[0].startswith(f"x{kind}:{line}: "), (text, found)


def main():
    check_the_checker()
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    files = read_tree(root)
    found = violations(files)
    for line in found:
        print(line)
    print(f"paths: {len(files)} files, {len(found)} dead paths")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
