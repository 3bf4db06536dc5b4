#!/usr/bin/env python3
"""The study of update rules, on the simulator: which rule trains fastest on how
many unequal hosts. docs/study.md has what came out.

A LeNet on 10,000 images of Fashion-MNIST, and a small GPT on tinyshakespeare.
Constants are chosen on a part that is split off for it (table "tune"); the test
part is for what is published. Every cell of a table is one simulation, whose
folder stays in --out: a study that was interrupted goes on where it was, and a
finished one prints its table at once.
"""

import argparse
import os
import sys

import pxcytz
import tables
from simulations import NETWORKS, Simulations

TABLES = {**tables.TABLES, **pxcytz.TABLES}


class Study:
    """What the tables are asked for."""

    def __init__(self, options):
        self.simulations = Simulations(options.out, options.workers)
        self.network = options.network
        self.slots = options.slots
        self.seeds = options.seeds
        self.only = options.only
        self.quick = options.quick

    def wants(self, label):
        return not self.only or label in self.only


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("--out", default="build/study")
    parser.add_argument("--network", choices=NETWORKS,
                        default="lenet")
    parser.add_argument("--slots", type=int, nargs="+",
                        help="no others; of the crossover: nodes")
    parser.add_argument("--seeds", type=int, default=1,
                        help="so many simulations of each cell")
    parser.add_argument("--only", nargs="+", metavar="LABEL",
                        help="no other rules (or codecs: \"int4 25\")")
    parser.add_argument("--quick", action="store_true",
                        help="of pxcytz and consistency: a few short cells")
    parser.add_argument("--workers", type=int, default=os.cpu_count(),
                        help="simulations at a time")
    options = parser.parse_args()
    if "QUORATE_DATA" not in os.environ:
        sys.exit("QUORATE_DATA: name the folder with fashion-mnist/ and "
                 "tinyshakespeare/ in it")
    TABLES[options.table](Study(options))


if __name__ == "__main__":
    main()
