import Graph from "graphology";
import Sigma from "sigma";
import { EdgeArrowProgram, EdgeRectangleProgram } from "sigma/rendering";

import type { Result, TableSet } from "./data.ts";
import type { Index, Path } from "./network.ts";
import { palette, type Palette } from "./palette.ts";
import { schemeOf, type Colouring, type Legend } from "./schemes.ts";

// Item is what is under the pointer.
export type Item = { kind: "node"; node: number } | { kind: "endpoint"; endpoint: number } | { kind: "pair"; pair: number };

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
  private dimensions: { width: number; height: number }; // of what is drawn: sigma forgets them from a change to the next frame
  inset = 0; // pixels at the right that something covers
  private colouring: Colouring = "load";
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
      allowInvalidContainer: true, // a map may be hidden: another fabric is shown, or the page is printed
      minEdgeThickness: thin(index.pairs.length),
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
    this.dimensions = this.sigma.getGraphDimensions();
    this.sigma.on("beforeRender", () => (this.labels = []));
    this.sigma.on("afterRender", () => (this.dimensions = this.sigma.getGraphDimensions()));
    this.listen();
    this.recolour();
  }

  private fill(): void {
    const { n, pairs } = this.index;
    for (let s = 0; s < this.index.switches; s++) {
      const factor = n.nodes.level[s] > 0 ? 1.15 : 1;
      this.graph.addNode(`s${s}`, { x: n.nodes.x[s], y: -n.nodes.y[s], size: this.size * factor, label: this.index.label(s), color: "#888", zIndex: 1 });
    }
    const least = pairs.reduce((m, p) => Math.min(m, p.cables.length), Infinity);
    pairs.forEach((p, i) => {
      const width = thin(pairs.length) * Math.min(4, Math.sqrt(p.cables.length / least)); // area for area, as cables are
      this.graph.addEdgeWithKey(`t${i}`, `s${p.a}`, `s${p.b}`, { size: width, width, color: "#888", zIndex: 0 });
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

  // colour changes what the colours mean. The map shows it at once, below what is drawn over.
  colour(by: Colouring): Legend {
    this.colouring = by;
    this.dimmed = false;
    return this.recolour();
  }

  // recolour gives all parts the colours of the present colouring, pale if something is
  // drawn over them.
  recolour(): Legend {
    this.colours = palette();
    const c = this.colours;
    const { legend, edge, node, host } = schemeOf(this.colouring, { index: this.index, tables: this.tables, results: this.results, colours: c });
    this.graph.updateEachEdgeAttributes(
      (key, a) => {
        const i = Number(key.slice(1));
        switch (key[0]) {
          case "t": {
            const { colour, height, wide } = edge(i);
            a.size = a.width + (wide && !this.dimmed ? 1.4 : 0);
            a.color = this.dimmed ? c.pale : colour;
            a.zIndex = this.dimmed ? 0 : height;
            break;
          }
          case "m":
            a.hidden = this.colouring !== "odd" || this.dimmed;
            a.color = c.warn;
            break;
          case "h":
            a.color = host(i);
            a.size = a.color === c.pale ? 0.7 : 2;
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

  // drawLabel writes a name below its switch, unless it would run into another.
  private drawLabel(context: CanvasRenderingContext2D, node: { x: number; y: number; size: number; label: string | null; forceLabel?: boolean }): void {
    if (this.dimmed && !node.forceLabel) return; // the names of what is drawn over come last, and need the room
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
      for (const node of [a.from, a.to]) this.graph.setNodeAttribute(node, "forceLabel", true);
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
    for (const key of this.graph.filterEdges((k) => k[0] === "o")) {
      for (const node of this.graph.extremities(key)) this.graph.setNodeAttribute(node, "forceLabel", false);
      this.graph.dropEdge(key);
    }
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
    this.sigma.refresh(); // it must know nodes before their colours change
    this.recolour();
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
    const now = { cameraState: camera.getState(), graphDimensions: this.dimensions }; // not that of the frame before
    const a = s.graphToViewport({ x: left - margin, y: top - margin }, now);
    const b = s.graphToViewport({ x: right + margin, y: bottom + margin }, now);
    const factor = Math.max(Math.abs(a.x - b.x) / (width - this.inset - 80), Math.abs(a.y - b.y) / (height - 80));
    const ratio = Math.min(1.8, camera.getState().ratio * factor);
    const aside = (this.inset / 2) * (ratio / camera.getState().ratio); // the middle of what is not covered
    const centre = s.viewportToFramedGraph({ x: (a.x + b.x) / 2 + aside, y: (a.y + b.y) / 2 }, now);
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

// thin is how many pixels wide the thinnest trunk is: less where there are many.
function thin(pairs: number): number {
  return pairs > 4000 ? 0.8 : pairs > 1000 ? 1 : 1.5;
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
