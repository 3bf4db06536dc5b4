"""Quorate's networks as PyTorch modules, whose load_state_dict takes an export.

    model = quorate_torch.resnet([3, 3, 3], [16, 32, 64], 3, 10)   # resnet-20
    model.load_state_dict(safetensors.torch.load_file("model.safetensors"))

Images go in as [n, channels, height, width] with values u / 255, tokens as
[n, length]. What stands here is what docs/formats.md calls the list of layers.
"""

import torch
from torch import nn

ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU, "silu": nn.SiLU,
               "tanh": nn.Tanh, "sigmoid": nn.Sigmoid}


class Residual(nn.Module):
    def __init__(self, branch, shortcut):
        super().__init__()
        self.branch = branch
        self.shortcut = shortcut

    def forward(self, x):
        return self.shortcut(x) + self.branch(x)


class LastAxisLinear(nn.Linear):
    """Of the channels of every pixel, or of every position."""

    def forward(self, x):
        if x.dim() != 4:
            return super().forward(x)
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class LayerNorm(nn.LayerNorm):
    def forward(self, x):
        if x.dim() != 4:
            return super().forward(x)
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class BatchNorm(nn.BatchNorm2d):
    """An export has no num_batches_tracked, which nothing here needs:
    load_state_dict of a plain dict starts it at 0, also when it is strict."""

    def forward(self, x):
        if x.dim() == 4:
            return super().forward(x)
        rows = x.reshape(-1, x.shape[-1], 1, 1)
        return super().forward(rows).reshape(x.shape)


class Embedding(nn.Module):
    def __init__(self, symbols, positions, channels):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(symbols, channels))
        self.position = nn.Parameter(torch.empty(positions, channels))

    def forward(self, tokens):
        return self.weight[tokens] + self.position


class Attention(nn.Module):
    """Causal self-attention of queries, keys and values side by side."""

    def __init__(self, heads):
        super().__init__()
        self.heads = heads

    def forward(self, qkv):
        n, length, channels = qkv.shape
        q, k, v = (part.view(n, length, self.heads, -1).transpose(1, 2)
                   for part in qkv.split(channels // 3, dim=2))
        scores = q @ k.transpose(2, 3) * q.shape[3] ** -0.5
        future = torch.ones(length, length, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(future, -torch.inf).softmax(3)
        return (weights @ v).transpose(1, 2).reshape(n, length, -1)


class Tied(nn.Module):
    """The last layer, with the table of the first as its weight."""

    def __init__(self, embedding):
        super().__init__()
        self.table = [embedding]  # not a parameter of its own

    def forward(self, x):
        return x @ self.table[0].weight.T


class MeanPixels(nn.Module):
    def forward(self, x):
        return x.mean((2, 3))


def network(layers, channels, length=None):
    """An nn.Sequential of a list of layers; see docs/formats.md, "Model".

    channels: of the samples. height and width come with them, except for
    flatten, whose outputs the next linear layer counts: it is a LazyLinear.
    length: of a text, its context.
    """
    modules = []
    flat = False
    for layer in layers:
        kind = layer["layer"]
        window = {"stride": layer.get("stride", layer.get("window")),
                  "padding": layer.get("padding", 0)}
        if kind in ACTIVATIONS:
            module = ACTIVATIONS[kind]()
        elif kind == "linear" and flat:
            module = nn.LazyLinear(layer["outputs"], layer.get("bias", True))
        elif kind == "linear":
            module = LastAxisLinear(channels, layer["outputs"],
                                    layer.get("bias", True))
        elif kind == "conv2d":
            module = nn.Conv2d(channels, layer["channels"], layer["window"],
                               layer.get("stride", 1), layer.get("padding", 0),
                               groups=layer.get("groups", 1),
                               bias=layer.get("bias", True))
        elif kind == "max_pool2d":
            module = nn.MaxPool2d(layer["window"], **window)
        elif kind == "average_pool2d":
            module = nn.AvgPool2d(layer["window"], **window)
        elif kind == "mean_pixels":
            module = MeanPixels()
        elif kind == "flatten":
            module = nn.Flatten()
        elif kind == "group_norm":
            module = nn.GroupNorm(layer["groups"], channels)
        elif kind == "layer_norm":
            module = LayerNorm(channels)
        elif kind == "batch_norm":
            module = BatchNorm(channels)
        elif kind == "dropout":
            module = nn.Dropout(layer["rate"])
        elif kind == "embedding":
            module = Embedding(layer["symbols"], length, layer["channels"])
        elif kind == "attention":
            module = Attention(layer["heads"])
            channels //= 3
        elif kind == "tied_linear":
            module = Tied(modules[0])
        elif kind == "residual":
            branch, after = network(layer["branch"], channels)
            shortcut, _ = network(layer.get("shortcut", []), channels)
            module = Residual(branch, shortcut)
            channels = after
        else:
            raise ValueError(f"no layer is called {kind}")
        if kind in ("linear", "conv2d", "embedding", "tied_linear"):
            channels = layer.get("outputs",
                                 layer.get("channels", layer.get("symbols")))
        if kind == "flatten":
            flat = True
        elif kind == "linear":
            flat = False
        modules.append(module)
    return nn.Sequential(*modules), channels


def conv3x3(channels, stride):
    return {"layer": "conv2d", "channels": channels, "window": 3,
            "stride": stride, "padding": 1, "bias": False}


def norm_relu(channels, norm):
    if norm == "batch":
        return [{"layer": "batch_norm"}, {"layer": "relu"}]
    groups = min(max(channels // 8, 1), 32)
    while channels % groups:
        groups -= 1
    return [{"layer": "group_norm", "groups": groups}, {"layer": "relu"}]


def resnet_layers(blocks, widths, classes, norm="group"):
    layers = [conv3x3(widths[0], 1)]
    channels = widths[0]
    for stage, (count, width) in enumerate(zip(blocks, widths)):
        for block in range(count):
            stride = 2 if stage > 0 and block == 0 else 1
            branch = [conv3x3(width, stride), *norm_relu(width, norm),
                      conv3x3(width, 1)]
            if stride == 1 and width == channels:
                layers.append({"layer": "residual",
                               "branch": norm_relu(channels, norm) + branch})
            else:
                layers += norm_relu(channels, norm)
                layers.append({"layer": "residual", "branch": branch,
                               "shortcut": [{"layer": "conv2d", "window": 1,
                                             "channels": width,
                                             "stride": stride,
                                             "bias": False}]})
            channels = width
    return layers + norm_relu(channels, norm) + [
        {"layer": "mean_pixels"}, {"layer": "linear", "outputs": classes}]


def gpt_layers(layers, width, heads, symbols, tied=True):
    def branch(*inner):
        return {"layer": "residual",
                "branch": [{"layer": "layer_norm"}, *inner]}

    def linear(outputs):
        return {"layer": "linear", "outputs": outputs}

    head = ({"layer": "tied_linear", "symbols": symbols} if tied else
            {"layer": "linear", "outputs": symbols, "bias": False})
    return [{"layer": "embedding", "symbols": symbols, "channels": width},
            *[branch(linear(3 * width), {"layer": "attention", "heads": heads},
                     linear(width)),
              branch(linear(4 * width), {"layer": "gelu"},
                     linear(width))] * layers,
            {"layer": "layer_norm"}, head]


def resnet(blocks, widths, channels, classes, norm="group"):
    """resnet-20: blocks [3, 3, 3], widths [16, 32, 64]. norm: or "batch"."""
    return network(resnet_layers(blocks, widths, classes, norm), channels)[0]


def gpt(layers, width, heads, context, symbols, tied=True):
    return network(gpt_layers(layers, width, heads, symbols, tied), 1,
                   context)[0]
