#!/usr/bin/env python3
"""An independent judge of routing tables, from the files alone.

It reads a folder as `weft route --out DIR` writes it, with the fabric beside:

    fabric.ibnetdiscover    the cables, LIDs and LMCs, as `weft convert` and `weft generate` write
                            them; from elsewhere by --fabric FILE
    lfts.dump               the out-port of every switch for every LID
    sl2vl.dump              the lane by switch, in-port, out-port and service level
    paths.psl               the service level by source and destination LID
    certificate             the proof, where there is one

and says whether the packets that may be sent can wait for one another in a
circle. It shares nothing with weft but these files: another language, no
library, and the plainest algorithms that do. A packet of one service level for
one LID is followed from every port where it may enter a switch; what it holds
and what it asks for next is a dependency; the rest is a search for a cycle.

    checker.py [--fabric FILE] [--contract honored] [--endpoints hca] DIR    prints JSON; exit 1: a finding, 3: bad input
    checker.py --jobs                                   a JSON object in, one out, line by line

Which service levels may a packet from source s to LID j of endpoint d have?

    directed   the one of the pair (s, j): each side asks for its own PathRecord
    honored    that, and those of the pairs (d, i) for every LID i of s: the passive
               side of a connection answers on the service level of the request
    single:N   N
    any        each of the 16

Under directed and honored a pair (s, j) that the tables say must not be used (#none)
is not used: packets of s take LID j neither as requests nor as answers, and d
opens no connection to s from there. Clients cannot be held to that by OpenSM, so
weft hands it no such tables (weft deploy files and weft serve refuse them).
"""

import json
import os
import re
import sys
from collections import deque

NO_ENTRY, DEAD_PORT, WRONG_NODE, CIRCLES, NO_ADDRESS = (
    "no entry", "an out-port without a cable", "delivered to another node", "circles for ever", "no LID that it may use")
DROP_LANE = 15  # subnet management only: data mapped to it is dropped


class Endpoint:
    """An adapter port, a router port, or port 0 of a switch."""

    def __init__(self, node, port, kind, lid, lmc):
        self.node, self.port, self.kind = node, port, kind
        self.lids = range(lid, lid + (1 << lmc))
        self.switch = self.in_port = None  # where its packets enter; None: it hangs on no switch


class Fabric:
    """The cables and endpoints of an ibnetdiscover text."""

    NODE = re.compile(r'(Switch|Ca|Rt)\s+(\d+)\s+"[SHR]-([0-9a-f]{16})"\s+# ".*?"(?: (?:base|enhanced) port 0 lid (\d+) lmc (\d+))?$')
    PORT = re.compile(r'\[(\d+)\](?:\([0-9a-f]+\))?\s+"([SHR])-([0-9a-f]{16})"\[(\d+)\](?:\([0-9a-f]+\))?\s+# (?:lid (\d+) lmc (\d+) )?"')
    ATTRIBUTE = re.compile(r'(vendid|devid)=0x([0-9a-f]+)$')

    def __init__(self, path):
        self.switches = {}   # GUID: number of ports
        self.cables = {}     # (node, port): (node, port) at the other end
        self.endpoints = []
        self.owner = {}      # LID: Endpoint
        self.at = {}         # (node, port): Endpoint
        node = kind = None
        attributes = {}
        with open(path, encoding="utf-8", errors="replace") as text:
            for number, line in enumerate(text, 1):
                line = line.rstrip()
                if found := self.ATTRIBUTE.match(line):
                    attributes[found[1]] = int(found[2], 16)
                elif found := self.NODE.match(line):
                    node = int(found[3], 16)
                    kind = self.kind(found[1], attributes)
                    attributes = {}
                    if kind == "switch":
                        self.switches[node] = int(found[2])
                        self.add(Endpoint(node, 0, kind, int(found[4]), int(found[5])))
                elif found := self.PORT.match(line):
                    port, peer = int(found[1]), (int(found[3], 16), int(found[4]))
                    self.cables[node, port] = peer
                    if kind != "switch":
                        self.add(Endpoint(node, port, kind, int(found[5]), int(found[6])))
                elif re.match(r'(Switch|Ca|Rt)\s|\[\d', line):  # to skip it would be to judge another network
                    raise ValueError(f"{path}:{number}: not as ibnetdiscover writes it: {line}")
        if not self.switches:  # nothing could go wrong there, and nothing is proven of any tables
            raise ValueError(f"{path}: no switch in it")
        for e in self.endpoints:
            if e.kind == "switch":
                e.switch, e.in_port = e.node, 0
            elif self.cables[e.node, e.port][0] in self.switches:
                e.switch, e.in_port = self.cables[e.node, e.port]

    @staticmethod
    def kind(word, attributes):
        if word == "Switch":
            return "switch"
        if word == "Rt":
            return "router"
        if (attributes.get("vendid"), attributes.get("devid")) == (0x2C9, 0xCF09):
            return "aggregation"
        return "hca"

    def add(self, e):
        self.endpoints.append(e)
        self.at[e.node, e.port] = e
        for lid in e.lids:
            self.owner[lid] = e

    def in_scope(self, scope):
        kinds = {"hca": ["hca"], "ca": ["hca", "aggregation", "router"], "all": ["hca", "aggregation", "router", "switch"]}[scope]
        return [e for e in self.endpoints if e.switch is not None and e.kind in kinds]


def read_forwarding(path):
    """(switch, LID): out-port."""
    table, switch, entries = {}, None, 0
    with open(path, encoding="utf-8", errors="replace") as text:
        for number, line in enumerate(text, 1):
            if found := re.match(r"Unicast lids \[.* guid 0x([0-9a-f]+) ", line):
                switch, entries = int(found[1], 16), 0
            elif found := re.match(r"0x([0-9a-f]{4}) (\d{3}) ", line):
                table[switch, int(found[1], 16)] = int(found[2])
                entries += 1
            elif (found := re.match(r"(\d+) valid lids dumped", line)) and int(found[1]) != entries:
                raise ValueError(f"{path}:{number}: the table has {entries} entries, its last line says {found[1]}")
    return table


def read_lanes(path):
    """(switch, in-port, out-port): the lane of each service level."""
    table, switch = {}, None
    with open(path, encoding="utf-8", errors="replace") as text:
        for line in text:
            if line.startswith("Switch "):
                switch = int(line.split(",")[0].split()[1], 16)
            elif line[:1].isdigit():
                ports, lanes = line.split(":")
                into, out = map(int, ports.split())
                table[switch, into, out] = [int(lane) for lane in lanes.split()]
    return table


class Levels:
    """The service levels of a PSL file."""

    def __init__(self, path):
        self.compact = False
        self.by_node, self.by_port = {}, {}  # (node, LID), (node, port, LID): level; None: not to be used
        pairs = 0
        with open(path, encoding="utf-8") as text:
            for number, line in enumerate(text, 1):
                words = line.split()
                pairs += words[0] in ("#port", "#none") or words[0].startswith("0x")
                if words[0] == "#compact":
                    self.compact = True
                elif words[0] == "#port":
                    self.put(words[1], int(words[2]), int(words[3]))
                elif words[0] == "#none":
                    self.put(words[1], int(words[2]), None)
                elif words[0].startswith("0x"):
                    self.put(words[0], int(words[1]), int(words[2]))
                elif words[0] == "#end" and int(words[1]) != pairs:
                    raise ValueError(f"{path}:{number}: {pairs} lines about pairs, the last line says {words[1]}")

    def put(self, source, lid, level):
        guid, _, port = source.partition(":")
        if port:
            self.by_port[int(guid, 16), int(port), lid] = level
        else:
            self.by_node[int(guid, 16), lid] = level

    def of(self, e, lid):
        """The most specific line wins: that of the port, the node, the switch."""
        for table, key in ((self.by_port, (e.node, e.port, lid)), (self.by_node, (e.node, lid)), (self.by_node, (e.switch, lid))):
            if key in table and (self.compact or key[0] == e.node):
                return table[key]
        if self.compact:
            return 0
        raise ValueError(f"no service level from node {e.node:#x} port {e.port} to LID {lid}")


class Tables:
    """A folder."""

    def __init__(self, folder, fabric=None):
        self.folder = folder
        self.fabric = Fabric(fabric or os.path.join(folder, "fabric.ibnetdiscover"))
        self.forwarding = read_forwarding(os.path.join(folder, "lfts.dump"))
        self.lanes = read_lanes(os.path.join(folder, "sl2vl.dump"))
        self.levels = Levels(os.path.join(folder, "paths.psl"))

    def step(self, switch, lid):
        """Where a switch sends a LID: (the fate, out-port, what is at its other end)."""
        port = self.forwarding.get((switch, lid))
        to = self.fabric.owner[lid]
        if port is None:
            return NO_ENTRY, None, None
        if port == 0:
            return ("arrives" if (to.node, to.port) == (switch, 0) else WRONG_NODE), 0, None
        peer = self.fabric.cables.get((switch, port))
        if peer is None:
            return DEAD_PORT, port, None
        if peer == (to.node, to.port) and to.kind != "switch":
            return "arrives", port, peer
        if peer[0] not in self.fabric.switches or peer[0] == switch:
            return WRONG_NODE, port, None
        return "goes on", port, peer

    def fate(self, switch, lid):
        """What becomes of packets for a LID at a switch, lanes aside."""
        been = set()
        while switch not in been:
            been.add(switch)
            what, _, peer = self.step(switch, lid)
            if what != "goes on":
                return what
            switch = peer[0]
        return CIRCLES


class Judgement:
    """What may be sent under a contract among some endpoints, and what comes of it."""

    def __init__(self, tables, contract, scope):
        self.tables, self.contract = tables, contract
        self.pairs = self.unreachable = self.circles = 0
        self.dropped = False
        self.cut = set()   # (switch, LID, why)
        self.used = set()  # lanes: (switch, out-port, lane)
        self.waits = {}    # lane: the lanes that its holder may wait for
        ends = tables.fabric.in_scope(scope)
        for to in ends:
            for lid in to.lids:
                self.destination(to, lid, [s for s in ends if s is not to])

    def destination(self, to, lid, sources):
        tables = self.tables
        fates = {s: tables.fate(s, lid) for s in tables.fabric.switches}
        starts = {}   # service level: where packets enter a switch
        senders = set()
        for s in sources:
            levels = self.may_use(s, to, lid)
            if levels is None:
                if lid == to.lids[0] and all(tables.levels.of(s, j) is None for j in to.lids):
                    self.pairs += 1
                    self.unreachable += 1
                    self.cut.add((s.switch, lid, NO_ADDRESS))
                continue
            self.pairs += 1
            self.unreachable += fates[s.switch] != "arrives"
            senders.add(s.switch)
            for sl in levels:
                starts.setdefault(sl, set()).add((s.switch, s.in_port))
        for switch, fate in fates.items():
            self.circles += fate == CIRCLES
            if fate == CIRCLES or fate != "arrives" and switch in senders:
                self.cut.add((switch, lid, fate))
        for sl, entries in starts.items():
            self.follow(lid, sl, entries)

    def may_use(self, s, to, lid):
        """The service levels of packets from s to a LID; None: it must not be used."""
        if self.contract == "any":
            return range(16)
        if self.contract.startswith("single:"):
            return [int(self.contract[len("single:"):])]
        level = self.tables.levels.of(s, lid)
        if level is None:
            return None
        levels = {level}
        if self.contract == "honored":
            levels |= {self.tables.levels.of(to, i) for i in s.lids} - {None}
        return levels

    def follow(self, lid, sl, entries):
        """Follows packets of a service level for a LID from where they enter switches.
        What a packet does next depends on where it came in and on nothing before."""
        tables, seen = self.tables, {}
        todo = list(entries)
        while todo:
            place = todo.pop()
            if place in seen:
                continue
            seen[place] = None  # its lane, and the place it leads to
            switch, in_port = place
            what, port, peer = tables.step(switch, lid)
            if port is None or port == 0 or peer is None:
                continue
            lane = tables.lanes[switch, in_port, port][sl]
            if lane == DROP_LANE:
                self.dropped = True
            elif what == "goes on":
                seen[place] = (switch, port, lane), peer
                self.used.add(seen[place][0])
                todo.append(peer)
        for here in filter(None, seen.values()):
            lane, place = here
            if seen[place] is not None:
                self.waits.setdefault(lane, set()).add(seen[place][0])

    def dependencies(self):
        return sum(map(len, self.waits.values()))

    def shortest_loop(self):
        """A shortest cycle of lanes that wait for one another, [] if there is none."""
        # Lanes that wait for nothing drain, and then those that wait for these only.
        waits = {lane: set(after) for lane, after in self.waits.items()}
        while idle := {lane for after in waits.values() for lane in after if lane not in waits}:
            for lane in list(waits):
                waits[lane] -= idle
                if not waits[lane]:
                    del waits[lane]
        best = None
        for root in sorted(waits):
            best = loop_through(root, waits, best) or best
        return best or []

    def report(self):
        loop = self.shortest_loop()
        return {
            "free": not loop,
            "pairs": self.pairs,
            "unreachable": self.unreachable,
            "circles": self.circles,
            "dropped": self.dropped,
            "dependencies": self.dependencies(),
            "vls": sorted({lane for _, _, lane in self.used}),
            "loop": [{"switch": f"{s:#018x}", "port": p, "vl": vl} for s, p, vl in loop],
            "cut": [{"switch": f"{s:#018x}", "lid": lid, "why": why} for s, lid, why in sorted(self.cut, key=lambda c: (c[1], c[0], c[2]))],
        }


def loop_through(root, waits, best):
    """A shortest cycle through a lane, if it is shorter than the best; else None."""
    came, depth = {root: None}, {root: 1}
    queue = deque([root])
    while queue:
        lane = queue.popleft()
        if best and depth[lane] >= len(best):
            return None
        for after in sorted(waits[lane]):
            if after == root:
                way = [lane]
                while came[way[-1]] is not None:
                    way.append(came[way[-1]])
                return way[::-1]
            if after not in came:
                came[after], depth[after] = lane, depth[lane] + 1
                queue.append(after)
    return None


def check_certificate(tables, path):
    """Why a certificate does not prove its tables; None if it does."""
    ranks, facts, listed = {}, {}, None
    with open(path, encoding="utf-8") as text:
        for line in text:
            words = line.split()
            if words[0] in ("contract", "endpoints"):
                facts[words[0]] = words[1]
            elif words[0] == "end":
                listed = int(words[1])
            elif words[0].startswith("0x"):
                ranks[int(words[0], 16), int(words[1]), int(words[2])] = int(words[3])
    if listed != len(ranks):
        return f"it ends with {listed}, and lists {len(ranks)} ranks"
    j = Judgement(tables, facts["contract"], facts["endpoints"])
    for lane in j.used - ranks.keys():
        return f"{lane} carries traffic and has no rank"
    for lane, after in j.waits.items():
        for to in after:
            if lane not in ranks or to not in ranks or ranks[lane] >= ranks[to]:
                return f"the rank does not rise from {lane} to {to}"
    return None


def answer(job, kept):
    """Answers a job; kept holds the folder that was read last."""
    if job["dir"] not in kept:
        kept.clear()
        kept[job["dir"]] = Tables(job["dir"], job.get("fabric"))
    tables = kept[job["dir"]]
    if "certificate" in job:
        why = check_certificate(tables, job["certificate"])
        return {"holds": why is None, "why": why}
    return Judgement(tables, job["contract"], job["endpoints"]).report()


def main(args):
    if args == ["--jobs"]:
        kept = {}
        for line in sys.stdin:
            try:
                out = answer(json.loads(line), kept)
            except Exception as e:  # the next job may fare better
                out = {"error": f"{type(e).__name__}: {e}"}
            print(json.dumps(out), flush=True)
        return 0
    job = {"contract": "honored", "endpoints": "hca"}
    while len(args) > 2 and args[0] in ("--contract", "--endpoints", "--fabric"):
        job[args[0][2:]] = args[1]
        args = args[2:]
    if len(args) != 1 or args[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        report = answer(dict(job, dir=args[0]), {})
    except (OSError, ValueError) as e:
        print(f"checker.py: {e}", file=sys.stderr)
        return 3
    print(json.dumps(report, indent=2))
    return int(not report["free"] or report["unreachable"] > 0 or report["dropped"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
