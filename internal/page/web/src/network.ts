import type { Column, Network, TableSet } from "./data.ts";

// Pair is all cables between two switches.
export interface Pair {
  a: number;
  b: number;
  cables: number[];
}

// Port is what is at a port of a switch.
export interface Port {
  port: number;
  cable: number;
  back: boolean; // the channel that leaves by the port leads from end b to end a
  peer: number; // node
  peerPort: number;
}

// Hop is a switch on a path with the way out of it.
export interface Hop {
  node: number;
  in: number;
  out: number;
  cable: number; // -1: to the destination itself
  back: boolean;
  vl: number; // -1: not known
}

export interface Path {
  hops: Hop[];
  sl: number;
  lid: number;
  ways?: number; // of ECMP: how many there are; the hops are all that they have
  instead: boolean; // the page has no entries for the LID asked for; this is another of its switch
  end: "arrives" | "ends" | "circles" | "not to be used" | "no tables";
}

// Index answers questions about a network that its columns do not answer at once.
export class Index {
  readonly switches: number;
  readonly pairs: Pair[] = [];
  readonly pairOf: Int32Array; // [cable between switches]
  readonly hosts: number[][]; // [switch] endpoints
  private readonly ports: Port[][]; // [switch]
  private readonly lidRow = new Map<TableSet, Map<number, number>>();
  private readonly names: string[]; // [node] in lower case

  constructor(readonly n: Network) {
    this.switches = n.nodes.x.length;
    this.hosts = Array.from({ length: this.switches }, () => []);
    this.ports = Array.from({ length: this.switches }, () => []);
    const c = n.cables;
    const at = new Map<number, number>();
    this.pairOf = new Int32Array(c.between_switches);
    for (let i = 0; i < c.a.length; i++) {
      const [a, b] = [c.a[i], c.b[i]];
      if (a < this.switches) this.ports[a].push({ port: c.a_port[i], cable: i, back: false, peer: b, peerPort: c.b_port[i] });
      if (b < this.switches) this.ports[b].push({ port: c.b_port[i], cable: i, back: true, peer: a, peerPort: c.a_port[i] });
      if (i >= c.between_switches) continue;
      const key = Math.min(a, b) * this.switches + Math.max(a, b);
      let k = at.get(key);
      if (k === undefined) {
        k = this.pairs.length;
        at.set(key, k);
        this.pairs.push({ a: Math.min(a, b), b: Math.max(a, b), cables: [] });
      }
      this.pairs[k].cables.push(i);
      this.pairOf[i] = k;
    }
    for (const list of this.ports) list.sort((x, y) => x.port - y.port);
    for (let e = 0; e < n.endpoints.node.length; e++) {
      const s = n.endpoints.switch[e];
      if (s >= 0) this.hosts[s].push(e);
    }
    this.names = n.nodes.name.map((name, i) => (name + "\n" + n.nodes.short[i]).toLowerCase());
  }

  portsOf(s: number): Port[] {
    return this.ports[s];
  }

  // rates is the rates of the cables of a pair, each once, in the order of the report.
  rates(p: Pair): string {
    const used = [...new Set(p.cables.map((c) => this.n.cables.rate[c]))].sort((a, b) => a - b);
    return used.map((r) => this.n.rates[r]).join(" and ");
  }

  // label is what a node is called on the map.
  label(node: number): string {
    return this.n.nodes.short[node];
  }

  // name is the whole description, with the GUID where it is empty.
  name(node: number): string {
    return this.n.nodes.name[node] || this.n.nodes.guid[node];
  }

  endpointName(e: number): string {
    const node = this.n.endpoints.node[e];
    const port = this.n.nodes.ports[node] > 1 ? `, port ${this.n.endpoints.port[e]}` : "";
    return this.name(node) + port;
  }

  endpointsOf(node: number): number[] {
    const list: number[] = [];
    const of = this.n.endpoints.node;
    for (let e = 0; e < of.length; e++) if (of[e] === node) list.push(e);
    return list;
  }

  // load is the most routes over one direction of one cable of a pair.
  load(t: TableSet, p: Pair): number {
    let most = 0;
    for (const c of p.cables) most = Math.max(most, t.load.there[c], t.load.back[c]);
    return most;
  }

  lanes(t: TableSet, p: Pair): number {
    let mask = 0;
    for (const c of p.cables) mask |= t.load.lanes_there[c] | t.load.lanes_back[c];
    return mask;
  }

  // find is the nodes that a text fits, the best first: those that are called so, those
  // that begin so, those that contain it.
  find(text: string, most: number): number[] {
    const want = text.trim().toLowerCase();
    if (want === "") return [];
    const ranked: [number, number][] = [];
    const guid = want.replace(/^[shr]-/, "").replace(/^0x/, "").replace(/[:.-]/g, "");
    const lid = /^(\d+|0x[0-9a-f]{1,4})$/.test(want) ? Number(want) : -1;
    const byLID = new Set<number>();
    const byGUID = new Set<number>(); // of a port
    const e = this.n.endpoints;
    if (guid.length >= 4) for (let i = 0; i < e.node.length; i++) if (e.guid[i].includes(guid)) byGUID.add(e.node[i]);
    if (lid >= 0) {
      for (let i = 0; i < e.lid.length; i++) if (lid >= e.lid[i] && lid < e.lid[i] + (1 << e.lmc[i])) byLID.add(e.node[i]);
      for (let s = 0; s < this.switches; s++) if (this.n.nodes.lid[s] === lid) byLID.add(s);
    }
    for (let i = 0; i < this.names.length; i++) {
      const name = this.names[i];
      const whole = name === want || name.startsWith(want + "\n") || name.endsWith("\n" + want);
      const begins = name.startsWith(want) || name.includes("\n" + want);
      if (whole) ranked.push([0, i]);
      else if (byLID.has(i)) ranked.push([1, i]);
      else if (begins) ranked.push([2, i]);
      else if (name.includes(want)) ranked.push([3, i]);
      else if (byGUID.has(i) || (guid.length >= 4 && this.n.nodes.guid[i].includes(guid))) ranked.push([4, i]);
    }
    ranked.sort((p, q) => p[0] - q[0] || p[1] - q[1]);
    return ranked.slice(0, most).map((r) => r[1]);
  }

  // laneName is what a lane is called.
  get laneName(): string {
    return this.n.ethernet ? "priority" : "VL";
  }

  // portName is what the port of a switch at one end of a cable is called.
  portName(cable: number, atB: boolean, port: number): string {
    return (atB ? this.n.cables.b_interface : this.n.cables.a_interface)?.[cable] ?? String(port);
  }

  // ways is every way that ECMP may choose from an endpoint to another: each switch on them with each of its next hops.
  private ways(t: TableSet, src: number, dst: number): Path {
    const e = this.n.endpoints;
    const w = t.ways!;
    const path: Path = { hops: [], sl: 0, lid: 0, instead: false, end: "no tables", ways: 0 };
    const row = w.class[dst];
    if (row < 0) return path;
    const nextOf = (s: number): Port[] => {
      const set = w.set[row * this.switches + s];
      const list: Port[] = [];
      for (let i = w.first[set]; i < w.first[set + 1]; i++) {
        const port = this.ports[s].find((q) => q.port === w.ports[i]);
        if (port) list.push(port);
      }
      return list;
    };
    const queue = [e.switch[src]];
    const seen = new Set(queue);
    path.end = "arrives";
    for (const at of queue) {
      if (at === e.switch[dst]) continue;
      const next = nextOf(at);
      if (next.length === 0) path.end = "ends";
      for (const port of next) {
        path.hops.push({ node: at, in: -1, out: port.port, cable: port.cable, back: port.back, vl: -1 });
        if (!seen.has(port.peer)) {
          seen.add(port.peer);
          queue.push(port.peer);
        }
      }
    }
    const counts = new Map<number, number>(); // of ways from there on; while it is counted: NaN
    const count = (s: number): number => {
      if (s === e.switch[dst]) return 1;
      const known = counts.get(s);
      if (known !== undefined) {
        if (Number.isNaN(known)) path.end = "circles";
        return known;
      }
      counts.set(s, NaN);
      let sum = 0;
      for (const port of nextOf(s)) sum += count(port.peer);
      counts.set(s, sum);
      return sum;
    };
    path.ways = count(e.switch[src]);
    return path;
  }

  // path follows the tables from an endpoint to another.
  path(t: TableSet, src: number, dst: number): Path {
    if (t.ways) return this.ways(t, src, dst);
    const e = this.n.endpoints;
    const p = t.paths;
    let lid = e.lid[dst];
    const path: Path = { hops: [], sl: 0, lid, instead: false, end: "no tables" };
    if (!p) return path;
    let row = this.row(t, lid);
    if (row < 0) {
      for (const other of this.hosts[e.switch[dst]] ?? []) {
        if (this.row(t, e.lid[other]) >= 0) {
          lid = e.lid[other];
          row = this.row(t, lid);
          path.instead = true;
          path.lid = lid;
          dst = other;
          break;
        }
      }
      if (row < 0) return path;
    }
    const r = p.row[src];
    path.sl = p.levels ? p.levels[row * p.rows + r] : 0;
    if (path.sl === 255) {
      path.end = "not to be used";
      return path;
    }
    let at = e.switch[src];
    let inPort = e.switch_port[src];
    const seen = new Set<number>();
    for (;;) {
      if (seen.has(at)) {
        path.end = "circles";
        return path;
      }
      seen.add(at);
      const out = p.ports[row * p.switches + at];
      const port = this.ports[at].find((q) => q.port === out);
      if (!port || port.peer >= this.switches) {
        path.hops.push({ node: at, in: inPort, out, cable: -1, back: false, vl: -1 });
        path.end = at === e.switch[dst] && out === e.switch_port[dst] ? "arrives" : "ends";
        return path;
      }
      path.hops.push({ node: at, in: inPort, out, cable: port.cable, back: port.back, vl: this.lane(t, at, inPort, out, path.sl) });
      at = port.peer;
      inPort = port.peerPort;
    }
  }

  private row(t: TableSet, lid: number): number {
    let rows = this.lidRow.get(t);
    if (!rows) {
      rows = new Map();
      const lids = t.paths?.lids ?? [];
      for (let i = 0; i < lids.length; i++) rows.set(lids[i], i);
      this.lidRow.set(t, rows);
    }
    return rows.get(lid) ?? -1;
  }

  // lane is the lane on which a packet leaves a switch.
  lane(t: TableSet, s: number, inPort: number, out: number, sl: number): number {
    const p = t.paths;
    if (!p) return -1;
    if (p.lane_of_sl) return p.lane_of_sl[sl];
    if (!p.in_first || !p.in_class || !p.outs || !p.out_port || !p.map_first || !p.maps || !p.sls) return -1;
    const cls = p.in_class[p.in_first[s] + inPort];
    const outs = p.outs[s + 1] - p.outs[s];
    const k = indexOf(p.out_port, out, p.outs[s], p.outs[s + 1]) - p.outs[s];
    if (k < 0) return -1;
    return p.maps[p.map_first[s] + (cls * outs + k) * p.sls.length + sl];
  }
}

function indexOf(list: Column, value: number, from: number, to: number): number {
  for (let i = from; i < to; i++) if (list[i] === value) return i;
  return -1;
}

// counted is a number with its noun.
export function counted(n: number, one: string, many: string): string {
  return `${thousands(n)} ${n === 1 ? one : many}`;
}

// thousands writes a number with commas.
export function thousands(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

// lanesText is lanes given as bits.
export function lanesText(mask: number): string {
  const list: number[] = [];
  for (let vl = 0; vl < 16; vl++) if (mask & (1 << vl)) list.push(vl);
  return list.length === 0 ? "–" : list.join(", ");
}
