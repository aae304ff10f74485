"""Source: from a function to the syntax tree that it was compiled from, without running anything.

Idea. The file of a function is parsed and compiled once, never executed. The function's code object
is then looked for among the compiled ones. Code objects are equal only if their instructions,
constants, names and positions are; so two lambdas on one line are told apart, and a file that was
edited after it was imported is noticed: nothing in it is equal, and there is no tree.
Cost. Parsing and compiling a file once, then a dictionary.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Span: TypeAlias = tuple[tuple[int, int], tuple[int, int]]

_FILES_MAX: Final = 256
_files: dict[str, tuple[list[str], dict[CodeType, Definition]]] = {}
"""By name of the file: its lines, and what is defined in it."""
_above: WeakKeyDictionary[ast.AST, Definition] = WeakKeyDictionary()
"""The function that a function is defined in."""


def definition(function: FunctionType) -> Definition | None:
    """Return the syntax tree of a function; None if no source fits."""
    code = function.__code__
    found = _read_definitions(code.co_filename, function.__globals__).get(code)
    if found is None and code.co_filename in _files:
        linecache.checkcache(code.co_filename)
        found = _read_definitions(code.co_filename, function.__globals__).get(code)
    return found


def enclosing(function: FunctionType) -> Iterator[Definition]:
    """Yield the functions around a function, the nearest first."""
    node = definition(function)
    while node is not None and (node := _above.get(node)) is not None:
        yield node


def _read_definitions(filename: str, names: dict[str, object]) -> dict[CodeType, Definition]:
    lines = linecache.getlines(filename, names)
    known = _files.get(filename)
    if known is not None and known[0] is lines:
        return known[1]
    if len(_files) >= _FILES_MAX:
        _files.clear()
    found = _definitions("".join(lines), filename)
    _files[filename] = (lines, found)
    return found


def _definitions(text: str, filename: str) -> dict[CodeType, Definition]:
    try:
        tree = ast.parse(text, filename)
        whole = compile(tree, filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    nodes: dict[tuple[str, int], list[Definition]] = {}
    todo: list[tuple[ast.AST, Definition | None]] = [(tree, None)]
    while todo:
        node, around = todo.pop()
        if isinstance(node, Definition) and around is not None:
            _above[node] = around
        inner = node if isinstance(node, Definition) else around
        todo.extend((each, inner) for each in ast.iter_child_nodes(node))
        if isinstance(node, ast.Lambda):
            nodes.setdefault(("<lambda>", node.lineno), []).append(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            nodes.setdefault((node.name, first), []).append(node)
    found: dict[CodeType, Definition] = {}
    for code in _codes(whole):
        candidates = nodes.get((code.co_name, code.co_firstlineno), [])
        if len(candidates) > 1:
            span = _covered(code)
            candidates = [node for node in candidates if _span(node) == span]
        if len(candidates) == 1:
            found[code] = candidates[0]
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    todo = [code]
    while todo:
        for each in todo.pop().co_consts:
            if isinstance(each, CodeType):
                yield each
                todo.append(each)


def _covered(code: CodeType) -> Span:
    """Return the span of source from which a code object comes: for a lambda, its body."""
    places = [
        ((line, column), (end_line, end_column))
        for line, end_line, column, end_column in code.co_positions()
        if line is not None and end_line is not None and column is not None
        if end_column is not None and (line, column) != (end_line, end_column)
    ]
    if not places:
        return (0, 0), (0, 0)
    return min(start for start, _ in places), max(end for _, end in places)


def _span(node: Definition) -> Span | None:
    if not isinstance(node, ast.Lambda):
        return None
    body = node.body
    end = (body.end_lineno or 0, body.end_col_offset or 0)
    return (body.lineno, body.col_offset), end
