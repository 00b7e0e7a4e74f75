"""Sorting networks as data: generate them, prove them, run them, draw them.

>>> from bitonic import networks
>>> print(networks.generate("smallest", 3).draw())
    1   2   3
0 ──●─┊─●─┊───
    │ ┊ │ ┊
1 ──┼─┊─●─┊─●─
    │ ┊   ┊ │
2 ──●─┊───┊─●─
"""

from bitonic._core import networks as _networks

Network = _networks.Network
Proof = _networks.Proof
generate = _networks.generate
kinds = _networks.kinds
merge = _networks.merge
parse = _networks.parse
top_k = _networks.top_k

__all__ = ["Network", "Proof", "generate", "kinds", "merge", "parse", "top_k"]
