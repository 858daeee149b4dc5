#!/usr/bin/env python3
"""An independent reader and judge of folders of lossless Ethernet networks.

It reads what devices say (docs/ethernet.md, "What is read"): routes and interfaces of FRR,
LLDP, SONiC's configuration, qos.yaml. It shares nothing with weft but these files: another
language, no library, and the plainest ways that do. Where weft sorts prefixes into classes and
DSCPs into marks, this takes one address of each prefix and looks it up at every device, and
follows every DSCP over every next hop. A folder that it refuses is one whose dumps lack
something, or contradict each other.

Two graphs are made of what packets hold and wait for:

    lanes      a lane is a direction of a link with a priority group of the port that receives, groups
               that share a queue which one of them pauses being one: what docs/ethernet.md defines
    buffers    a group of a port waits for the queues that its packets leave by, and a queue for the
               groups that pause it: what switches do. A circle here is one of lanes too

    ethernetchecker.py [--vrf VRF] DIR    prints JSON; exit 1: a finding, 3: bad input
    ethernetchecker.py --jobs             a JSON object in, one out, line by line
"""

import gzip
import ipaddress
import json
import os
import re
import sys

FILE = re.compile(r"(?:(.+)\.)?(route|route4|ip-route|route6|ipv6-route|interfaces?|lldp|config_db|frr|neigh)\.(json|conf|txt)(\.gz)?")
KIND = {"route4": "route", "ip-route": "route", "ipv6-route": "route6", "interfaces": "interface"}
CLASSES = 16  # traffic classes, groups and queues
DSCPS = 64


class Refused(Exception):
    """What is in the folder does not tell what the network does."""


def need(ok, *why):
    if not ok:
        raise Refused(" ".join(str(w) for w in why))


def members(pairs):
    d = dict(pairs)
    need(len(d) == len(pairs), "a name twice in", list(d))
    return d


def read_text(path):
    data = gzip.open(path).read() if path.endswith(".gz") else open(path, "rb").read()
    return data.decode("utf-8-sig", errors="replace")


def read_json(path):
    def never(word):
        raise Refused(word + " is no JSON")
    return json.loads(read_text(path), object_pairs_hook=members, parse_constant=never)


def want(value, kind, what):
    need(type(value) is kind, what, "is", type(value).__name__)
    return value


def text(d, name):
    return want(d.get(name, ""), str, name)


def flag(d, *names):
    return any([want(d.get(n, False), bool, n) for n in names])


def prefix(name):
    need("/" in name, name, "is no prefix")
    return ipaddress.ip_network(name)  # strict: no bits behind its length


def address(name):
    need("/" in name, name, "has no length")
    return ipaddress.ip_interface(name)


def point_to_point(p):
    return p.max_prefixlen - p.prefixlen in (1, 2)


# ---- routes


class Route:
    def __init__(self, p, protocol):
        self.prefix, self.protocol, self.hops, self.doubt = p, protocol, [], ""


def routes_of_json(v, vrf, seen):
    found = []
    for name, entries in want(v, dict, "routes").items():
        if type(entries) is dict:  # show ip route vrf all json
            seen.add(name)
            found += routes_of_json(entries, vrf, seen)
            continue
        p = prefix(name)
        chosen = []
        for e in want(entries, list, name):
            at = text(want(e, dict, "an entry"), "vrfName") or "default"
            seen.add(at)
            if flag(e, "destSelected" if "destSelected" in e else "selected") and at == vrf:
                chosen.append(e)
        need(len(chosen) < 2, name, "is selected twice")
        for e in chosen:
            r = Route(p, text(e, "protocol"))
            drops = False
            hops = want(e.get("nexthops", []), list, "nexthops")
            for h in hops:
                if flag(want(h, dict, "a next hop"), "unreachable", "blackhole", "reject"):
                    drops = True
                elif flag(h, "fib") and not flag(h, "recursive"):
                    need(text(h, "interfaceName"), "a next hop without an interface")
                    r.hops.append((h["interfaceName"], ipaddress.ip_address(text(h, "ip")) if text(h, "ip") else None))
                    weight = h.get("weight")
                    need(weight is None or re.fullmatch(r"\d+", str(weight)) and int(weight) < 1 << 16, "weight", weight)
                    if h.get("labels"):
                        r.doubt = "labels"
            if flag(e, "failed") or flag(e, "queued") or hops and not r.hops and not drops:
                r.doubt = "not in force"
            found.append(r)
    return found


ROUTE_LINE = re.compile(r"([A-Za-z~])(?:\[\d+\])?([> ])([*qrtob ]?) ?(\S+/\d+)(?: \[\d+/\d+\])? (.*)")
HOP_LINE = re.compile(r"  +([*qrtob]?) +((?:via|is directly connected|unreachable).*)")


def routes_of_text(lines, vrf, seen):
    """show ip route, not as JSON: a line a next hop, the first of a prefix with a code."""
    found, entries, r, at, legend, heading = [], [], None, "default", False, False
    for line in lines:
        if not line.strip():
            legend = False
        elif line.startswith("Codes: "):
            legend = heading = True
        elif m := re.fullmatch(r"(?:IPv[46] unicast )?VRF (\S+?):?", line):
            at, r = m[1], None
            seen.add(at)
        elif m := HOP_LINE.fullmatch(line):
            if r:
                entries.append((r, m[1], m[2]))
        elif m := ROUTE_LINE.fullmatch(line):
            seen.add(at)
            r = None
            p = prefix(m[4])
            if m[2] == ">" and at == vrf:
                r = Route(p, {"C": "connected", "L": "local"}.get(m[1], m[1]))
                found.append(r)
                entries.append((r, m[3], m[5]))
        else:
            need(legend, line, "is no line of show ip route")
    need(found or heading or seen, "no routes")
    for r in found:
        drops = False
        for _, status, what in [e for e in entries if e[0] is r]:
            used = status in ("*", "t", "r", "o") and " inactive" not in what
            if what.startswith("unreachable"):
                drops = drops or used
            elif used and "(recursive)" not in what:
                parts = what.split(", ")
                ip = ipaddress.ip_address(parts[0].split(" ")[1]) if what.startswith("via ") else None
                r.hops.append((parts[1].split(" ")[0], ip))
            if status in ("r", "o", "q"):
                r.doubt = "not in force"
            if ", label " in what and used:
                r.doubt = "labels"
        if not r.hops and not drops:
            r.doubt = "not in force"
    return found


# ---- interfaces and neighbors


class Interface:
    def __init__(self):
        self.vrf, self.mac, self.channel, self.up, self.loopback, self.lost, self.addresses = "", "", "", True, False, False, []


def read_interfaces(v):
    found = {}
    if type(v) is list:  # ip -j address show
        for e in v:
            if not want(e, dict, "an interface"):
                continue
            i = found[text(e, "ifname")] = Interface()
            need(text(e, "ifname"), "an interface without a name")
            slave = (e.get("linkinfo") or {}).get("info_slave_kind")
            if slave == "vrf":
                i.vrf = text(e, "master")
            elif slave in ("bond", "team"):
                i.channel = text(e, "master")
                i.lost = not i.channel
            i.mac, i.up, i.loopback = text(e, "address"), text(e, "operstate") in ("UP", "UNKNOWN"), e.get("link_type") == "loopback"
            for a in want(e.get("addr_info", []), list, "addr_info"):
                if want(a, dict, "an address"):
                    i.addresses.append(address("%s/%s" % (a.get("local"), a.get("prefixlen"))))
        return found
    for name, e in want(v, dict, "interfaces").items():
        i = found[name] = Interface()
        i.vrf, i.mac = text(want(e, dict, name), "vrfName"), text(e, "hardwareAddress")
        i.up = text(e, "operationalStatus") == "up" and text(e, "administrativeStatus") != "down"
        i.loopback = text(e, "type") == "Loopback"
        i.lost = text(e, "interfaceSlaveType") == "Bond"
        for a in want(e.get("ipAddresses", []), list, "addresses"):
            i.addresses.append(address(text(want(a, dict, "an address"), "address")))
    return found


def first(v):
    """json0 makes lists of everything."""
    while type(v) is list and v:
        v = v[0]
    return v


def value(v):
    v = first(v)
    return v.get("value", "") if type(v) is dict else v or ""


def read_neighbors(v):
    top = first(want(v, dict, "LLDP").get("lldp"))
    found = []
    entries = want(top, dict, "lldp").get("interface", [])
    for e in entries if type(entries) is list else [entries]:
        want(e, dict, "an interface")
        for name, n in [(e["name"], e)] if "name" in e else e.items():
            chassis, port = first(want(n, dict, name).get("chassis")), first(n.get("port"))
            want(chassis, dict, "chassis"), want(port, dict, "port")
            if "name" in chassis:
                device = value(chassis["name"])
            elif "id" in chassis:
                device = value(chassis["id"])
            else:
                device = list(chassis)[0] if len(chassis) == 1 else ""
            ports = [value(port.get("id")), value(port.get("descr"))]
            need(device and any(ports), "a neighbor without a name or a port")
            found.append((name, device, ports))
    return found


# ---- SONiC


class Maps:
    """How a port treats packets. As it is here: no priority is lossless."""

    def __init__(self, lossless=()):
        self.tc = [d if d in lossless else 0 for d in range(DSCPS)]
        self.group, self.queue = list(range(CLASSES)), list(range(CLASSES))
        self.paused, self.about = list(range(8)), list(range(8))  # by priority: queue, group
        self.pfc = set(lossless)
        self.remark = None
        self.by_tag = False

    def same(self):
        return (self.tc, self.group, self.queue, self.paused, self.about, self.pfc, self.remark, self.by_tag)


def fill(tables, row, field, table, to, below):
    name = re.sub(r"^\[%s\||\]$" % table, "", text(row, field))
    m = tables.get(table, {}).get(name)
    need(m is not None, "no map", table, name)
    for key, becomes in want(m, dict, name).items():
        need(re.fullmatch(r"[+-]?\d+", key) and 0 <= int(key) < len(to), table, key)
        need(re.fullmatch(r"[+-]?\d+", want(becomes, str, key)) and 0 <= int(becomes) < below, table, becomes)
        to[int(key)] = int(becomes)


def read_maps(tables, row, base):
    m = Maps()
    for field, table, name in (
            ("dscp_to_tc_map", "DSCP_TO_TC_MAP", "tc"), ("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", "group"), ("tc_to_queue_map", "TC_TO_QUEUE_MAP", "queue"),
            ("pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", "paused"), ("pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "about")):
        if field in row:
            fill(tables, row, field, table, getattr(m, name), CLASSES)
        else:
            setattr(m, name, getattr(base, name))
    m.by_tag = base.by_tag
    if "dscp_to_tc_map" in row:
        m.by_tag = False
    elif "dot1p_to_tc_map" in row:
        m.by_tag = True
    m.remark = base.remark
    if "tc_to_dscp_map" in row:
        m.remark = [0] * CLASSES
        fill(tables, row, "tc_to_dscp_map", "TC_TO_DSCP_MAP", m.remark, DSCPS)
    m.pfc = base.pfc
    if text(row, "pfc_enable"):
        m.pfc = set()
        for p in row["pfc_enable"].split(","):
            need(re.fullmatch(r"[+-]?\d+", p.strip()) and 0 <= int(p) < 8, "pfc_enable", p)
            m.pfc.add(int(p))
    return m


class Config:
    """What config_db.json says."""

    def __init__(self, v):
        tables = want(v, dict, "config_db")
        if any("|" in k for k in tables):  # a dump of the database
            flat, tables = tables, {}
            for k, row in flat.items():
                table, bar, key = k.partition("|")
                if not bar:
                    need(type(row) is not dict or "type" in row, k, "is a table among keys")
                    need(not any(o.startswith(k + "|") for o in flat), k, "is a table and a key")
                    continue
                want(row, dict, k)
                if "type" in row and type(row.get("value")) is dict:
                    row = row["value"]
                tables.setdefault(table, {})[key] = {f.removesuffix("@"): x for f, x in row.items()}
        for name, t in tables.items():
            want(t, dict, name)
        rows = lambda table: [(k, want(r, dict, k)) for k, r in tables.get(table, {}).items()]
        self.hostname = "".join(text(r, "hostname") for k, r in rows("DEVICE_METADATA") if k == "localhost")
        self.alias = {text(r, "alias"): k for k, r in rows("PORT") if text(r, "alias")}
        self.neighbors = [(k, text(r, "name"), [text(r, "port")]) for k, r in rows("DEVICE_NEIGHBOR")]
        need(all(d and p[0] for _, d, p in self.neighbors), "a neighbor without a name or a port")
        self.channel = {}
        for k, _ in rows("PORTCHANNEL_MEMBER"):
            channel, bar, port = k.partition("|")
            need(bar and port not in self.channel, "PORTCHANNEL_MEMBER", k)
            self.channel[port] = channel
        self.vrf, self.addresses = {}, {}
        for table in ("INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_SUB_INTERFACE", "VLAN_INTERFACE", "LOOPBACK_INTERFACE"):
            for k, r in rows(table):
                name, bar, a = k.partition("|")
                if bar:
                    self.addresses.setdefault(name, []).append(address(a))
                elif text(r, "vrf_name"):
                    self.vrf[name] = r["vrf_name"]
        self.ports = {}
        every = dict(rows("PORT_QOS_MAP"))
        base = read_maps(tables, every.pop("global", {}), Maps())
        for key, r in every.items():
            for port in key.split(","):
                need(port.strip() not in self.ports, port, "has two rows")
                self.ports[port.strip()] = read_maps(tables, r, base)
        peers = [ipaddress.ip_address(text(r, "address_ipv4")) for _, r in rows("PEER_SWITCH")]
        self.servers = set()
        if peers:
            for _, r in rows("MUX_CABLE"):
                for field in ("server_ipv4", "server_ipv6", "soc_ipv4", "soc_ipv6"):
                    if text(r, field):
                        self.servers.add(address(r[field]).network)
        self.peer = peers[-1] if self.servers else None
        self.outer = self.tunnel_queue = self.decap_tc = self.decap_group = None
        for _, r in rows("TUNNEL") if self.peer else ():
            if text(r, "dscp_mode") != "uniform":
                for field in ("encap_tc_to_dscp_map", "encap_tc_color_to_dscp_map"):
                    if field in r:
                        self.outer = [0] * CLASSES
                        fill(tables, r, field, "TC_TO_DSCP_MAP", self.outer, DSCPS)
            if "encap_tc_to_queue_map" in r:
                self.tunnel_queue = list(range(CLASSES))
                fill(tables, r, "encap_tc_to_queue_map", "TC_TO_QUEUE_MAP", self.tunnel_queue, CLASSES)
            if "decap_dscp_to_tc_map" in r:
                self.decap_tc = [0] * DSCPS
                fill(tables, r, "decap_dscp_to_tc_map", "DSCP_TO_TC_MAP", self.decap_tc, CLASSES)
            if "decap_tc_to_pg_map" in r:
                self.decap_group = list(range(CLASSES))
                fill(tables, r, "decap_tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", self.decap_group, CLASSES)


# ---- devices, and who is at the other end of their ports


class Device:
    def __init__(self, name):
        self.name, self.files, self.routes, self.interfaces, self.neighbors, self.config = name, {}, [], {}, [], None
        self.dumped = False  # its interfaces

    def read(self, path, kind, vrf, seen):
        kind = KIND.get(kind, kind)
        need(kind not in self.files, kind, "of", self.name, "twice")
        self.files[kind] = path
        if kind == "interface":
            self.interfaces, self.dumped = read_interfaces(read_json(path)), True
        elif kind == "lldp":
            self.neighbors = read_neighbors(read_json(path))
        elif kind == "config_db":
            self.config = Config(read_json(path))
        elif kind in ("route", "route6"):
            t = read_text(path)
            if t.lstrip()[:1] == "{":
                self.routes += routes_of_json(read_json(path), vrf, seen)
            else:
                self.routes += routes_of_text(t.splitlines(), vrf, seen)

    def port(self, name):
        """What a cable is plugged into where an interface is: its port, or its port channel."""
        if m := re.fullmatch(r"(.+)\.\d+", name):
            name = m[1]
            if self.config:
                name = re.sub(r"^Eth(\d+)$", r"Ethernet\1", re.sub(r"^Po(\d+)$", r"PortChannel\1", name))
        if name in self.interfaces and self.interfaces[name].channel:
            return self.interfaces[name].channel
        if self.config:
            name = self.config.alias.get(name, name)
            name = self.config.channel.get(name, name)
        return name

    def member(self, name):
        return self.port(name) != name and "." not in name

    def names(self):
        return sorted(set(self.interfaces) | set(self.config.addresses if self.config else ()))

    def vrf_of(self, name):
        if name in self.interfaces and self.interfaces[name].vrf:
            return self.interfaces[name].vrf
        if self.config and name in self.config.vrf:
            return self.config.vrf[name]
        return "default" if self.config and name in self.config.addresses else ""

    def may_be_in(self, vrf):
        """Configurations do not name the interfaces without an address."""
        return not self.interfaces or any(self.vrf_of(i) in ("", vrf) for i in self.names())

    def addresses(self, name):
        found = list(self.interfaces[name].addresses) if name in self.interfaces else []
        return found + [a for a in (self.config.addresses.get(name, []) if self.config else []) if a not in found]

    def within(self, name, vrf):
        return self.addresses(name) if self.vrf_of(name) in ("", vrf) else []

    def loopback(self, name):
        i = self.interfaces.get(name)
        return bool(i and i.loopback) or name == "lo" or name.startswith(("Loopback", "dummy"))


class Network:
    def __init__(self, folder, vrf):
        self.vrf = vrf
        self.devices, self.lossless = {}, None
        self.read(folder)
        self.leave_out_management()
        self.cable()
        self.forward()
        self.wrap()
        self.map()

    def device(self, name):
        if name not in self.devices:
            self.devices[name] = Device(name)
        return self.devices[name]

    def read(self, folder):
        seen = set()
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if os.path.isdir(path):
                for inner in sorted(os.listdir(path)) if name[0] != "." else ():
                    m = FILE.fullmatch(inner)
                    if m and m[1] in (None, name):
                        self.device(name).read(os.path.join(path, inner), m[2], self.vrf, seen)
            elif re.fullmatch(r"(qos|weft)\.ya?ml", name):
                m = re.fullmatch(r"lossless: \[(.*)\]\s*", read_text(path))
                need(m and self.lossless is None, path)
                self.lossless = [int(p) for p in m[1].split(",")]
                need(len(set(self.lossless)) == len(self.lossless) and all(0 <= p < 8 for p in self.lossless), path)
            elif (m := FILE.fullmatch(name)) and m[1]:
                self.device(m[1]).read(path, m[2], self.vrf, seen)
        need(self.devices, "no device")
        for d in self.devices.values():
            need(d.routes or not d.may_be_in(self.vrf) and ("route" in d.files or "route6" in d.files), "no routes of", d.name)
            need(d.name.isprintable(), d.name)
        need(not seen or self.vrf in seen, "no VRF", self.vrf)

    def leave_out_management(self):
        """eth0 of SONiC, eth0 in a subnet with that of others, and EOS's Management1 carry no traffic."""
        at, own = {}, set()
        for d in self.devices.values():
            for i in d.names():
                for a in d.within(i, self.vrf):
                    own.add(a.ip)
                    if i == "eth0" and not point_to_point(a.network) and a.network.num_addresses > 1 and not a.is_link_local:
                        at.setdefault(a.network, []).append(d)
        shared = {d.name for there in at.values() if len(there) > 1 for d in there}
        for d in self.devices.values():
            if any(i == "eth0" and self.called(n) for i, n, _ in d.neighbors) or any(h[0] == "eth0" and h[1] in own for r in d.routes for h in r.hops):
                shared.discard(d.name)
        for d in self.devices.values():
            def out(i):
                if re.fullmatch(r"Management[\d/]*", i) or i == "eth0" and d.name in shared:
                    return True
                return i == "eth0" and d.config and "eth0" not in d.config.ports and all(p != "eth0" for p, _, _ in d.config.neighbors)
            d.interfaces = {i: v for i, v in d.interfaces.items() if not out(i)}
            d.neighbors = [n for n in d.neighbors if not out(n[0])]
            if d.config:
                d.config.addresses = {i: v for i, v in d.config.addresses.items() if not out(i)}
            for r in list(d.routes):
                if r.hops and all(out(h[0]) for h in r.hops):
                    r.hops, r.doubt = [], ""
                    if r.protocol in ("connected", "local"):
                        d.routes.remove(r)

    def called(self, name):
        """The device that others call so: by its name or host name, with a domain or without."""
        if name in self.devices:
            return self.devices[name]
        for n in (name, name.split(".")[0]):
            for d in self.devices.values():
                if d.name == n or d.config and d.config.hostname == n:
                    return d
        return None

    def cable(self):
        cables, outside, lost = set(), set(), set()
        for d in self.devices.values():
            for here, device, ports in d.neighbors + (d.config.neighbors if d.config else []):
                end, other = (d.name, d.port(here)), self.called(device)
                if not other:
                    outside.add(end)
                    continue
                known = [p for p in ports if p in other.interfaces or other.port(p) != p]
                by_mac = [i for i, v in other.interfaces.items() for p in ports if p and v.mac == p]
                far = other.port((known + by_mac + [p for p in ports if p])[0])
                if any(x.interfaces.get(p) and x.interfaces[p].lost for x, p in ((d, end[1]), (other, far))):
                    continue  # a member of a port channel that nobody names
                cables.add(frozenset([end, (other.name, far)]))
        self.down, self.ports, self.owner = set(), {}, {}
        shared = {}
        for d in self.devices.values():
            for i in d.names():
                end, part = (d.name, d.port(i)), re.fullmatch(r".+\.\d+", i)
                for a in d.addresses(i):
                    self.owner.setdefault(a.ip, []).append((d.name, i))
                if i in d.interfaces and not d.interfaces[i].up and not d.member(i):
                    if part:
                        continue
                    self.down.add(end)
                for a in d.within(i, self.vrf):
                    self.ports.setdefault(end, []).append(a)
                    if point_to_point(a.network) and not a.is_link_local and not d.loopback(i):
                        shared.setdefault(a.network, []).append(end)
        for p, ends in shared.items():
            need(len(ends) < 3, "more than two ends in", p)
            if len(ends) == 2:
                cables.add(frozenset(ends))
        self.link = {}  # (device, port): (device, port) at the other end
        for c in cables:
            need(len(c) == 2 and len({e[0] for e in c}) == 2, "a cable from a device to itself", *c)
            for a, b in (tuple(c), tuple(c)[::-1]):
                need(a not in self.link and a not in outside, "two cables at", *a)
                self.link[a] = b
        self.outside = outside | {e for ends in shared.values() if len(ends) == 1 for e in ends if e not in self.link}
        for d in self.devices.values():
            need(len(self.devices) == 1 or not d.may_be_in(self.vrf) or any(e[0] == d.name for e in self.link), "no cable of", d.name)
        for a, b in list(self.link.items()):
            if a in self.down or b in self.down:
                self.down |= {a, b}
        self.link = {a: b for a, b in self.link.items() if a not in self.down}
        self.cables = len(self.link) // 2

    # -- what devices do with packets

    def forward(self):
        """table[device][prefix] = [delivery, set of links]; delivery: '', 'itself' or 'hosts'."""
        self.table, leading = {}, []
        for d in self.devices.values():
            table = self.table[d.name] = {}
            for r in d.routes:
                p = r.prefix
                if r.protocol == "local" or p.is_link_local or p.is_multicast:
                    continue
                need(not r.doubt, d.name, p, r.doubt)
                need(p not in table, "two routes of", d.name, "to", p)
                entry = table[p] = ["", set()]
                for i, ip in r.hops:
                    self.hop(d, r, i, ip, entry, leading)
        for name, p in leading:  # a subnet of two addresses: one of them a host, if others send there
            for up in [p] + [p.supernet(new_prefix=n) for n in range(p.prefixlen - 1, 0, -1)]:
                senders = {d.name for d in self.devices.values() for r in d.routes if r.prefix == up and any(h[1] for h in r.hops)}
                if senders - {name}:
                    self.table[name].setdefault(p, ["", set()])[0] = "hosts"
                    break

    def hop(self, d, r, i, ip, entry, leading):
        end = (d.name, d.port(i))
        far = self.link.get(end)
        p = r.prefix
        attached = not ip and (r.protocol == "connected" or any(a.network == p for a in d.within(i, self.vrf)))
        if attached:
            if d.loopback(end[1]) and p.num_addresses == 1 or end in self.down:
                entry[0] = entry[0] or "itself"
            elif far and (point_to_point(p) or not self.ports.get(far) or any(a.ip in p for a in self.ports[far])):
                entry[0] = entry[0] or "itself"
            elif not far and end in self.outside and point_to_point(p):
                entry[0] = entry[0] or "itself"
                leading.append((d.name, p))
            else:
                entry[0] = "hosts"
        elif not ip and d.loopback(end[1]):
            entry[0] = entry[0] or "itself"
        elif far:
            entry[1].add(end)
            other = self.devices[far[0]]
            at = far[1]
            if ip and not ip.is_link_local:
                there = [i for name, i in self.owner.get(ip, []) if name == far[0]]
                need(there or not (self.ports.get(far) or ip in self.owner or other.dumped), d.name, p, "goes to", ip, "which is not at the other end")
                at = ([i for i in there if other.vrf_of(i) in ("", self.vrf)] + there + [at])[0]
            need(other.vrf_of(at) in ("", self.vrf), d.name, p, "goes into another VRF")
        else:
            hosts = ip and any(ip in a.network and not point_to_point(a.network) and not a.is_link_local for a in self.ports.get(end, []))
            need(hosts and end not in self.down and ip not in self.owner, d.name, p, "goes out of", i, "to nobody knows whom")
            entry[0] = "hosts"

    def look_up(self, name, a):
        best = None
        for p in self.table[name]:
            if p.version == a.version and a in p and (best is None or p.prefixlen > best.prefixlen):
                best = p
        return best

    def wrap(self):
        """Prefixes that carry packets, and what every device does with them."""
        wraps = {}
        for d in self.devices.values():
            if d.config and d.config.peer:
                for p in d.config.servers:
                    self.table[d.name].setdefault(p, ["hosts", set()])
                    wraps.setdefault(d.name, set()).add(p)
        every = sorted({p for t in self.table.values() for p in t}, key=lambda p: (p.version, p.network_address, p.prefixlen))
        self.at = {}  # [prefix] an address that no longer prefix has
        for p in every:
            a = p.network_address
            while a is not None and a in p:
                longer = [q for q in every if q.version == p.version and a in q and q.prefixlen > p.prefixlen and q != p]
                if not longer:
                    self.at[p] = a
                    break
                last = max(q.broadcast_address for q in longer if q.prefixlen == min(l.prefixlen for l in longer))
                a = last + 1 if int(last) + 1 < 1 << p.max_prefixlen else None
        self.does = {}  # [prefix][device] (delivery, links, peer that it may wrap packets for)
        for p, a in self.at.items():
            self.does[p] = self.act(a, wraps)
        self.hosts = [p for p in self.at if any(do[0] == "hosts" for do in self.does[p].values())]
        self.peers = {}  # [address] what devices do with packets for a peer
        for p in self.at:
            for name, do in self.does[p].items():
                if do[2]:
                    outer = self.peers.setdefault(do[2], self.act(do[2], wraps))
                    ends = [o for o, x in outer.items() if x[0]]
                    need(ends, "no route to the peer", do[2])
                    need(not any(x[2] for x in outer.values()), "packets to a peer are wrapped again")
                    need(all(self.does[p][o][0] for o in ends), "a peer that does not deliver", p)

    def act(self, a, wraps):
        found = {}
        for name in self.devices:
            p = self.look_up(name, a)
            deliver, links = self.table[name][p] if p is not None else ("", set())
            found[name] = (deliver, links, self.devices[name].config.peer if p in wraps.get(name, ()) else None)
        return found

    # -- maps

    def map(self):
        mapped = [d for d in self.devices.values() if d.config and d.config.ports]
        if not mapped:
            self.lossless = self.lossless or [3]
        need(len(mapped) == len(self.devices) or self.lossless, "devices without PORT_QOS_MAP")
        plain, nothing = Maps(self.lossless or ()), Maps()
        self.maps, self.edges = {}, {}
        for d in self.devices.values():
            own = d.config.ports if d in mapped else {}
            for end, far in self.link.items():
                if end[0] != d.name:
                    continue
                rows = [own[end[1]]] if end[1] in own else [own[m] for m in sorted(d.config.channel) if d.config.channel[m] == end[1] and m in own] if own else []
                need(all(m.same() == rows[0].same() for m in rows), "members of", *end, "differ")
                self.maps[end] = rows[0] if rows else nothing if own else plain
            self.edges[d.name] = [own[p] for p in sorted(own) if (d.name, d.port(p)) not in self.link] if own else [plain]
        for end, far in self.link.items():
            own = self.devices[end[0]].config.ports if self.devices[end[0]] in mapped else {}
            none = own and self.maps[end] is nothing
            need(not none or not self.maps[far].pfc, "no row for", *end)
        for d in self.devices.values():
            need(not any(m.by_tag for m in self.incoming(d.name)), "maps by tags at", d.name)
            rewrites = any(m.remark for e, m in self.maps.items() if e[0] == d.name)
            need(not rewrites or not (d.config and d.config.peer), d.name, "rewrites and wraps")
            need(not rewrites or all(m.tc == self.edges[d.name][0].tc for m in self.edges[d.name]), d.name, "rewrites differently")

        # DSCPs that no port tells apart and no device writes are followed as one
        every = {id(m): m for m in list(self.maps.values()) + [m for e in self.edges.values() for m in e]}.values()
        tunnels = [d.config for d in self.devices.values() if d.config and d.config.peer]
        written = {x for t in [m.remark for m in every] + [c.outer for c in tunnels] if t for x in t}
        alike = {}
        for x in range(DSCPS):
            alike.setdefault(tuple([x if x in written else None] + [m.tc[x] for m in every] + [c.decap_tc[x] for c in tunnels if c.decap_tc]), x)
        self.dscps = list(alike.values())

    def incoming(self, name):
        return self.edges[name] + [m for e, m in self.maps.items() if e[0] == name]


# ---- the judge


def circle(edges):
    """Whether a graph has a circle: nodes that wait for nobody are taken away until none is left."""
    left = {v: set(w) for v, w in edges.items()}
    while done := [v for v, w in left.items() if not any(u in left for u in w)]:
        for v in done:
            del left[v]
    return bool(left)


def verdict(n, scope):
    """What docs/ethernet.md calls deadlock-free and complete."""
    devices = sorted(n.devices)
    senders = {p: [d for d in devices if n.does[p][d][0]] for p in n.hosts}
    targets = n.hosts
    # -- where packets get
    pairs = unreachable = 0
    circling = set()
    outer_bad = {peer: {d: lost(n, does, d, {}) for d in devices} for peer, does in n.peers.items()}
    from_whom = [(p.version, at, p) for p, at in senders.items()]
    if scope == "all":
        targets, from_whom = list(n.at), [(v, [d], None) for d in devices for v in (4, 6)]
    for p in targets:
        ends = {}
        for version, at, own in from_whom:
            if version != p.version or own == p:
                continue
            pairs += 1
            for d in at:
                if d not in ends:
                    ends[d] = lost(n, n.does[p], d, outer_bad)
            unreachable += any(ends[d] for d in at)
            if any("circle" in ends[d] for d in at):
                circling.add(p)
    # -- what waits for what
    g = Waiting(n)
    starts = devices if scope == "all" else sorted({d for at in senders.values() for d in at})
    for p in targets:
        g.follow(p, starts)
    lanes, used = g.lanes()
    nothing = n.cables == 0 or scope == "hosts" and not n.hosts or not any(g.known.values()) or scope == "hosts" and len(starts) == 1 or not circle(lanes) and not used
    out = {
        "devices": len(devices), "cables": n.cables, "prefixes": len(n.at), "host_prefixes": len(n.hosts), "pairs": pairs, "unreachable": unreachable,
        "forwarding_loops": len(circling), "dependencies": sum(len(w) for w in lanes.values()), "buffers": circle(g.buffers()),
        "lossless_priorities": sorted({lane for _, lane in used}),
    }
    out["verdict"] = "nothing-to-judge" if nothing else "credit-loop" if circle(lanes) else "deadlock-free"
    out["exit"] = int(nothing or circle(lanes) or unreachable > 0 or bool(circling))
    return out


def lost(n, does, start, outer_bad):
    """What can become of packets from a device: 'circle', 'nowhere', both or nothing, over every choice."""
    state, found = {}, set()

    def walk(d):
        state[d] = "on the way"
        deliver, links, peer = does[d]
        if not deliver and not links and not peer:
            found.add("nowhere")
        if peer and outer_bad[peer][d]:
            found.add("nowhere")
        for end in links:
            to = n.link[end][0]
            if state.get(to) == "on the way":
                found.add("circle")
            elif to not in state:
                walk(to)
        state[d] = "done"

    walk(start)
    return found


class Waiting:
    """Packets on their way, by every DSCP and next hop. A header is (wrapped, DSCP)."""

    def __init__(self, n):
        self.n = n
        self.seen = set()     # (end that they leave by, header, end that they came by or None, whether their tunnel ends behind the link)
        self.holds = set()    # ((end, header), (end, header)) one behind the other
        self.carried = set()  # (end, header)
        self.flows = set()    # (end in, header in, end out, header out, ends): with what is needed to find queues
        self.known = {}

    def follow(self, p, starts):
        n = self.n
        here = n.does[p]
        stack = [(d, None, (False, x)) for d in starts for x in n.dscps]
        done = set(stack)
        wrapped = set()

        def go(does, d, came, header, into):
            for end in does[d][1]:
                for now in self.leaving(d, came, header, end):
                    far = n.link[end]
                    ends = header[0] and bool(does[far[0]][0])
                    self.flows.add((came, into, end, now, ends))
                    nxt = (far[0], far, now)
                    if nxt not in done:
                        done.add(nxt)
                        stack.append(nxt)

        while stack:
            d, came, header = stack.pop()
            go(here, d, came, header, header)
            if here[d][2]:
                wrapped.add((here[d][2], d, came, header))
        for peer in {w[0] for w in wrapped}:
            does, done, stack = n.peers[peer], set(), []
            for _, d, came, header in [w for w in wrapped if w[0] == peer]:
                config = n.devices[d].config
                for m in n.incoming(d):
                    outer = (True, config.outer[m.tc[header[1]]] if config.outer else header[1])
                    go(does, d, came, outer, header)
            while stack:
                d, came, header = stack.pop()
                go(does, d, came, header, header)

    def leaving(self, d, came, header, end):
        """The headers that packets leave with."""
        m = self.n.maps[end]
        if not m.remark:
            return {header}
        return {(header[0], m.remark[i.tc[header[1]]]) for i in ([self.n.maps[came]] if came else self.n.edges[d])}

    def lanes(self):
        """The graph of lanes, and those that carry packets. A lane is (end, lowest priority that pauses it)."""
        n = self.n
        headers = self.headers()
        lane_of = {}
        for end, far in n.link.items():
            near, to = n.maps[end], n.maps[far]
            lossless = {to.about[p] for p in to.pfc}
            queues = self.queues(end, headers)
            groups = {h: self.groups(far, h) & lossless for h in headers}
            joined = [groups[h] for h in headers if groups[h]]
            waits = {h: set() for h in headers}  # groups for which packets wait, whatever becomes of them behind the link
            for q in range(CLASSES):
                pausing = {to.about[p] for p in near.pfc & to.pfc if near.paused[p] == q}
                if pausing:
                    inside = [h for h in headers if q in queues[h]]
                    joined.append(pausing.union(*[groups[h] for h in inside]))
                    for h in inside:
                        waits[h] |= pausing
            joined += [waits[h] for h in headers if not groups[h] and waits[h]]
            for h in headers:
                some = groups[h] or waits[h]
                if some:
                    lane_of[end, h] = (end, min(p for p in to.pfc if to.about[p] in together(joined, min(some))))
        self.known = lane_of
        edges, used = {}, set()
        for came, before, end, header, _ in self.flows:
            waits = lane_of.get((end, header))
            if waits:
                used.add(waits)
            back = came and lane_of.get((n.link[came], before))
            if waits and back:
                edges.setdefault(back, set()).add(waits)
        return edges, used

    def headers(self):
        """All that packets can have: hosts send with every DSCP; outside tunnels is what some device writes there."""
        n = self.n
        outer = set()
        for does in n.does.values():
            for d, (_, _, peer) in does.items():
                if peer:
                    config = n.devices[d].config
                    outer |= {config.outer[m.tc[x]] if config.outer else x for m in n.incoming(d) for x in n.dscps}
        while True:
            more = {m.remark[i.tc[x]] for e, m in n.maps.items() if m.remark for i in n.incoming(e[0]) for x in outer} - outer
            if not more:
                return [(False, x) for x in n.dscps] + [(True, x) for x in sorted(outer)]
            outer |= more

    def queues(self, end, headers):
        """The queues of a port by the header that packets leave with, by whatever port they come."""
        n = self.n
        m, config = n.maps[end], n.devices[end[0]].config
        found = {h: set() for h in headers}
        for i in n.incoming(end[0]):
            for wrapped, x in headers:
                tc = i.tc[x]
                found[wrapped, m.remark[tc] if m.remark else x].add(m.queue[tc])
            if config and config.peer and any(h[0] for h in headers):
                for x in n.dscps:
                    tc = i.tc[x]
                    outer = config.outer[tc] if config.outer else x
                    if (True, outer) in found:
                        found[True, outer].add(config.tunnel_queue[tc] if config.tunnel_queue else m.queue[tc])
        return found

    def groups(self, far, header):
        """The groups that packets are counted in behind a link; a device with tunnels may end that of a packet."""
        m, config = self.n.maps[far], self.n.devices[far[0]].config
        found = {m.group[m.tc[header[1]]]}
        if header[0] and config and config.peer:
            tc = config.decap_tc[header[1]] if config.decap_tc else m.tc[header[1]]
            found.add(config.decap_group[tc] if config.decap_group else m.group[tc])
        return found

    def buffers(self):
        """Groups wait for queues, and queues for groups: ('group', receiving end, number), ('queue', sending end, number)."""
        n = self.n
        edges = {}
        for came, before, end, header, ends in self.flows:
            near, far = n.maps[end], n.link[end]
            config = n.devices[end[0]].config
            for i in [n.maps[came]] if came else n.edges[end[0]]:
                q = near.queue[i.tc[before[1]]]
                if header[0] and not before[0] and config.tunnel_queue:
                    q = config.tunnel_queue[i.tc[before[1]]]
                group = i.group[i.tc[before[1]]]
                if came and group in {i.about[p] for p in i.pfc}:
                    edges.setdefault(("group", came, group), set()).add(("queue", end, q))
                to = n.maps[far]
                for p in near.pfc & to.pfc:
                    if near.paused[p] == q:
                        edges.setdefault(("queue", end, q), set()).add(("group", far, to.about[p]))
        return edges


def together(sets, group):
    found, before = {group}, None
    while found != before:
        before = set(found)
        for s in sets:
            if s & found:
                found |= s
    return found


def judge(folder, vrf="default", endpoints="hosts"):
    try:
        return verdict(Network(folder, vrf), endpoints)
    except (Refused, ValueError, KeyError, AttributeError, TypeError, IndexError, OSError, EOFError, RecursionError) as e:
        return {"verdict": "refused", "exit": 3, "why": "%s: %s" % (type(e).__name__, e)}


def main():
    if sys.argv[1:] == ["--jobs"]:
        for line in sys.stdin:
            print(json.dumps(judge(**json.loads(line))), flush=True)
        return 0
    args = sys.argv[1:]
    vrf = args[1] if args[0] == "--vrf" else "default"
    answer = judge(args[-1], vrf)
    print(json.dumps(answer, indent=1))
    return answer["exit"]


if __name__ == "__main__":
    sys.exit(main())
