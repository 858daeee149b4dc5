import Graph from "graphology";
import Sigma from "sigma";
import { EdgeArrowProgram, EdgeRectangleProgram } from "sigma/rendering";

import type { Result, TableSet } from "./data.ts";
import type { Index, Path } from "./network.ts";
import { distinct, palette, type Palette } from "./palette.ts";

// Colouring is what the colours of the map mean.
export type Colouring = "load" | "lane" | "rate" | "tier" | "odd" | "difference" | `result-${number}` | `result-${number}-${number}`; // the last: a step of a plan

// Item is what is under the pointer.
export type Item = { kind: "node"; node: number } | { kind: "endpoint"; endpoint: number } | { kind: "pair"; pair: number };

export interface Legend {
  title: string;
  ramp?: { colours: string[]; from: string; to: string };
  items: { colour: string; text: string; round?: boolean }[];
}

const bins = 8;

// Map is a network on a canvas. Nodes of the graph are s0, s1, … for switches and e0, e1, …
// for endpoints that are unfolded; edges t0, … for pairs of switches, m0, … for cables that
// are missing, h0, … for those to endpoints, o0, … for loops and paths drawn over them.
export class Map {
  readonly graph = new Graph({ multi: true, type: "directed" });
  readonly sigma: Sigma;
  private colours: Palette = palette();
  private readonly size: number;
  private readonly unfolded = new Set<number>();
  private over = 0;
  private dimmed = false;
  private labels: [number, number, number][] = []; // left, right and top of what is written
  inset = 0; // pixels at the right that something covers
  colouring: Colouring = "load";
  onPick: (item: Item | null) => void = () => {};
  onHover: (item: Item | null, x: number, y: number) => void = () => {};

  constructor(
    private readonly index: Index,
    private tables: TableSet | undefined,
    private readonly results: Result[],
    container: HTMLElement,
  ) {
    const n = index.n;
    let [width, height] = [1, 1];
    for (let s = 0; s < index.switches; s++) {
      width = Math.max(width, n.nodes.x[s]);
      height = Math.max(height, n.nodes.y[s]);
    }
    const unit = Math.min((container.clientWidth - 80) / width, (container.clientHeight - 80) / height);
    this.size = Math.max(2, Math.min(9, 0.3 * unit));
    this.fill();
    this.sigma = new Sigma(this.graph, container, {
      defaultEdgeType: "line",
      edgeProgramClasses: { line: EdgeRectangleProgram, route: EdgeArrowProgram }, // the last is drawn over the others
      zIndex: true,
      minEdgeThickness: index.pairs.length > 1000 ? 1 : 1.7,
      labelDensity: 0.7,
      labelGridCellSize: 110,
      labelRenderedSizeThreshold: index.switches > 60 ? this.size * 1.6 : 0, // names come with room for them
      labelFont: "system-ui, sans-serif",
      labelSize: 11.5,
      stagePadding: 40,
      minCameraRatio: 0.002,
      maxCameraRatio: 4,
      defaultDrawNodeHover: () => {}, // the page has a box of its own
      defaultDrawNodeLabel: (context, node) => this.drawLabel(context, node),
    });
    this.sigma.on("beforeRender", () => (this.labels = []));
    this.listen();
    this.recolour();
  }

  private fill(): void {
    const { n, pairs } = this.index;
    for (let s = 0; s < this.index.switches; s++) {
      const factor = n.nodes.level[s] > 0 ? 1.15 : 1;
      this.graph.addNode(`s${s}`, { x: n.nodes.x[s], y: -n.nodes.y[s], size: this.size * factor, label: this.index.label(s), color: "#888", zIndex: 1 });
    }
    pairs.forEach((p, i) => {
      const width = Math.min(4, 0.8 + 0.45 * Math.log2(p.cables.length));
      const size = width * (pairs.length > 4000 ? 0.8 : 1.2);
      this.graph.addEdgeWithKey(`t${i}`, `s${p.a}`, `s${p.b}`, { size, width: size, color: "#888", zIndex: 0 });
    });
    let missing = 0;
    for (const odd of n.odd)
      for (const p of odd.places)
        if (p.a >= 0 && p.b >= 0 && p.cable < 0 && p.a < this.index.switches && p.b < this.index.switches)
          this.graph.addEdgeWithKey(`m${missing++}`, `s${p.a}`, `s${p.b}`, { size: 1.2, color: "#888", hidden: true, zIndex: 2 });
  }

  // use shows other tables.
  use(tables: TableSet | undefined): void {
    this.tables = tables;
    this.clear();
    this.recolour();
  }

  // recolour gives all parts the colours of the present colouring, pale if something is
  // drawn over them.
  recolour(): Legend {
    this.colours = palette();
    const c = this.colours;
    this.sigma.setSetting("labelColor", { color: c.text });
    const { legend, edge, node } = this.scheme();
    this.graph.updateEachEdgeAttributes(
      (key, a) => {
        const i = Number(key.slice(1));
        switch (key[0]) {
          case "t": {
            const [colour, height, wide] = edge(i);
            a.size = a.width * (wide && !this.dimmed ? 2.4 : 1);
            a.color = this.dimmed ? c.pale : colour;
            a.zIndex = this.dimmed ? 0 : height;
            break;
          }
          case "m":
            a.hidden = this.colouring !== "odd" || this.dimmed;
            a.color = c.warn;
            break;
          case "h":
            a.color = c.pale;
            break;
        }
        return a;
      },
      { attributes: ["color", "size", "zIndex", "hidden"] },
    );
    this.graph.updateEachNodeAttributes(
      (key, a) => {
        a.color = key[0] === "s" ? node(Number(key.slice(1))) : c.host;
        return a;
      },
      { attributes: ["color"] },
    );
    return legend;
  }

  // scheme is the meaning of the colours: the colour of a pair, how far above others it is
  // drawn and whether it is to be seen from afar; and the colour of a switch.
  private scheme(): { legend: Legend; edge: (pair: number) => [string, number, boolean?]; node: (s: number) => string } {
    const { n, pairs } = this.index;
    const c = this.colours;
    const t = this.tables;
    const level = (s: number) => c.level[Math.min(7, Math.max(0, n.nodes.level[s] + 1))];
    switch (this.colouring) {
      case "lane": {
        const masks = pairs.map((p) => (t ? this.index.lanes(t, p) : 0));
        const used = [...new Set(masks)].sort((a, b) => bits(a) - bits(b) || a - b);
        const items = used.slice(0, 12).map((m, i) => ({ colour: m === 0 ? c.load[0] : distinct[i % distinct.length], text: m === 0 ? "not used" : `VL ${listOf(m)}` }));
        const of = (m: number) => (m === 0 ? c.load[0] : distinct[used.indexOf(m) % distinct.length]);
        return { legend: { title: "Lanes in use", items }, edge: (i) => [of(masks[i]), bits(masks[i])], node: level };
      }
      case "rate": {
        const items = n.rates.map((r, i) => ({ colour: distinct[i % distinct.length], text: r })).filter((_, i) => pairs.some((p) => n.cables.rate[p.cables[0]] === i));
        return { legend: { title: "Rate of cables", items }, edge: (i) => [distinct[n.cables.rate[pairs[i].cables[0]] % distinct.length], 0], node: level };
      }
      case "tier": {
        const name = (i: number) => {
          const [a, b] = [n.nodes.level[pairs[i].a], n.nodes.level[pairs[i].b]];
          return a === b ? (n.nodes.group[pairs[i].a] === n.nodes.group[pairs[i].b] ? `within level ${a}` : `within level ${a}, between groups`) : `level ${Math.min(a, b)} to ${Math.max(a, b)}`;
        };
        const names = [...new Set(pairs.map((_, i) => name(i)))].sort();
        return { legend: { title: "Tier", items: names.map((text, i) => ({ colour: distinct[i], text })) }, edge: (i) => [distinct[names.indexOf(name(i)) % distinct.length], 0], node: level };
      }
      case "odd":
        return this.oddScheme(level);
      case "load":
        break;
      default:
        return this.changeScheme();
    }
    const most = t?.load.scale ?? 0;
    const bin = (i: number) => (t && most > 0 ? Math.min(bins - 1, Math.floor((this.index.load(t, pairs[i]) / most) * bins)) : 0);
    const items = [...new Set(Array.from({ length: this.index.switches }, (_, s) => n.nodes.level[s]))].sort((a, b) => a - b).map((l) => ({ colour: c.level[Math.min(7, Math.max(0, l + 1))], text: l < 0 ? "switches without hosts near" : l === 0 ? "switches with hosts" : `switches of level ${l}`, round: true }));
    return {
      legend: { title: "Routes over a channel", ramp: { colours: c.load, from: "0", to: String(most) }, items },
      edge: (i) => [c.load[bin(i)], bin(i), bin(i) > 5],
      node: level,
    };
  }

  private oddScheme(level: (s: number) => string): ReturnType<Map["scheme"]> {
    const { n, pairs } = this.index;
    const c = this.colours;
    const kinds = [...new Set(n.odd.map((o) => o.kind))];
    const places = new globalThis.Map<number, number>(); // pair: kind
    for (const o of n.odd)
      for (const p of o.places) if (p.cable >= 0 && p.cable < n.cables.between_switches) places.set(this.index.pairOf[p.cable], kinds.indexOf(o.kind));
    const nodes = new globalThis.Map<number, number>();
    for (const o of n.odd) for (const p of o.places) if (p.b < 0 && p.a >= 0 && p.a < this.index.switches) nodes.set(p.a, kinds.indexOf(o.kind));
    const marked = new Set([...places.values(), ...nodes.values()]);
    const items = kinds.map((text, i) => ({ colour: marked.has(i) ? distinct[(i + 1) % distinct.length] : c.warn, text })).filter((item, i) => marked.has(i) || item.text === "missing-cable");
    return {
      legend: { title: "Condition", items: [{ colour: c.load[1], text: "nothing unusual" }, ...items] },
      edge: (i) => {
        const k = places.get(i);
        if (k !== undefined) return [distinct[(k + 1) % distinct.length], 3, true];
        return pairs[i].cables.length > 1 ? [c.load[1], 1] : [c.load[0], 0];
      },
      node: (s) => {
        const k = nodes.get(s);
        return k === undefined ? level(s) : distinct[(k + 1) % distinct.length];
      },
    };
  }

  private changeScheme(): ReturnType<Map["scheme"]> {
    const c = this.colours;
    const difference = this.colouring === "difference";
    const [, result, step] = this.colouring.split("-");
    const marks = difference ? undefined : this.results[Number(result)].marks;
    const changed = difference ? this.index.n.difference!.by_switch : step === undefined ? marks!.by_switch : marks!.steps[Number(step)];
    let most = 1;
    for (let s = 0; s < changed.length; s++) most = Math.max(most, changed[s]);
    const [gone, fresh] = [new Set<number>(), new Set<number>()];
    for (const [from, to] of [[marks?.gone_cables, gone], [marks?.new_cables, fresh]] as const) for (let i = 0; from && i < from.length; i++) if (from[i] < this.index.pairOf.length) to.add(this.index.pairOf[from[i]]);
    const has = (list: ArrayLike<number> | undefined, s: number) => !!list && Array.prototype.includes.call(list, s);
    const items = [{ colour: c.bad, text: "gone" }, { colour: c.good, text: "new" }];
    return {
      legend: { title: difference ? "Entries that differ" : step === undefined ? "Change" : `Step ${Number(step) + 1}`, ramp: { colours: c.load, from: "0 entries", to: String(most) }, items: difference ? [] : items },
      edge: (i) => (gone.has(i) || has(marks?.gone_nodes, this.index.pairs[i].a) || has(marks?.gone_nodes, this.index.pairs[i].b) ? [c.bad, 5, true] : fresh.has(i) ? [c.good, 5, true] : [c.load[0], 0]),
      node: (s) => (has(marks?.gone_nodes, s) ? c.bad : has(marks?.new_nodes, s) ? c.good : c.load[Math.min(bins - 1, Math.floor(((changed[s] ?? 0) / most) * (bins - 0.01)))]),
    };
  }

  // drawLabel writes a name below its switch, unless it would run into another.
  private drawLabel(context: CanvasRenderingContext2D, node: { x: number; y: number; size: number; label: string | null }): void {
    const text = node.label && node.label.length > 28 ? node.label.slice(0, 27) + "…" : node.label;
    if (!text) return;
    context.font = "11.5px system-ui, sans-serif";
    const half = context.measureText(text).width / 2 + 4;
    const top = node.y + node.size + 3;
    const [left, right] = [node.x - half, node.x + half];
    if (this.labels.some(([l, r, t]) => left < r && right > l && Math.abs(top - t) < 14)) return;
    this.labels.push([left, right, top]);
    context.textAlign = "center";
    context.lineJoin = "round";
    context.lineWidth = 3;
    context.strokeStyle = this.colours.panel;
    context.strokeText(text, node.x, top + 10);
    context.fillStyle = this.colours.text;
    context.fillText(text, node.x, top + 10);
    context.textAlign = "left";
  }

  // draw draws arrows over the map, and shows the rest pale.
  private draw(arrows: { from: string; to: string; colour: string; label?: string }[]): void {
    this.clear();
    for (const a of arrows) {
      this.graph.addEdgeWithKey(`o${this.over++}`, a.from, a.to, { size: Math.max(4, this.size * 0.7), color: a.colour, type: "route", zIndex: 9 });
    }
    this.dimmed = true;
    this.recolour();
  }

  showLoop(): void {
    const c = this.index.n.cables;
    this.draw((this.tables?.cycle ?? []).map((s) => ({ from: `s${s.back ? c.b[s.cable] : c.a[s.cable]}`, to: `s${s.back ? c.a[s.cable] : c.b[s.cable]}`, colour: this.colours.bad })));
  }

  showPath(path: Path): void {
    const nodes = path.hops.map((h) => `s${h.node}`);
    this.draw(path.hops.slice(1).map((_, i) => ({ from: nodes[i], to: nodes[i + 1], colour: path.end === "arrives" ? this.colours.accent : this.colours.bad })));
    this.show(path.hops.map((h) => h.node));
  }

  // clear takes away what is drawn over the map.
  clear(): void {
    for (const key of this.graph.filterEdges((k) => k[0] === "o")) this.graph.dropEdge(key);
    if (this.dimmed) {
      this.dimmed = false;
      this.recolour();
    }
  }

  // unfold shows the endpoints of a switch round it, or folds them in again.
  unfold(s: number): boolean {
    const hosts = this.index.hosts[s];
    if (this.unfolded.delete(s)) {
      for (const e of hosts) this.graph.dropNode(`e${e}`);
      return false;
    }
    this.unfolded.add(s);
    const { x, y } = this.graph.getNodeAttributes(`s${s}`);
    const inner = Math.min(hosts.length, 24);
    hosts.forEach((e, i) => {
      const ring = Math.floor(i / inner);
      const angle = (2 * Math.PI * (i % inner)) / inner + ring * 0.13 + Math.PI / 2;
      const r = 0.3 + 0.11 * ring;
      const node = this.index.n.endpoints.node[e];
      this.graph.addNode(`e${e}`, { x: x + r * Math.cos(angle), y: y + r * Math.sin(angle), size: Math.max(1.6, this.size * 0.32), label: this.index.label(node), color: this.colours.host, zIndex: 1 });
      this.graph.addEdgeWithKey(`h${e}`, `s${s}`, `e${e}`, { size: 0.7, color: this.colours.pale, zIndex: 0 });
    });
    if (hosts.length > 0) this.show([s], 1.6);
    return true;
  }

  isUnfolded(s: number): boolean {
    return this.unfolded.has(s);
  }

  // show moves the camera so that some switches are in sight, with some units round them.
  show(nodes: number[], margin = 3): void {
    const n = this.index.n.nodes;
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const s of nodes) {
      [left, right] = [Math.min(left, n.x[s]), Math.max(right, n.x[s])];
      [top, bottom] = [Math.min(top, -n.y[s]), Math.max(bottom, -n.y[s])];
    }
    if (left > right) return;
    const s = this.sigma;
    const { width, height } = s.getDimensions();
    const camera = s.getCamera();
    const now = { cameraState: camera.getState() }; // not that of the frame before
    const a = s.graphToViewport({ x: left - margin, y: top - margin }, now);
    const b = s.graphToViewport({ x: right + margin, y: bottom + margin }, now);
    const factor = Math.max(Math.abs(a.x - b.x) / (width - this.inset - 80), Math.abs(a.y - b.y) / (height - 80));
    const ratio = Math.min(1.8, camera.getState().ratio * factor);
    const aside = (this.inset / 2) * (ratio / camera.getState().ratio); // the middle of what is not covered
    const centre = s.viewportToFramedGraph({ x: (a.x + b.x) / 2 + aside, y: (a.y + b.y) / 2 });
    void camera.animate({ x: centre.x, y: centre.y, ratio }, { duration: still() ? 1 : 300 });
  }

  fit(): void {
    void this.sigma.getCamera().animatedReset({ duration: still() ? 1 : 300 });
  }

  // listen replaces the picking of sigma, which reads back what the graphics processor
  // drew at every move of the pointer, by a look through the coordinates.
  private listen(): void {
    const captor = this.sigma.getMouseCaptor();
    for (const event of ["mousemove", "mousemovebody", "mouseleave", "click", "rightClick"] as const) captor.removeAllListeners(event);
    captor.on("mousemove", (e) => {
      const item = this.under(e.x, e.y);
      this.onHover(item, e.x, e.y);
    });
    captor.on("mouseleave", () => this.onHover(null, 0, 0));
    captor.on("click", (e) => this.onPick(this.under(e.x, e.y)));
  }

  // under is what is at a place of the canvas.
  under(x: number, y: number): Item | null {
    const s = this.sigma;
    const at = s.viewportToGraph({ x, y });
    const right = s.viewportToGraph({ x: x + 1, y });
    const pixel = Math.hypot(right.x - at.x, right.y - at.y); // in units of the map
    let [best, found]: [number, Item | null] = [Infinity, null];
    const scale = 1 / Math.sqrt(s.getCamera().getState().ratio);
    const n = this.index.n.nodes;
    const reach = (this.size * 1.15 * scale + 3) * pixel;
    for (let i = 0; i < this.index.switches; i++) {
      const d = Math.hypot(n.x[i] - at.x, -n.y[i] - at.y);
      if (d < reach && d < best) [best, found] = [d, { kind: "node", node: i }];
    }
    for (const sw of this.unfolded)
      for (const e of this.index.hosts[sw]) {
        const p = this.graph.getNodeAttributes(`e${e}`);
        const d = Math.hypot(p.x - at.x, p.y - at.y);
        if (d < (p.size * scale + 3) * pixel && d < best) [best, found] = [d, { kind: "endpoint", endpoint: e }];
      }
    if (found) return found;
    best = 5 * pixel;
    this.index.pairs.forEach((p, i) => {
      const d = distance(at.x, at.y, n.x[p.a], -n.y[p.a], n.x[p.b], -n.y[p.b], best);
      if (d < best) [best, found] = [d, { kind: "pair", pair: i }];
    });
    return found;
  }
}

// still says that the reader wants nothing to move by itself.
function still(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

// distance is that of a point to a line between two others, or most if it is clearly more.
function distance(x: number, y: number, ax: number, ay: number, bx: number, by: number, most: number): number {
  if (x < Math.min(ax, bx) - most || x > Math.max(ax, bx) + most || y < Math.min(ay, by) - most || y > Math.max(ay, by) + most) return most;
  const [dx, dy] = [bx - ax, by - ay];
  const t = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - ax - t * dx, y - ay - t * dy);
}

function bits(mask: number): number {
  let count = 0;
  for (; mask; mask &= mask - 1) count++;
  return count;
}

function listOf(mask: number): string {
  return Array.from({ length: 16 }, (_, vl) => vl)
    .filter((vl) => mask & (1 << vl))
    .join(", ");
}
