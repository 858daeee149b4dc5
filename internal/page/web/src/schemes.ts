import type { Result, TableSet } from "./data.ts";
import { lanesText, thousands, type Index } from "./network.ts";
import { distinct, type Palette } from "./palette.ts";

// Colouring is what the colours of the map mean.
export type Colouring = "load" | "lane" | "rate" | "tier" | "odd" | "difference" | `result-${number}` | `result-${number}-${number}`; // the last: a step of a plan

export interface Legend {
  title: string;
  ramp?: { colours: string[]; from: string; to: string };
  items: { colour: string; text: string; round?: boolean }[];
}

// Line is how the cables between two switches are drawn: higher ones over others, wide ones
// to be seen from afar.
export interface Line {
  colour: string;
  height: number;
  wide: boolean;
}

// Scheme is the meaning of the colours at work.
export interface Scheme {
  legend: Legend;
  edge: (pair: number) => Line;
  node: (s: number) => string;
  host: (endpoint: number) => string; // the line to an endpoint that is unfolded
}

export interface Shown {
  index: Index;
  tables: TableSet | undefined;
  results: Result[];
  colours: Palette;
}

const line = (colour: string, height = 0, wide = false): Line => ({ colour, height, wide });

// schemeOf is the scheme of a colouring.
export function schemeOf(by: Colouring, v: Shown): Scheme {
  const c = v.colours;
  const level = (s: number) => c.level[Math.min(7, Math.max(0, v.index.n.nodes.level[s] + 1))];
  const host = () => c.pale;
  switch (by) {
    case "load":
      return { ...loads(v), node: level, host };
    case "lane":
      return { ...lanes(v), node: level, host };
    case "rate":
      return { ...kinds("Rate of cables", v.index.pairs.map((p) => v.index.rates(p))), node: level, host };
    case "tier":
      return { ...kinds("Tier", v.index.pairs.map((_, i) => tier(v.index, i))), node: level, host };
    case "odd":
      return oddities(v, level);
    case "difference":
      return { ...difference(v), host };
    default:
      return { ...change(by, v), host };
  }
}

function loads({ index, tables, colours }: Shown): Pick<Scheme, "legend" | "edge"> {
  const { n, pairs } = index;
  const scale = tables?.load.scale ?? 0;
  const bins = colours.load.length;
  const bin = (i: number) => (tables && scale > 0 ? Math.min(bins - 1, Math.floor((index.load(tables, pairs[i]) / scale) * bins)) : 0);
  const levels = [...new Set(Array.from({ length: index.switches }, (_, s) => n.nodes.level[s]))].sort((a, b) => a - b);
  const items = levels.map((l) => ({ colour: colours.level[Math.min(7, Math.max(0, l + 1))], text: l < 0 ? "switches without hosts near" : l === 0 ? "switches with hosts" : `switches of level ${l}`, round: true }));
  const title = tables ? `Routes over a channel, ${thousands(tables.load.most)} at most` : "Cables";
  return {
    legend: { title, ...(tables ? { ramp: { colours: colours.load, from: "0", to: String(scale) } } : {}), items },
    edge: (i) => line(colours.load[bin(i)], bin(i), bin(i) > 5),
  };
}

function lanes({ index, tables, colours }: Shown): Pick<Scheme, "legend" | "edge"> {
  const masks = index.pairs.map((p) => (tables ? index.lanes(tables, p) : 0));
  const used = [...new Set(masks)].filter((m) => m !== 0).sort((a, b) => bits(a) - bits(b) || a - b);
  const items = used.map((m, i) => ({ colour: distinct[i % distinct.length], text: `${index.laneName} ${lanesText(m)}` }));
  if (used.length < new Set(masks).size) items.unshift({ colour: colours.load[0], text: "not used" });
  return {
    legend: { title: "Lanes in use", items: some(items) },
    edge: (i) => line(masks[i] === 0 ? colours.load[0] : distinct[used.indexOf(masks[i]) % distinct.length], bits(masks[i])),
  };
}

// kinds colours pairs of switches by a word each. The rarest are above the others.
function kinds(title: string, of: string[]): Pick<Scheme, "legend" | "edge"> {
  const count = new Map<string, number>();
  for (const kind of of) count.set(kind, (count.get(kind) ?? 0) + 1);
  const order = [...count.keys()].sort((a, b) => count.get(b)! - count.get(a)! || (a < b ? -1 : 1));
  const place = new Map(order.map((kind, i) => [kind, i]));
  const colour = (i: number) => distinct[i % distinct.length];
  return {
    legend: { title, items: some(order.map((text, i) => ({ colour: colour(i), text }))) },
    edge: (i) => {
      const k = place.get(of[i])!;
      return line(colour(k), k, 20 * count.get(of[i])! < of.length);
    },
  };
}

// some is the first items of a legend.
function some(items: Legend["items"]): Legend["items"] {
  const most = distinct.length;
  return items.length <= most ? items : [...items.slice(0, most), { colour: "transparent", text: `and ${items.length - most} more` }];
}

// tier is between which levels the cables between two switches lead.
function tier({ n, pairs }: Index, i: number): string {
  const { a, b } = pairs[i];
  const [low, high] = [Math.min(n.nodes.level[a], n.nodes.level[b]), Math.max(n.nodes.level[a], n.nodes.level[b])];
  if (low !== high) return `level ${low} to ${high}`;
  if (n.shape === "groups") return n.nodes.group[a] === n.nodes.group[b] ? "within groups" : "between groups";
  return `within level ${low}`;
}

// oddities colours what is unusual about the fabric: cables, and switches that are unusual
// themselves or by a cable to a host.
function oddities({ index, colours }: Shown, level: (s: number) => string): Scheme {
  const { n, pairs } = index;
  const order = [...new Set(n.odd.map((o) => o.kind))];
  const colour = (k: number) => distinct[(k + 1) % distinct.length];
  const [ofPair, ofSwitch, ofCable] = [new Map<number, number>(), new Map<number, number>(), new Map<number, number>()];
  const marked = new Set<number>();
  const missing = order.indexOf("missing-cable");
  for (const o of n.odd)
    for (const p of o.places) {
      const k = order.indexOf(o.kind);
      if (p.cable >= n.cables.between_switches) {
        ofCable.set(p.cable, k);
        const s = [p.a, p.b].find((v) => v >= 0 && v < index.switches);
        if (s !== undefined && !ofSwitch.has(s)) ofSwitch.set(s, k);
        marked.add(k);
      } else if (p.cable >= 0) {
        ofPair.set(index.pairOf[p.cable], k);
        marked.add(k);
      } else if (p.b < 0 && p.a >= 0 && p.a < index.switches) {
        ofSwitch.set(p.a, k);
        marked.add(k);
      } else if (p.a >= 0 && p.b >= 0) marked.add(k);
    }
  const items = order.map((text, k) => ({ colour: k === missing ? colours.warn : colour(k), text })).filter((_, k) => marked.has(k));
  const endpointCable = new Map<number, number>();
  for (const [cable, k] of ofCable) {
    const [s, port] = n.cables.a[cable] < index.switches ? [n.cables.a[cable], n.cables.a_port[cable]] : [n.cables.b[cable], n.cables.b_port[cable]];
    const e = index.hosts[s]?.find((e) => n.endpoints.switch_port[e] === port);
    if (e !== undefined) endpointCable.set(e, k);
  }
  const of = (k: number | undefined, otherwise: string) => (k === undefined ? otherwise : colour(k));
  return {
    legend: { title: "Condition", items: [{ colour: colours.load[1], text: "nothing unusual" }, ...items] },
    edge: (i) => (ofPair.has(i) ? line(colour(ofPair.get(i)!), 3, true) : line(colours.load[pairs[i].cables.length > 1 ? 1 : 0])),
    node: (s) => of(ofSwitch.get(s), level(s)),
    host: (e) => of(endpointCable.get(e), colours.pale),
  };
}

// entries colours switches by how many of their entries change, in colours that none of gone
// and new has.
function entries(changed: ArrayLike<number>, colours: Palette): { ramp: Legend["ramp"]; of: (s: number) => string } {
  const ramp = colours.load.slice(0, 5);
  let most = 0;
  for (let s = 0; s < changed.length; s++) most = Math.max(most, changed[s]);
  return {
    ramp: { colours: ramp, from: "0 entries", to: String(most) },
    of: (s) => ramp[most === 0 ? 0 : Math.ceil(((changed[s] ?? 0) / most) * (ramp.length - 1))],
  };
}

function difference({ index, colours }: Shown): Omit<Scheme, "host"> {
  const e = entries(index.n.difference!.by_switch, colours);
  return { legend: { title: "Entries that differ", ramp: e.ramp, items: [] }, edge: () => line(colours.load[0]), node: e.of };
}

function change(by: Colouring, { index, results, colours }: Shown): Omit<Scheme, "host"> {
  const [, result, step] = by.split("-");
  const marks = results[Number(result)].marks!;
  const e = entries(step === undefined ? marks.by_switch : marks.steps[Number(step)], colours);
  const pairs = (list: ArrayLike<number>) => new Set(Array.from(list).filter((c) => c < index.pairOf.length).map((c) => index.pairOf[c]));
  const [gone, fresh] = [pairs(marks.gone_cables), pairs(marks.new_cables)];
  const [goneNodes, freshNodes] = [new Set(Array.from(marks.gone_nodes)), new Set(Array.from(marks.new_nodes))];
  const items: Legend["items"] = [];
  if (gone.size + goneNodes.size > 0) items.push({ colour: colours.bad, text: "gone" });
  if (fresh.size + freshNodes.size > 0) items.push({ colour: colours.good, text: "new" });
  return {
    legend: { title: step === undefined ? "Change" : `Step ${Number(step) + 1}`, ramp: e.ramp, items },
    edge: (i) => {
      const { a, b } = index.pairs[i];
      if (gone.has(i) || goneNodes.has(a) || goneNodes.has(b)) return line(colours.bad, 5, true);
      if (fresh.has(i) || freshNodes.has(a) || freshNodes.has(b)) return line(colours.good, 5, true);
      return line(colours.load[0]);
    },
    node: (s) => (goneNodes.has(s) ? colours.bad : freshNodes.has(s) ? colours.good : e.of(s)),
  };
}

function bits(mask: number): number {
  let count = 0;
  for (; mask; mask &= mask - 1) count++;
  return count;
}
