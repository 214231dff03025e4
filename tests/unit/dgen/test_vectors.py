"""The test vectors of the data generator against a slow and obvious twin, written from the words of its reference."""

import hashlib
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

VECTORS = Path(__file__).parents[3] / "native/crates/dgen/tests/data_vectors.txt"
LENGTH = 6001
WINDOW = 65_536
MASK = (1 << 64) - 1


def times_two(value: int) -> int:
    return (value << 1) ^ (0x11B if value & 0x80 else 0)


def product(one: int, other: int) -> int:
    result = 0
    while other:
        if other & 1:
            result ^= one
        one = times_two(one)
        other >>= 1
    return result


def substitute(value: int) -> int:
    """FIPS 197, section 5.1.1, by searching for the inverse."""
    inverse = next((other for other in range(256) if product(value, other) == 1), 0)
    rotated = [(inverse << turns | inverse >> (8 - turns)) & 0xFF for turns in range(5)]
    return rotated[0] ^ rotated[1] ^ rotated[2] ^ rotated[3] ^ rotated[4] ^ 0x63


BOX = [substitute(value) for value in range(256)]
TWICE = [times_two(value) for value in range(256)]


def aes_round(state: bytes, key: bytes) -> bytes:
    """FIPS 197, section 5.1: SubBytes, ShiftRows, MixColumns, AddRoundKey; columns lie one behind the other."""
    shifted = [
        BOX[state[(4 * (column + row) + row) % 16]] for column in range(4) for row in range(4)
    ]
    mixed = []
    for column in range(4):
        a, b, c, d = shifted[4 * column : 4 * column + 4]
        mixed += [
            TWICE[a] ^ TWICE[b] ^ b ^ c ^ d,
            a ^ TWICE[b] ^ TWICE[c] ^ c ^ d,
            a ^ b ^ TWICE[c] ^ TWICE[d] ^ d,
            TWICE[a] ^ a ^ b ^ c ^ TWICE[d],
        ]
    return bytes(one ^ other for one, other in zip(mixed, key, strict=True))


def mix(value: int) -> int:
    """The finaliser of SplitMix64."""
    value = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ value >> 27) * 0x94D049BB133111EB) & MASK
    return value ^ value >> 31


class Twin:
    """The data of a seed, dedup and compress as text."""

    def __init__(self, seed: int, dedup: str, compress: str) -> None:
        material = b"".join(
            hashlib.sha256(
                b"bench_framework dgen data 1" + seed.to_bytes(8, "little") + bytes([n])
            ).digest()
            for n in range(3)
        )
        self.keys = [material[at : at + 16] for at in range(0, 80, 16)]
        self.pick_key = int.from_bytes(material[80:88], "little")
        ratio, _, rest = dedup.partition("@")
        unit, _, self.distance = rest.partition(",")
        self.dedup, self.unit = Fraction(ratio), int(unit or 4096)
        ratio, _, granule = compress.partition("@")
        self.compress, self.granule = Fraction(ratio), int(granule or 4096)
        self.random = self.granule if self.compress == 1 else self.random_bytes()

    def random_bytes(self) -> int:
        """The most random bytes whose LZ4 block is not larger than asked."""
        room = int(self.granule / self.compress)
        return max(random for random in range(self.granule) if self.lz4_bytes(random) <= room)

    def lz4_bytes(self, random: int) -> int:
        def more(length: int, room: int) -> int:
            return (length - room) // 255 + 1 if length >= room else 0

        literals = random + 2
        matched = max(self.granule - literals - 5, 0)
        return 1 + more(literals, 15) + literals + 2 + more(matched, 19) + 1 + 5

    def block(self, domain: int, index: int) -> bytes:
        counter = index.to_bytes(8, "little") + domain.to_bytes(8, "little")
        state = bytes(one ^ other for one, other in zip(counter, self.keys[0], strict=True))
        for key in self.keys[1:]:
            state = aes_round(state, key)
        return state

    def source(self, index: int) -> int:
        """Return the unit of the source at a position."""
        latest = int(index / self.dedup)
        if self.distance == "adjacent" or index == 0 or int((index - 1) / self.dedup) < latest:
            return latest
        earliest = int((index - index % WINDOW) / self.dedup)
        choices = latest - earliest + 1
        if self.distance.startswith("set:"):
            choices = min(choices, int(self.distance.removeprefix("set:")))
        step = 0x9E3779B97F4A7C15
        stream = int.from_bytes(b"dgen-dup", "little")
        state = mix((mix(mix((self.pick_key + step) & MASK) ^ stream) + step & MASK) ^ index)
        return earliest + ((mix((state + step) & MASK) & 0xFFFFFFFF) * choices >> 32)

    def bytes(self, offset: int) -> Iterator[int]:
        known: dict[tuple[int, int], bytes] = {}

        def block(domain: int, index: int) -> bytes:
            if (domain, index) not in known:
                known[domain, index] = self.block(domain, index)
            return known[domain, index]

        while True:
            place = offset & MASK
            if self.dedup > 1:
                place = self.source(place // self.unit) * self.unit + place % self.unit
            granule, within = divmod(place, self.granule)
            if within < self.random:
                yield block(0, place // 16)[place % 16]
            else:
                one, other = block(1, granule)[:2]
                yield (one, other if other != one else other ^ 0xFF)[within % 2]
            offset += 1


@pytest.mark.parametrize("line", VECTORS.read_text(encoding="utf-8").splitlines())
def test_the_twin_makes_the_same_bytes(line: str) -> None:
    seed, dedup, compress, offset, start, digest = line.split()
    twin = Twin(int(seed), dedup, compress).bytes(int(offset))
    contents = bytes(next(twin) for _ in range(LENGTH))
    assert contents[:16].hex() == start
    assert hashlib.sha256(contents).hexdigest() == digest
