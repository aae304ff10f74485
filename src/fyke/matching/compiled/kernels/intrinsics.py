"""The fast forms of `lanes`: the same operations as LLVM vector code on addresses.

Only target-independent LLVM is used, so that any processor runs it; where there are vectors of 16
words (AVX-512) an operation is a few instructions. `emit` and `number` write
16 words, whatever the mask: the output has that much room behind its end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

cgutils: Any = _cgutils
numba_types: Any = types

LANES: Final = 16
_I1, _I8, _I16, _I32, _I64 = (ir.IntType(bits) for bits in (1, 8, 16, 32, 64))
_WORDS: Final = ir.VectorType(_I32, LANES)
_BITS: Final = ir.VectorType(_I1, LANES)
_WORD_BYTES: Final = 4

_Operation = Callable[[Any, list[Any]], Any]


def _operation(arguments: int, returns: bool, generate: _Operation) -> Any:
    """Return an intrinsic of int64 arguments; `generate` makes its code."""
    result = types.int64 if returns else types.void
    signature = result(*[types.int64] * arguments)

    def codegen(context: Any, builder: Any, _: Any, values: list[Any]) -> Any:
        value = generate(builder, values)
        return value if returns else context.get_dummy_value()

    return signature, codegen


def _place(builder: Any, base: Any, at: Any, of: Any) -> Any:
    address = builder.add(base, builder.shl(at, ir.Constant(_I64, 2)))
    return builder.inttoptr(address, of.as_pointer())


def _load(builder: Any, base: Any, at: Any, of: Any) -> Any:
    loaded = builder.load(_place(builder, base, at, of))
    loaded.align = _WORD_BYTES
    return loaded


def _everywhere(builder: Any, value: Any) -> Any:
    undefined = ir.Constant(_WORDS, ir.Undefined)
    one = builder.insert_element(undefined, builder.trunc(value, _I32), ir.Constant(_I32, 0))
    return builder.shuffle_vector(one, undefined, ir.Constant(_WORDS, [0] * LANES))


def _mask(builder: Any, bits: Any) -> Any:
    return builder.zext(builder.bitcast(bits, _I16), _I64)


def _ends(builder: Any, values: list[Any]) -> tuple[Any, Any]:
    base, lows, highs = values[:3]
    return _load(builder, base, lows, _WORDS), _load(builder, base, highs, _WORDS)


def _within(builder: Any, low: Any, high: Any, value: Any) -> Any:
    return builder.icmp_unsigned("<=", builder.sub(value, low), builder.sub(high, low))


@intrinsic
def word(_: Any, base: Any, at: Any) -> Any:
    return _operation(2, True, lambda b, v: b.sext(_load(b, v[0], v[1], _I32), _I64))


@intrinsic
def long_word(_: Any, base: Any, at: Any) -> Any:
    def generate(builder: Any, values: list[Any]) -> Any:
        address = builder.add(values[0], builder.shl(values[1], ir.Constant(_I64, 3)))
        return builder.load(builder.inttoptr(address, _I64.as_pointer()))

    return _operation(2, True, generate)


@intrinsic
def put(_: Any, base: Any, at: Any, value: Any) -> Any:
    def generate(builder: Any, values: list[Any]) -> None:
        builder.store(builder.trunc(values[2], _I32), _place(builder, values[0], values[1], _I32))

    return _operation(3, False, generate)


@intrinsic
def inside(_: Any, base: Any, lows: Any, highs: Any, value: Any) -> Any:
    def generate(builder: Any, values: list[Any]) -> Any:
        low, high = _ends(builder, values)
        return _mask(builder, _within(builder, low, high, _everywhere(builder, values[3])))

    return _operation(4, True, generate)


@intrinsic
def between(_: Any, base: Any, at: Any, low: Any, high: Any) -> Any:
    def generate(builder: Any, values: list[Any]) -> Any:
        base, at, low, high = values
        words = _load(builder, base, at, _WORDS)
        ends = _everywhere(builder, low), _everywhere(builder, high)
        return _mask(builder, _within(builder, *ends, words))

    return _operation(4, True, generate)


@intrinsic
def inside_all(
    _: Any, base: Any, at: Any, width: Any, codes: Any, first: Any, axes: Any, axes_at: Any
) -> Any:
    def generate(builder: Any, values: list[Any]) -> Any:
        base, at, width, codes, first, axes, axes_at = values
        all_lanes = ir.Constant(_BITS, [1] * LANES)
        holding = cgutils.alloca_once_value(builder, all_lanes)
        stride = ir.Constant(_I64, 2 * LANES)
        with cgutils.for_range(builder, width) as loop:
            lows = builder.add(at, builder.mul(loop.index, stride))
            low, high = _ends(builder, [base, lows, builder.add(lows, ir.Constant(_I64, LANES))])
            axis = _load(builder, axes, builder.add(axes_at, loop.index), _I32)
            code = _load(builder, codes, builder.add(first, builder.sext(axis, _I64)), _I32)
            within = _within(builder, low, high, _everywhere(builder, builder.sext(code, _I64)))
            builder.store(builder.and_(builder.load(holding), within), holding)
        return _mask(builder, builder.load(holding))

    return _operation(7, True, generate)


def _inside_each(builder: Any, base: Any, at: Any, codes: list[Any]) -> Any:
    bits = None
    for slot, code in enumerate(codes):
        lows = builder.add(at, ir.Constant(_I64, slot * 2 * LANES))
        highs = builder.add(at, ir.Constant(_I64, slot * 2 * LANES + LANES))
        low, high = _ends(builder, [base, lows, highs])
        within = _within(builder, low, high, _everywhere(builder, code))
        bits = within if bits is None else builder.and_(bits, within)
    return _mask(builder, bits)


@intrinsic
def inside_2(_: Any, base: Any, at: Any, a: Any, b: Any) -> Any:
    return _operation(4, True, lambda b, v: _inside_each(b, v[0], v[1], v[2:]))


@intrinsic
def inside_3(_: Any, base: Any, at: Any, a: Any, b: Any, c: Any) -> Any:
    return _operation(5, True, lambda b, v: _inside_each(b, v[0], v[1], v[2:]))


@intrinsic
def touched(_: Any, base: Any, lows: Any, highs: Any, least: Any, most: Any) -> Any:
    def generate(builder: Any, values: list[Any]) -> Any:
        low, high = _ends(builder, values)
        least, most = _everywhere(builder, values[3]), _everywhere(builder, values[4])
        from_low = builder.icmp_signed("<=", low, most)
        to_high = builder.icmp_signed("<=", least, high)
        around = builder.icmp_signed(">", low, high)
        either, both = builder.or_(from_low, to_high), builder.and_(from_low, to_high)
        return _mask(builder, builder.or_(both, builder.and_(around, either)))

    return _operation(5, True, generate)


@intrinsic
def ends_at(_: Any, base: Any, lows: Any, highs: Any, value: Any) -> Any:
    def generate(builder: Any, values: list[Any]) -> Any:
        low, high = _ends(builder, values)
        value = _everywhere(builder, values[3])
        return _mask(
            builder,
            builder.or_(
                builder.icmp_unsigned("==", low, value), builder.icmp_unsigned("==", high, value)
            ),
        )

    return _operation(4, True, generate)


def _append(builder: Any, words: Any, mask: Any, out: Any, end: Any) -> Any:
    """Store the words that the mask chooses, side by side. Return the new end."""
    compress = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(_WORDS, [_WORDS, _BITS, _WORDS]),
        "llvm.experimental.vector.compress.v16i32",
    )
    bits = builder.bitcast(builder.trunc(mask, _I16), _BITS)
    chosen = builder.call(compress, [words, bits, ir.Constant(_WORDS, ir.Undefined)])
    builder.store(chosen, _place(builder, out, end, _WORDS)).align = _WORD_BYTES
    return builder.add(end, builder.ctpop(mask))


@intrinsic
def emit(_: Any, base: Any, at: Any, mask: Any, out: Any, end: Any) -> Any:
    def generate(builder: Any, values: list[Any]) -> Any:
        base, at, mask, out, end = values
        return _append(builder, _load(builder, base, at, _WORDS), mask, out, end)

    return _operation(5, True, generate)


@intrinsic
def number(_: Any, start: Any, mask: Any, out: Any, end: Any) -> Any:
    def generate(builder: Any, values: list[Any]) -> Any:
        start, mask, out, end = values
        lanes = ir.Constant(_WORDS, list(range(LANES)))
        return _append(builder, builder.add(_everywhere(builder, start), lanes), mask, out, end)

    return _operation(4, True, generate)


@intrinsic
def repeat(_: Any, value: Any, out: Any, at: Any) -> Any:
    def generate(builder: Any, values: list[Any]) -> None:
        value, out, at = values
        place = _place(builder, out, at, _WORDS)
        builder.store(_everywhere(builder, value), place).align = _WORD_BYTES

    return _operation(3, False, generate)


@intrinsic
def copy(_: Any, base: Any, at: Any, out: Any, end: Any) -> Any:
    def generate(builder: Any, values: list[Any]) -> None:
        base, at, out, end = values
        words = _load(builder, base, at, _WORDS)
        builder.store(words, _place(builder, out, end, _WORDS)).align = _WORD_BYTES

    return _operation(4, False, generate)


@intrinsic
def frame_at(_: Any, group: Any, address: Any) -> Any:
    """Return the int64 words at an address as a named tuple of that class."""
    cls = group.instance_class
    made = numba_types.NamedUniTuple(types.int64, len(cls._fields), cls)

    def codegen(context: Any, builder: Any, _: Any, values: list[Any]) -> Any:
        words = builder.inttoptr(values[1], _I64.as_pointer())
        places = [builder.gep(words, [ir.Constant(_I64, at)]) for at in range(made.count)]
        return context.make_tuple(builder, made, [builder.load(place) for place in places])

    return made(group, types.int64), codegen


@intrinsic
def first(_: Any, mask: Any) -> Any:
    return _operation(1, True, lambda b, v: b.cttz(v[0], ir.Constant(_I1, 1)))


@intrinsic
def prefetch(_: Any, base: Any, at: Any) -> Any:
    def generate(builder: Any, values: list[Any]) -> None:
        fetch = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [_I8.as_pointer(), _I32, _I32, _I32]),
            "llvm.prefetch.p0",
        )
        read, near, data = (ir.Constant(_I32, number) for number in (0, 3, 1))
        builder.call(fetch, [_place(builder, values[0], values[1], _I8), read, near, data])

    return _operation(2, False, generate)
