"""The codecs of updates in numpy, from docs/formats.md and docs/numerics.md
alone: what is written here once more shares no code with the programs."""

import json

import numpy as np

F = np.float32
BLOCK = 256
# Levels, base of a byte's digits, digits of a byte.
CODECS = {"int8": (255, 256, 1), "int4": (15, 16, 2), "int2": (4, 4, 4),
          "ternary": (3, 3, 5), "sign": (2, 2, 8)}


def philox_words(key, stream, count, step=0):
    """The first `count` words of a stream at a step."""
    blocks = -(-count // 4)
    mask = np.uint64(0xffffffff)
    index = np.arange(blocks, dtype=np.uint64)
    counter = [index & mask, index >> np.uint64(32),
               np.full(blocks, stream, np.uint64),
               np.full(blocks, step, np.uint64)]
    low, high = key & 0xffffffff, key >> 32
    for _ in range(10):
        a = counter[0] * np.uint64(0xd2511f53)
        b = counter[2] * np.uint64(0xcd9e8d57)
        counter = [(b >> np.uint64(32)) ^ counter[1] ^ np.uint64(low), b & mask,
                   (a >> np.uint64(32)) ^ counter[3] ^ np.uint64(high),
                   a & mask]
        low = (low + 0x9e3779b9) & 0xffffffff
        high = (high + 0xbb67ae85) & 0xffffffff
    return np.stack(counter, 1).reshape(-1)[:count].astype(np.uint32)


def blocks_of(tensors):
    """Sizes of the blocks of tensors of so many values."""
    return [min(BLOCK, size - first) for size in tensors
            for first in range(0, size, BLOCK)]


def sum_r1(x):
    """Of at most 1024 values."""
    lanes = np.zeros(32, F)
    for first in range(0, len(x), 32):
        part = x[first:first + 32]
        lanes[:len(part)] = lanes[:len(part)] + part
    for half in (16, 8, 4, 2, 1):
        lanes = lanes[:half] + lanes[half:2 * half]
    return lanes[0]


def encode_block(codec, x, words):
    levels, base, digits = CODECS[codec]
    m = np.max(np.abs(x))
    if m == 0:
        return F(0), np.zeros(-(-len(x) // digits), np.uint8)
    y = x / m
    if codec == "sign":
        scale = m * (sum_r1(np.abs(y)) / F(len(x)))
        codes = np.where(x == 0, words >> 31, x > 0)
        if scale == 0:
            codes[:] = 0
    else:
        scale = m
        half = F(levels - 1) / F(2)
        p = y * half + half
        below = np.floor(p)
        u = (words >> np.uint32(8)).astype(F) * F(2 ** -24)
        codes = below.astype(np.int64) + (u < p - below)
    codes = np.pad(codes, (0, -len(x) % digits)).reshape(-1, digits)
    return scale, (codes * base ** np.arange(digits)).sum(1).astype(np.uint8)


def decode_block(codec, scale, data, count):
    levels, base, digits = CODECS[codec]
    codes = data[:, None].astype(np.int64) // base ** np.arange(digits) % base
    codes = codes.reshape(-1)[:count]
    if scale == 0:
        return np.zeros(count, F)
    return (2 * codes - (levels - 1)).astype(F) / F(levels - 1) * scale


def header(codec, tensors):
    fields = {"__metadata__": {"codec": codec}}
    at = 0
    for name, array in tensors.items():
        fields[name] = {"dtype": "U8" if array.dtype == np.uint8 else "F32",
                        "shape": list(array.shape),
                        "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(fields, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)
    return len(text).to_bytes(8, "little") + text


def words_of_update(seed, tensors):
    """Of every block: its part of the words of one step."""
    words, at = philox_words(seed, 5 << 16, sum(tensors)), 0
    for count in blocks_of(tensors):
        yield words[at:at + count]
        at += count


def words_of_delta(version, tensors):
    """Of every block: the words of a step of its own."""
    for step, count in enumerate(blocks_of(tensors)):
        yield philox_words(version, 5 << 16, count, step)


def code(codec, words, tensors, values):
    """The tensors of the file by name. words: of every block; tensors: sizes of
    those that are learned; values: of these, then the running statistics."""
    learned = sum(tensors)
    scales, codes, at = [], [], 0
    for count, drawn in zip(blocks_of(tensors), words):
        block = slice(at, at + count)
        scale, data = encode_block(codec, values[block], drawn)
        scales.append(scale)
        codes.append(data)
        at += count
    parts = {"scales": np.array(scales, F)}
    if len(values) > learned:
        parts["statistics"] = values[learned:]
    parts["codes"] = np.concatenate(codes)
    return parts


def encode(codec, seed, tensors, values):
    """An update's file."""
    return written(codec, code(codec, words_of_update(seed, tensors), tensors,
                               values))


def delta(codec, version, tensors, before, after):
    """A snapshot delta's file."""
    learned = sum(tensors)
    change = np.concatenate([after[:learned] - before[:learned],
                             after[learned:]])
    return written(codec, code(codec, words_of_delta(version, tensors),
                               tensors, change))


def written(codec, parts):
    return header(codec, parts) + b"".join(
        part.tobytes() for part in parts.values())


def decode(codec, tensors, parts):
    """All values of the file with these tensors by name."""
    digits = CODECS[codec][2]
    values, at = [], 0
    for scale, count in zip(parts["scales"], blocks_of(tensors)):
        size = -(-count // digits)
        values.append(decode_block(codec, scale, parts["codes"][at:at + size],
                                   count))
        at += size
    return np.concatenate([*values, parts.get("statistics", np.zeros(0, F))])
