import type { TableSet } from "./data.ts";
import { button, el } from "./dom.ts";
import { counted, lanesText, thousands, type Index, type Path } from "./network.ts";

// Actions is what the details ask of the page.
export interface Actions {
  showNode(node: number): void;
  showPair(pair: number): void;
  from(node: number): void;
  to(node: number): void;
  unfold(s: number): void;
  isUnfolded(s: number): boolean;
  canUnfold(): boolean; // there is a map to do so
  close(): void;
}

const classes = ["host adapter", "aggregation node", "router"];

function head(text: string, sub: string, actions: Actions): Node[] {
  return [button("×", () => actions.close(), { class: "close", "aria-label": "Close" }), el("h3", {}, text), el("p", { class: "sub" }, sub)];
}

function ends(node: number, actions: Actions): Node[] {
  return [button("Path from here", () => actions.from(node)), button("Path to here", () => actions.to(node))];
}

// switchDetails is the ports of a switch: where they lead, at which rate and load.
export function switchDetails(index: Index, t: TableSet | undefined, s: number, actions: Actions): Node[] {
  const n = index.n;
  const level = n.nodes.level[s];
  const about = [`${n.nodes.guid[s]}`, n.nodes.lid[s] > 0 ? `LID ${n.nodes.lid[s]}` : "", level >= 0 ? `level ${level}` : "", `${counted(n.nodes.ports[s], "port", "ports")}, ${n.nodes.ports[s] - index.portsOf(s).length} free`].filter(Boolean);
  const hosts = index.hosts[s];
  const rows = index.portsOf(s).map((p) => {
    const trunk = p.cable < n.cables.between_switches;
    const [out, back] = [t && trunk ? (p.back ? t.load.back : t.load.there)[p.cable] : null, t && trunk ? (p.back ? t.load.there : t.load.back)[p.cable] : null];
    const lanes = t && trunk ? lanesText((p.back ? t.load.lanes_back : t.load.lanes_there)[p.cable]) : "";
    return el(
      "tr",
      {},
      el("td", { class: n.ethernet ? "" : "num" }, index.portName(p.cable, p.back, p.port)),
      el("td", {}, button(index.label(p.peer), () => actions.showNode(p.peer), { class: "link", title: index.name(p.peer) }), ` : ${index.portName(p.cable, !p.back, p.peerPort)}`),
      el("td", { class: "rate" }, n.rates[n.cables.rate[p.cable]]),
      el("td", { class: "num" }, out === null ? "" : thousands(out)),
      el("td", { class: "num" }, back === null ? "" : thousands(back)),
      el("td", {}, lanes),
    );
  });
  const heads = ["port", "to", "rate", "out", "in", index.laneName].map((h, i) => el("th", [0, 3, 4].includes(i) ? { class: "num" } : {}, h));
  return [
    ...head(index.name(s), about.join(" · "), actions),
    el("div", { class: "do" }, hosts.length > 0 && actions.canUnfold() && button(actions.isUnfolded(s) ? "Fold hosts" : `Unfold ${counted(hosts.length, "host port", "host ports")}`, () => actions.unfold(s)), ...(hosts.length > 0 ? ends(s, actions) : [])),
    el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows)),
  ];
}

export function adapterDetails(index: Index, node: number, actions: Actions): Node[] {
  const e = index.n.endpoints;
  const rows = index.endpointsOf(node).map((i) =>
    el(
      "tr",
      {},
      el("td", { class: "num" }, String(e.port[i])),
      el("td", { class: "num" }, e.lmc[i] > 0 ? `${e.lid[i]} to ${e.lid[i] + (1 << e.lmc[i]) - 1}` : String(e.lid[i])),
      el("td", {}, e.switch[i] >= 0 ? button(index.label(e.switch[i]), () => actions.showNode(e.switch[i]), { class: "link" }) : "no switch", e.switch[i] >= 0 ? ` : ${e.switch_port[i]}` : ""),
      el("td", {}, classes[e.class[i]] ?? ""),
    ),
  );
  const heads = ["port", "LID", "cabled to", "what"].map((h, i) => el("th", i < 2 ? { class: "num" } : {}, h));
  return [
    ...head(index.name(node), index.n.nodes.guid[node], actions),
    el("div", { class: "do" }, ...ends(node, actions)),
    el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows)),
  ];
}

// pairDetails is the cables between two switches.
export function pairDetails(index: Index, t: TableSet | undefined, pair: number, actions: Actions): Node[] {
  const p = index.pairs[pair];
  const c = index.n.cables;
  const rows = p.cables.map((i) => {
    const turned = c.a[i] !== p.a;
    const load = (back: boolean) => (t ? thousands((back ? t.load.back : t.load.there)[i]) : "");
    const odd = c.odd[i] > 0 ? index.n.odd[c.odd[i] - 1].kind : "";
    return el(
      "tr",
      {},
      el("td", {}, `${index.portName(i, turned, turned ? c.b_port[i] : c.a_port[i])} – ${index.portName(i, !turned, turned ? c.a_port[i] : c.b_port[i])}`),
      el("td", { class: "rate" }, index.n.rates[c.rate[i]], odd && el("span", { class: "kind" }, odd)),
      el("td", { class: "num" }, load(turned)),
      el("td", { class: "num" }, load(!turned)),
      el("td", {}, t ? lanesText(t.load.lanes_there[i] | t.load.lanes_back[i]) : ""),
    );
  });
  const heads = ["ports", "rate", "→", "←", index.laneName].map((h, i) => el("th", i === 2 || i === 3 ? { class: "num" } : {}, h));
  const name = (s: number) => button(index.name(s), () => actions.showNode(s), { class: "link" });
  return [
    button("×", () => actions.close(), { class: "close", "aria-label": "Close" }),
    el("h3", {}, p.cables.length === 1 ? "One cable" : `${p.cables.length} parallel cables`),
    el("p", { class: "sub" }, name(p.a), " → ", name(p.b)),
    el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows)),
  ];
}

const ended = {
  arrives: "",
  ends: "The entries end here: packets are dropped or delivered elsewhere.",
  circles: "The entries lead round in a circle: packets never arrive.",
  "not to be used": "The source must not use this LID.",
  "no tables": "The page has no entries to this destination.",
};

// noPathDetails says why no path is asked for.
export function noPathDetails(index: Index, from: number, to: number, actions: Actions): Node[] {
  const why = from === to ? "Source and destination are the same port." : "One of them has no cable to a switch.";
  return [...head("No path", `${index.name(from)} → ${index.name(to)}`, actions), el("p", {}, why)];
}

// waysDetails is the next hops of each switch on the ways of ECMP.
function waysDetails(index: Index, t: TableSet, src: number, dst: number, path: Path, actions: Actions): Node[] {
  const nodes = [...new Set(path.hops.map((h) => h.node))];
  const items = nodes.map((node) => {
    const hops = path.hops.filter((h) => h.node === node);
    const loads = hops.map((h) => (h.back ? t.load.back : t.load.there)[h.cable]);
    const to = hops.length <= 4 ? hops.map((h) => index.portName(h.cable, h.back, h.out)).join(", ") : counted(hops.length, "next hop", "next hops");
    return el("li", {}, button(index.name(node), () => actions.showNode(node), { class: "link" }), el("span", { class: "by" }, `by ${to}; at most ${counted(Math.max(...loads), "route", "routes")}`));
  });
  return [
    ...head(Number.isNaN(path.ways) || path.end !== "arrives" ? "Not every choice arrives" : counted(path.ways!, "way", "ways"), `${index.endpointName(src)} → ${index.endpointName(dst)}`, actions),
    ...(ended[path.end] ? [el("p", {}, ended[path.end])] : []),
    el("ol", { class: "hops" }, ...items),
  ];
}

export function pathDetails(index: Index, t: TableSet, src: number, dst: number, path: Path, actions: Actions): Node[] {
  if (path.ways !== undefined) return waysDetails(index, t, src, dst, path, actions);
  const trunks = path.hops.filter((h) => h.cable >= 0).length;
  const items = path.hops.map((h) => {
    const out = h.cable < 0 ? (path.end === "arrives" ? `out by port ${h.out}, to the destination` : "") : `out by port ${h.out}, ${counted((h.back ? t.load.back : t.load.there)[h.cable], "route", "routes")}, ${index.n.rates[index.n.cables.rate[h.cable]]} `;
    return el(
      "li",
      {},
      button(index.name(h.node), () => actions.showNode(h.node), { class: "link" }),
      el("span", { class: "by" }, `in by port ${h.in}; `, out, h.vl >= 0 && el("span", { class: "lane-tag" }, h.vl === 15 ? "VL 15: dropped" : `VL ${h.vl}`)),
    );
  });
  return [
    button("×", () => actions.close(), { class: "close", "aria-label": "Close" }),
    el("h3", {}, path.end === "arrives" ? `${trunks} ${trunks === 1 ? "hop" : "hops"} between switches, SL ${path.sl}` : "No path"),
    el("p", { class: "sub" }, `${index.endpointName(src)} → ${index.endpointName(dst)}, LID ${path.lid}`),
    ...(path.instead ? [el("p", { class: "sub" }, "The page does not hold the tables whole; this is the path to another host of the same switch.")] : []),
    ...(ended[path.end] ? [el("p", {}, ended[path.end])] : []),
    el("ol", { class: "hops" }, ...items),
  ];
}
