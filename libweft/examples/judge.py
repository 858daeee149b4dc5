#!/usr/bin/env python3
"""Judges tables: judge.py NETWORK LFTS [SL2VL [PSL]], like judge.c, through ctypes.

Verdict(network, lfts, ...) takes names of files or texts (bytes). LIBWEFT names the library
if it is not where the loader looks.
"""
import ctypes
import os
import sys


class Text(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("text", ctypes.c_char_p), ("bytes", ctypes.c_size_t)]


class Question(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + [(part, Text) for part in ("network", "lfts", "list", "sl2vl", "psl")] + [
        ("contract", ctypes.c_char_p), ("endpoints", ctypes.c_char_p)]


class Step(ctypes.Structure):
    _fields_ = [("from_", ctypes.c_char_p), ("to", ctypes.c_char_p), ("from_guid", ctypes.c_uint64), ("to_guid", ctypes.c_uint64)] + [
        (number, ctypes.c_int) for number in ("from_port", "to_port", "vl", "sl")] + [
        ("source", ctypes.c_char_p), ("destination", ctypes.c_char_p), ("destination_lid", ctypes.c_int), ("answer", ctypes.c_int)]


class Answer(ctypes.Structure):
    _fields_ = [("free", ctypes.c_int), ("complete", ctypes.c_int), ("contract", ctypes.c_char_p), ("endpoints", ctypes.c_char_p)] + [
        (number, ctypes.c_int64) for number in ("pairs", "unreachable", "circling", "dropped", "dependencies")] + [
        ("lanes", ctypes.c_int), ("steps", ctypes.c_size_t), ("loop", ctypes.POINTER(Step)), ("certificate", ctypes.c_char_p),
        ("outside_count", ctypes.c_size_t), ("outside", ctypes.POINTER(ctypes.c_char_p))]


weft = ctypes.CDLL(os.environ.get("LIBWEFT", "libweft-c.so.1"))
weft.weft_version.restype = ctypes.c_char_p
weft.weft_judge.restype = ctypes.POINTER(Answer)
weft.weft_judge.argtypes = [ctypes.POINTER(Question), ctypes.POINTER(ctypes.c_void_p)]
weft.weft_verdict_free.argtypes = [ctypes.POINTER(Answer)]
weft.weft_text_free.argtypes = [ctypes.c_void_p]


class Error(Exception):
    """What is wrong with which line of which file."""


class Verdict:
    """What the judge says, copied out of the library's memory."""

    def __init__(self, network, lfts, list=None, sl2vl=None, psl=None, contract=None, endpoints=None):
        q = Question(size=ctypes.sizeof(Question), contract=_bytes(contract), endpoints=_bytes(endpoints))
        for part, given in (("network", network), ("lfts", lfts), ("list", list), ("sl2vl", sl2vl), ("psl", psl)):
            if isinstance(given, bytes):
                setattr(q, part, Text(part.encode(), given, len(given)))
            elif given is not None:
                setattr(q, part, Text(os.fsencode(given), None, 0))
        error = ctypes.c_void_p()
        answer = weft.weft_judge(q, error)
        if not answer:
            text = ctypes.string_at(error.value).decode()
            weft.weft_text_free(error)
            raise Error(text)
        a = answer.contents
        self.free, self.complete = bool(a.free), bool(a.complete)
        self.contract, self.endpoints = a.contract.decode(), a.endpoints.decode()
        self.pairs, self.unreachable, self.circling, self.dropped = a.pairs, a.unreachable, a.circling, a.dropped
        self.dependencies, self.lanes = a.dependencies, a.lanes
        self.loop = [{name.rstrip("_"): _text(getattr(step, name)) for name, _ in Step._fields_} for step in a.loop[: a.steps]]
        self.certificate = a.certificate
        self.outside = [text.decode() for text in a.outside[: a.outside_count]]
        weft.weft_verdict_free(answer)


def _bytes(text):
    return None if text is None else text.encode()


def _text(value):
    return value.decode() if isinstance(value, bytes) else value


def main():
    if not 3 <= len(sys.argv) <= 5:
        print("usage: judge.py NETWORK LFTS [SL2VL [PSL]]", file=sys.stderr)
        return 2
    parts = dict(zip(("network", "lfts", "sl2vl", "psl"), sys.argv[1:]))
    try:
        v = Verdict(**parts)
    except Error as e:
        print(e, file=sys.stderr)
        return 3
    print("%s (contract %s, endpoints %s): %d of %d pairs without a route, %d dependencies, %d lanes" % (
        "proven free of deadlock" if v.free else "credit loop", v.contract, v.endpoints, v.unreachable, v.pairs, v.dependencies, v.lanes))
    for s in v.loop:
        print("  %(from)s port %(from_port)d to %(to)s port %(to_port)d, VL %(vl)d, by packets from %(source)s to %(destination)s" % s)
    return 0 if v.free and v.complete else 1


if __name__ == "__main__":
    sys.exit(main())
