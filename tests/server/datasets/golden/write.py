#!/usr/bin/env python3
"""Writes the sample files of this folder, by their documents alone.

The tests read them and compute the same pixels, so that a reader is compared
with something else than its own counterpart.
"""

import gzip
import pathlib


def pixel(number, y, x, c):
    """What sample `number` shows at row y, column x, channel c."""
    return (7 * number + 3 * y + 5 * x + 11 * c) % 256


def label(number):
    return number * 3 % 10


def cifar_record(number):
    planes = [pixel(number, y, x, c)
              for c in range(3) for y in range(32) for x in range(32)]
    return bytes([label(number)] + planes)


def write_cifar():
    write("cifar/data_batch_1.bin", cifar_record(0) + cifar_record(1))
    write_gzip("cifar/data_batch_2.bin.gz", cifar_record(2))
    write_gzip("cifar/test_batch.bin.gz", cifar_record(3))


def csv_line(number):
    return [str(label(number))] + [
        str(pixel(number, y, x, c))
        for y in range(2) for x in range(3) for c in range(2)]


def write_csv():
    header = ["class"] + [f'"pixel ""{i}"", grey"' for i in range(12)]
    lines = [header] + [csv_line(i) for i in range(4)]
    write("csv/train.csv", "\n".join(map(",".join, lines)).encode())
    lines = [csv_line(i) for i in range(4, 6)]
    lines[0][3] = f'"{lines[0][3]}"'
    write_gzip("csv/test.csv.gz",
               b"\xef\xbb\xbf" + "".join(",".join(line) + "\r\n"
                                         for line in lines).encode())


def write(name, data):
    path = pathlib.Path(__file__).parent / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)


def write_gzip(name, data):
    write(name, gzip.compress(data, mtime=0))


if __name__ == "__main__":
    write_cifar()
    write_csv()
