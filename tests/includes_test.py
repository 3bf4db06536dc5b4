#!/usr/bin/env python3
"""Fails where a file uses a name whose header it does not include.

The sanitizers' build precompiles these headers (cmake/precompiled.cmake) and
would not notice. A header of ours that the file includes may do it in its place.
Usage: includes_test.py [ROOT]; exit code 1 with one line per violation.
"""

import functools
import pathlib
import re
import sys

from layering_test import INCLUDE

# Header -> what of it the sources write.
NAMES = {
    "algorithm": r"std::(sort|stable_sort|find|find_if|any_of|all_of|none_of|"
                 r"copy|fill|transform|min_element|max_element|clamp|equal|"
                 r"count|count_if|lower_bound|upper_bound|reverse|rotate|"
                 r"remove_if|generate|max|min|replace|unique|search|shuffle)\b",
    "array": r"std::array<",
    "atomic": r"std::atomic\b",
    "chrono": r"std::chrono::",
    "condition_variable": r"std::condition_variable\b",
    "deque": r"std::deque<",
    "filesystem": r"std::filesystem::",
    "functional": r"std::function<",
    "map": r"std::(multi)?map<",
    "memory": r"std::(unique_ptr|shared_ptr|make_unique|make_shared)\b",
    "mutex": r"std::(mutex|lock_guard|unique_lock|scoped_lock)\b",
    "optional": r"std::(optional<|nullopt\b)",
    "set": r"std::(multi)?set<",
    "span": r"std::span<",
    "sstream": r"std::[io]?stringstream\b",
    "string": r"std::(string|to_string)\b",
    "string_view": r"std::string_view\b",
    "thread": r"std::(j?thread\b|this_thread::)",
    "tuple": r"std::(tuple<|tie\b)",
    "unordered_map": r"std::unordered_map<",
    "unordered_set": r"std::unordered_set<",
    "variant": r"std::(variant<|visit\b|get_if<|holds_alternative<)",
    "vector": r"std::vector<",
    "fmt/format.h": r"fmt::(format|print|join)\b",
    "nlohmann/json.hpp": r"nlohmann::json\(|json::(parse|array|object)\(",
}
# These come with another.
WITH = {"string_view": {"string"}, "string": {"sstream", "filesystem"},
        "fmt/format.h": {"fmt/ranges.h", "fmt/chrono.h"}}
COMMENT = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"')


class Tree:
    def __init__(self, root):
        self.root = root

    @functools.lru_cache(maxsize=None)
    def includes(self, path):
        """All headers that a file includes, also by way of ours."""
        found = set()
        for bracket, header in INCLUDE.findall(path.read_text()):
            found.add(header)
            for near in (self.root / header, path.parent / header):
                if bracket == '"' and near.exists() and near != path:
                    found |= self.includes(near)
                    break
        return found

    def missing(self, path):
        text = COMMENT.sub("", path.read_text().replace("#include", "//"))
        has = self.includes(path)
        for header, names in NAMES.items():
            used = re.search(names, text)
            if used and header not in has and not WITH.get(header, set()) & has:
                yield (f"{path.relative_to(self.root)}: uses {used[0]} "
                       f"without <{header}>")


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    tree = Tree(root)
    violations = []
    for kind in ("*.h", "*.cpp"):
        for path in sorted(root.rglob(kind)):
            if "build" not in path.relative_to(root).parts[:1]:
                violations += tree.missing(path)
    for line in violations:
        print(line)
    sys.exit(bool(violations))


if __name__ == "__main__":
    main()
