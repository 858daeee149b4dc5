import { unpack, type Data, type TableSet } from "./data.ts";
import { adapterDetails, noPathDetails, pairDetails, pathDetails, switchDetails, type Actions } from "./details.ts";
import { el, find } from "./dom.ts";
import { Map, type Item } from "./map.ts";
import { counted, Index, lanesText, thousands } from "./network.ts";
import type { Colouring, Legend } from "./schemes.ts";
import { suggest } from "./search.ts";
import { showTables } from "./tables.ts";

// View is a network of the page at work.
class View {
  readonly index: Index;
  map: Map | null = null;
  private readonly panel: HTMLElement;
  private readonly details: HTMLElement;
  private readonly hover: HTMLElement;
  private tables: TableSet | undefined;
  private started = false;
  private shown: "" | "path" | "parts" = ""; // what the details are about
  private ends: { from: number; to: number } = { from: -1, to: -1 }; // nodes
  private fill: { from: (node: number) => void; to: (node: number) => void } | null = null; // of the fields of a path

  constructor(
    private readonly data: Data,
    private readonly number: number,
    readonly section: HTMLElement,
  ) {
    this.index = new Index(data.networks[number]);
    this.panel = find(section, ".map");
    this.details = find(this.panel, ".details");
    this.hover = find(this.panel, ".hover");
    this.tables = this.index.n.tables[0];
    for (const b of section.querySelectorAll<HTMLElement>("[data-show-set]")) b.addEventListener("click", () => this.use(Number(b.dataset.showSet)));
    this.use(0);
  }

  // start makes the map, once the network is shown.
  start(): void {
    if (this.started) return this.recolour(); // it may have been hidden while colours or the window changed
    this.started = true;
    const canvas = find<HTMLElement>(this.panel, ".canvas");
    canvas.hidden = false;
    try {
      this.map = new Map(this.index, this.tables, this.data.results, canvas);
      this.panel.classList.add("has-map");
    } catch {
      canvas.hidden = true; // no WebGL: the drawing stays, with its own legend
      canvas.replaceChildren();
      this.panel.classList.add("no-map");
    }
    this.listen(canvas);
    this.colour("load");
    if (this.tables && this.tables.cycle.length > 0) this.map?.showLoop(); // the whole map first, with the loop on it
  }

  private use(k: number): void {
    this.tables = this.index.n.tables[k];
    for (const s of this.section.querySelectorAll<HTMLElement>("[data-set]")) s.classList.toggle("shown", Number(s.dataset.set) === k);
    for (const b of this.section.querySelectorAll<HTMLElement>("[data-show-set]")) b.setAttribute("aria-pressed", String(Number(b.dataset.showSet) === k));
    this.map?.use(this.tables);
    const tabs = this.section.querySelector<HTMLElement>("[data-tables]");
    if (tabs) showTables(tabs.parentElement!, this.index, this.tables, { node: (node) => this.showNode(node, true), cable: (cable) => this.showCable(cable) });
    find<HTMLElement>(this.panel, "[data-loop]").hidden = !this.tables || this.tables.cycle.length === 0;
    this.close();
    this.recolour();
    if (this.ends.from >= 0 && this.ends.to >= 0) this.path();
  }

  private listen(canvas: HTMLElement): void {
    const select = find<HTMLSelectElement>(this.panel, "[data-colour]");
    if (this.index.n.difference) select.append(el("option", { value: "difference" }, "by entries that differ"));
    this.data.results.forEach((r, i) => {
      if (!r.marks || r.network !== this.number) return;
      select.append(el("option", { value: `result-${i}` }, "by change: " + r.title));
      if (r.marks.steps.length > 1) r.marks.steps.forEach((_, k) => select.append(el("option", { value: `result-${i}-${k}` }, `step ${k + 1} of: ${r.title}`)));
    });
    select.addEventListener("change", () => this.colour(select.value as Colouring));
    suggest(find(this.panel, "[data-search]"), this.index, "all", (node) => this.showNode(node, true));
    this.fill = {
      from: suggest(find(this.panel, "[data-from]"), this.index, "endpoints", (node) => this.setEnd("from", node)),
      to: suggest(find(this.panel, "[data-to]"), this.index, "endpoints", (node) => this.setEnd("to", node)),
    };
    this.panel.addEventListener("keydown", (e) => {
      if (e.key === "Escape" && !e.defaultPrevented) this.close();
    });
    find(this.panel, "[data-loop]").addEventListener("click", () => this.loop());
    find(this.panel, "[data-clear]").addEventListener("click", () => this.clear());
    find(this.panel, "[data-fit]").addEventListener("click", () => this.map?.fit());
    if (!this.map) return;
    this.map.onPick = (item) => this.pick(item);
    this.map.onHover = (item, x, y) => this.point(item, x, y);
    canvas.addEventListener("keydown", (e) => this.key(e));
  }

  private key(e: KeyboardEvent): void {
    if (!this.map || e.ctrlKey || e.metaKey || e.altKey) return;
    const camera = this.map.sigma.getCamera();
    const { x, y, ratio } = camera.getState();
    const step = 0.12 * ratio;
    const to = {
      ArrowLeft: { x: x - step }, ArrowRight: { x: x + step }, ArrowUp: { y: y + step }, ArrowDown: { y: y - step },
      "+": { ratio: ratio / 1.4 }, "=": { ratio: ratio / 1.4 }, "-": { ratio: ratio * 1.4 }, "0": { x: 0.5, y: 0.5, ratio: 1 },
    }[e.key];
    if (e.key === "Escape") this.clear();
    else if (to) camera.setState(to);
    else return;
    e.preventDefault();
  }

  // recolour follows the colours of the page. A view that is hidden does so when it is shown.
  recolour(): void {
    if (this.map && this.section.classList.contains("shown")) this.legend(this.map.recolour());
  }

  private colour(by: Colouring): void {
    if (!this.map) return;
    if (/^(result|difference)/.test(by)) this.map.clear(); // a loop drawn in red would look like what is gone
    this.legend(this.map.colour(by));
  }

  private legend(l: Legend): void {
    const items = l.items.map((i) => el("li", {}, el("i", { style: `background:${i.colour}`, ...(i.round ? { class: "round" } : {}) }), i.text));
    const ramp = l.ramp && [el("span", { class: "ends" }, l.ramp.from, el("span", { class: "ramp" }, ...l.ramp.colours.map((c) => el("i", { style: `background:${c}` }))), thousandsIn(l.ramp.to))];
    find(this.panel, ".legend").replaceChildren(el("b", {}, l.title), ...(ramp ?? []), el("ul", {}, ...items));
  }

  private pick(item: Item | null): void {
    if (!item) this.close();
    else if (item.kind === "pair") this.showPair(item.pair);
    else if (item.kind === "endpoint") this.showNode(this.index.n.endpoints.node[item.endpoint], false);
    else {
      const s = item.node;
      if (this.index.hosts[s].length > 0) this.map?.unfold(s);
      this.showNode(s, false);
    }
  }

  // point says what the pointer is on.
  private point(item: Item | null, x: number, y: number): void {
    this.hover.hidden = !item;
    find(this.panel, ".canvas").style.cursor = item ? "pointer" : "";
    if (!item) return;
    this.hover.replaceChildren(...this.brief(item));
    const stage = this.hover.parentElement!.getBoundingClientRect();
    this.hover.style.left = `${Math.min(x + 14, stage.width - this.hover.offsetWidth - 8)}px`;
    this.hover.style.top = `${Math.min(y + 14, stage.height - this.hover.offsetHeight - 8)}px`;
  }

  private brief(item: Item): (Node | string)[] {
    const { n } = this.index;
    const t = this.tables;
    if (item.kind === "endpoint") return [this.index.endpointName(item.endpoint), el("span", {}, n.ethernet ? "" : `LID ${n.endpoints.lid[item.endpoint]}`)];
    if (item.kind === "node") {
      const s = item.node;
      const free = n.nodes.ports[s] - this.index.portsOf(s).length;
      return [this.index.name(s), el("span", {}, `${counted(this.index.hosts[s].length, "host port", "host ports")}, ${free} free`)];
    }
    const p = this.index.pairs[item.pair];
    const lines = [`${p.cables.length === 1 ? "one cable" : `${p.cables.length} cables`}, ${this.index.rates(p)}`];
    if (t) lines.push(`at most ${counted(this.index.load(t, p), "route", "routes")}; ${this.index.laneName} ${lanesText(this.index.lanes(t, p))}`);
    return [`${this.index.label(p.a)} – ${this.index.label(p.b)}`, ...lines.map((l) => el("span", {}, l))];
  }

  private readonly actions: Actions = {
    showNode: (node) => this.showNode(node, true),
    showPair: (pair) => this.showPair(pair),
    from: (node) => this.setEnd("from", node),
    to: (node) => this.setEnd("to", node),
    unfold: (s) => {
      this.map?.unfold(s);
      this.showNode(s, false);
    },
    canUnfold: () => this.map !== null,
    isUnfolded: (s) => this.map?.isUnfolded(s) ?? false,
    close: () => this.close(),
  };

  private open(content: Node[], shown: "path" | "parts" = "parts"): void {
    this.shown = shown;
    this.details.hidden = false;
    if (this.map) this.map.inset = this.panel.clientWidth > 900 ? this.details.offsetWidth + 12 : 0;
    this.details.scrollTop = 0;
    this.details.replaceChildren(...content);
  }

  private close(): void {
    this.shown = "";
    this.details.hidden = true;
    if (this.map) this.map.inset = 0;
  }

  private clear(): void {
    this.map?.clear();
    this.close();
    this.ends = { from: -1, to: -1 };
    this.fill?.from(-1);
    this.fill?.to(-1);
    find<HTMLInputElement>(this.panel, "[data-search]").value = "";
  }

  private showNode(node: number, move: boolean): void {
    if (node >= this.index.switches) {
      this.open(adapterDetails(this.index, node, this.actions));
      const s = this.index.endpointsOf(node).map((e) => this.index.n.endpoints.switch[e]).find((x) => x >= 0);
      if (move && s !== undefined && this.map) {
        if (!this.map.isUnfolded(s)) this.map.unfold(s);
        else this.map.show([s], 1.6);
      }
    } else {
      this.open(switchDetails(this.index, this.tables, node, this.actions));
      if (move) this.map?.show([node]);
    }
    if (move) this.panel.scrollIntoView({ block: "nearest" });
  }

  private showPair(pair: number): void {
    this.open(pairDetails(this.index, this.tables, pair, this.actions));
  }

  private showCable(cable: number): void {
    if (cable >= this.index.n.cables.between_switches) return this.showNode(Math.max(this.index.n.cables.a[cable], this.index.n.cables.b[cable]), true);
    const pair = this.index.pairOf[cable];
    this.showPair(pair);
    this.map?.show([this.index.pairs[pair].a, this.index.pairs[pair].b]);
    this.panel.scrollIntoView({ block: "nearest" });
  }

  private loop(): void {
    this.map?.showLoop();
    const c = this.index.n.cables;
    this.map?.show(this.tables!.cycle.flatMap((s) => [c.a[s.cable], c.b[s.cable]]));
  }

  private setEnd(which: "from" | "to", node: number): void {
    this.ends[which] = node;
    if (node >= 0) this.fill?.[which](node);
    this.path();
  }

  // path shows the path between the two ends, or none as long as one is missing.
  private path(): void {
    const t = this.tables;
    if (this.shown === "path") {
      this.map?.clear();
      this.close();
    }
    if (this.ends.from < 0 || this.ends.to < 0 || !t) return;
    const first = (node: number, not: number) => (node < this.index.switches ? this.index.hosts[node] : this.index.endpointsOf(node)).find((e) => e !== not && this.index.n.endpoints.switch[e] >= 0);
    const src = first(this.ends.from, -1);
    const dst = src === undefined ? undefined : first(this.ends.to, src);
    if (src === undefined || dst === undefined) {
      this.open(noPathDetails(this.index, this.ends.from, this.ends.to, this.actions), "path");
      return;
    }
    const path = this.index.path(t, src, dst);
    this.open(pathDetails(this.index, t, src, dst, path, this.actions), "path");
    this.map?.showPath(path);
  }
}

function thousandsIn(text: string): string {
  return /^\d+$/.test(text) ? thousands(Number(text)) : text;
}

async function main(): Promise<void> {
  const data = await unpack(find(document, "#packed").textContent ?? "");
  document.documentElement.classList.add("scripted");
  const views = [...document.querySelectorAll<HTMLElement>("[data-network]")].map((s) => new View(data, Number(s.dataset.network), s));
  const links = [...document.querySelectorAll<HTMLElement>("[data-show-network]")];
  const show = (k: number) => {
    views.forEach((v, i) => v.section.classList.toggle("shown", i === k));
    links.forEach((l, i) => l.setAttribute("aria-current", String(i === k)));
    views[k]?.start();
  };
  links.forEach((l, i) => l.addEventListener("click", (e) => (e.preventDefault(), show(i))));
  show(0);
  theme(() => views.forEach((v) => v.recolour()));
  document.addEventListener("keydown", (e) => {
    if (e.key !== "/" || e.target instanceof HTMLInputElement) return;
    document.querySelector<HTMLInputElement>(".network.shown [data-search]")?.focus();
    e.preventDefault();
  });
  Object.assign(globalThis, { weftReport: { views } }); // for tests, and for whoever opens the console
  document.documentElement.dataset.ready = "true";
}

// theme lets the button change light and dark, and remembers it where that is allowed.
function theme(changed: () => void): void {
  const root = document.documentElement;
  const set = (name: string) => {
    root.dataset.theme = name;
    changed();
    try {
      localStorage.setItem("weft-theme", name);
    } catch {
      // a page from disk may not be allowed to
    }
  };
  try {
    const kept = localStorage.getItem("weft-theme");
    if (kept === "light" || kept === "dark") set(kept);
  } catch {
    // as above
  }
  find(document, ".theme").addEventListener("click", () => {
    const now = root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    set(now === "dark" ? "light" : "dark");
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  let before: string | undefined; // paper is light
  addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    root.dataset.theme = "light";
    changed();
  });
  addEventListener("afterprint", () => {
    if (before === undefined) delete root.dataset.theme;
    else root.dataset.theme = before;
    changed();
  });
}

void main();
