#!/usr/bin/env python3
"""Writes the sample files of this folder, by their documents alone.

The tests read them and compute the same pixels, so that a reader is compared
with something else than its own counterpart.
"""

import gzip
import json
import pathlib


# Files of a text: the training part in two, and a test part that has symbols
# of its own.
TEXT = {"a.txt": "To be,\nor not\n", "b.txt.gz": "to b\u00e9? \u20ac\u00e9\n",
        "test.txt": "Zo\u00eb!\n"}


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


def tensor_bytes(first, count, shape):
    height, width, channels = shape
    return bytes(pixel(i, y, x, c) for i in range(first, first + count)
                 for y in range(height) for x in range(width)
                 for c in range(channels))


def safetensors(tensors):
    """A file of (name, type, shape, data), laid out as the format says."""
    header, data = {}, b""
    for name, dtype, shape, part in tensors:
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def write_safetensors():
    shape = [2, 3, 2]
    wide = b"".join(label(i).to_bytes(8, "little") for i in range(3))
    write("safetensors/both.safetensors", safetensors([
        ("train_labels", "I64", [3], wide),
        ("train_images", "U8", [3, *shape], tensor_bytes(0, 3, shape)),
        ("names", "F32", [1], bytes(4)),
        ("test_images", "U8", [1, *shape], tensor_bytes(4, 1, shape)),
        ("test_labels", "U8", [1], bytes([label(4)]))]))
    write_gzip("safetensors/more.safetensors.gz", safetensors([
        ("images", "U8", [1, *shape], tensor_bytes(3, 1, shape)),
        ("labels", "U8", [1], bytes([label(3)]))]))
    write("safetensors/test.st", safetensors([
        ("images", "U8", [1, *shape], tensor_bytes(5, 1, shape)),
        ("labels", "U8", [1], bytes([label(5)]))]))


def write_text():
    for name, text in TEXT.items():
        put = write_gzip if name.endswith(".gz") else write
        put(f"text/{name}", text.encode())


def write(name, data):
    path = pathlib.Path(__file__).parent / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)


def write_gzip(name, data):
    write(name, gzip.compress(data, mtime=0))


if __name__ == "__main__":
    write_cifar()
    write_csv()
    write_safetensors()
    write_text()
