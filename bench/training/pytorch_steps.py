#!/usr/bin/env python3
"""The same steps in PyTorch, with the same protocol as bench-training-steps.

  pytorch_steps.py NETWORK BATCH LAYOUT THREADS
"""

import pathlib
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "docs"))
import quorate_torch  # noqa: E402

NETWORKS = {
    "resnet-20": lambda: quorate_torch.resnet([3] * 3, [16, 32, 64], 3, 10),
    "resnet-18": lambda: quorate_torch.resnet([2] * 4, [64, 128, 256, 512], 3,
                                              10),
    "gpt": lambda: quorate_torch.gpt(6, 384, 6, 256, 65),
}


def main():
    name, batch, layout, threads = sys.argv[1:]
    batch = int(batch)
    torch.set_num_threads(int(threads))
    torch.manual_seed(1)
    model = NETWORKS[name]()
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.02)
    if name == "gpt":
        x = torch.randint(65, (batch, 256))
        targets = torch.randint(65, (batch * 256,))
        optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    else:
        x = torch.rand(batch, 3, 32, 32)
        targets = torch.randint(10, (batch,))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        if layout == "nhwc":
            model = model.to(memory_format=torch.channels_last)
            x = x.to(memory_format=torch.channels_last)

    def step():
        optimizer.zero_grad()
        logits = model(x)
        loss = torch.nn.functional.cross_entropy(
            logits.flatten(0, -2), targets)
        loss.backward()
        optimizer.step()
        return loss.item()

    for line in sys.stdin:
        start = time.perf_counter()
        for _ in range(int(line)):
            step()
        print(f"{time.perf_counter() - start:.6f}", flush=True)
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            print(int(line.split()[1]) / 1024, flush=True)


if __name__ == "__main__":
    main()
