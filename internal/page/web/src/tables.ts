import type { TableSet } from "./data.ts";
import { button, el } from "./dom.ts";
import { counted, lanesText, thousands, type Index } from "./network.ts";

type Cell = string | number;

interface Table {
  name: string;
  columns: string[];
  numeric: boolean[];
  rows: () => Cell[][];
  open?: (row: Cell[]) => void; // what a click on a row shows; the last cell says which
}

const page = 200;

// Opening is what rows lead to.
export interface Opening {
  node(node: number): void;
  cable(cable: number): void;
}

// tablesOf is the tables of a network. The last cell of each row is the number of what it
// is about, and is not shown.
function tablesOf(index: Index, t: TableSet | undefined, open: Opening): Table[] {
  const n = index.n;
  const c = n.cables;
  const load = (list: ArrayLike<number> | undefined, i: number) => (list && i < c.between_switches ? list[i] : "");
  const tables: Table[] = [
    {
      name: "Switches",
      columns: ["name", "GUID", "LID", "level", "ports", "free", "switches next to it", "cables to them", "host ports", "routes out of it", "fullest port"],
      numeric: [false, false, true, true, true, true, true, true, true, true, true],
      rows: () =>
        Array.from({ length: index.switches }, (_, s) => {
          const ports = index.portsOf(s);
          const trunks = ports.filter((p) => p.cable < c.between_switches);
          let [sum, most] = [0, 0];
          if (t)
            for (const p of trunks) {
              const routes = (p.back ? t.load.back : t.load.there)[p.cable];
              sum += routes;
              most = Math.max(most, routes);
            }
          return [index.name(s), n.nodes.guid[s], n.nodes.lid[s], n.nodes.level[s], n.nodes.ports[s], n.nodes.ports[s] - ports.length, new Set(trunks.map((p) => p.peer)).size, trunks.length, index.hosts[s].length, t ? sum : "", t ? most : "", s];
        }),
      open: (row) => open.node(row[row.length - 1] as number),
    },
    {
      name: "Cables",
      columns: ["from", "port", "to", "port", "rate", "routes →", "routes ←", "lanes →", "lanes ←", "unusual"],
      numeric: [false, true, false, true, false, true, true, false, false, false],
      rows: () =>
        Array.from({ length: c.a.length }, (_, i) => {
          const trunk = t && i < c.between_switches;
          return [index.name(c.a[i]), n.ethernet && i < c.between_switches ? index.portName(i, false, c.a_port[i]) : c.a_port[i], index.name(c.b[i]), n.ethernet && i < c.between_switches ? index.portName(i, true, c.b_port[i]) : c.b_port[i], n.rates[c.rate[i]], load(t?.load.there, i), load(t?.load.back, i), trunk ? lanesText(t.load.lanes_there[i]) : "", trunk ? lanesText(t.load.lanes_back[i]) : "", c.odd[i] > 0 ? n.odd[c.odd[i] - 1].kind : "", i];
        }),
      open: (row) => open.cable(row[row.length - 1] as number),
    },
    {
      name: "Host ports",
      columns: ["name", "port", "LID", "GUID", "switch", "its port"],
      numeric: [false, true, true, false, false, true],
      rows: () => {
        const e = n.endpoints;
        return Array.from({ length: e.node.length }, (_, i) => [index.name(e.node[i]), e.port[i], e.lid[i], e.guid[i], e.switch[i] >= 0 ? index.name(e.switch[i]) : "", e.switch[i] >= 0 ? e.switch_port[i] : "", e.node[i]]);
      },
      open: (row) => open.node(row[row.length - 1] as number),
    },
  ];
  if (t)
    tables.push({
      name: "Hottest channels",
      columns: ["channel", "routes", "flows at most", "rate"],
      numeric: [false, true, true, false],
      rows: () => t.load.hottest.map((h) => [h.channel, h.routes, h.flows, h.rate, h.cable]),
      open: (row) => open.cable(row[row.length - 1] as number),
    });
  if (n.odd.length > 0)
    tables.push({
      name: "Unusual things",
      columns: ["kind", "what", "where"],
      numeric: [false, false, false],
      rows: () => n.odd.flatMap((o) => o.places.map((p) => [o.kind, o.what, p.text, p.cable >= 0 ? -2 - p.cable : p.a])),
      open: (row) => {
        const at = row[row.length - 1] as number;
        if (at <= -2) open.cable(-2 - at);
        else if (at >= 0) open.node(at);
      },
    });
  return n.ethernet ? tables.map(ofEthernet) : tables;
}

// ofEthernet is a table without what only ports of InfiniBand have.
function ofEthernet(table: Table): Table {
  const kept = table.columns.map((column, i) => (column === "GUID" || column === "LID" ? -1 : i)).filter((i) => i >= 0);
  return {
    ...table,
    columns: kept.map((i) => table.columns[i].replace("lanes", "priorities")),
    numeric: kept.map((i) => table.numeric[i]),
    rows: () => table.rows().map((row) => [...kept.map((i) => row[i]), row[row.length - 1]]),
  };
}

// csv is rows as comma-separated values.
export function csv(columns: string[], rows: Cell[][]): string {
  // What begins like a formula would be one in a spreadsheet.
  const text = (v: Cell) => {
    let s = String(v);
    if (typeof v === "string" && /^[=+\-@\t]/.test(s)) s = "'" + s;
    return /[",\n\r]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s;
  };
  return [columns, ...rows].map((r) => r.map(text).join(",")).join("\r\n") + "\r\n";
}

// showTables fills the tables of a network, one at a time, behind tabs.
export function showTables(panel: HTMLElement, index: Index, t: TableSet | undefined, open: Opening): void {
  const [tabs, tools, scroll] = [".tabs", ".table-tools", ".scroll"].map((s) => panel.querySelector<HTMLElement>(s)!);
  const tables = tablesOf(index, t, open);
  const show = (k: number) => {
    const table = tables[k];
    const all = table.rows();
    let shown = all;
    let limit = page;
    let [by, down] = [-1, false];
    [...tabs.children].forEach((b, i) => {
      b.setAttribute("aria-selected", String(i === k));
      b.setAttribute("tabindex", i === k ? "0" : "-1"); // one stop for Tab; arrows go from one to the next
    });
    scroll.setAttribute("aria-label", table.name);
    const search = el("input", { type: "search", placeholder: "Search in this table", "aria-label": `Search in ${table.name}` });
    const status = el("span", { role: "status" });
    const body = el("tbody");
    const rest = button("Show more", () => {
      limit *= 5;
      draw();
    }, { class: "more-rows" });
    const heads = table.columns.map((name, i) => {
      const th = el("th", { scope: "col", ...(table.numeric[i] ? { class: "num" } : {}) }, button(name, () => {
        if (by === i) down = !down;
        else [by, down] = [i, table.numeric[i]];
        heads.forEach((h, x) => (x === by ? h.setAttribute("aria-sort", down ? "descending" : "ascending") : h.removeAttribute("aria-sort")));
        draw();
      }));
      return th;
    });
    const draw = () => {
      const want = search.value.trim().toLowerCase();
      shown = want === "" ? all.slice() : all.filter((r) => r.slice(0, -1).some((v) => String(v).toLowerCase().includes(want)));
      if (by >= 0) shown.sort((a, b) => order(a[by], b[by]) * (down ? -1 : 1));
      status.textContent = shown.length === all.length ? counted(all.length, "row", "rows") : `${thousands(shown.length)} of ${counted(all.length, "row", "rows")}`;
      body.replaceChildren(
        ...shown.slice(0, limit).map((r) => {
          const cells = r.slice(0, -1).map((v, i) => {
            const text = typeof v === "number" && /^(routes|fullest|flows)/.test(table.columns[i]) ? thousands(v) : String(v);
            return el("td", table.numeric[i] ? { class: "num" } : table.columns[i] === "GUID" ? { class: "guid" } : {}, i === 0 && table.open ? button(text, () => table.open!(r), { class: "link" }) : text);
          });
          return el("tr", {}, ...cells);
        }),
      );
      rest.hidden = shown.length <= limit;
    };
    search.addEventListener("input", draw);
    const save = button("Save as CSV", () => {
      const url = URL.createObjectURL(new Blob([csv(table.columns, shown.map((r) => r.slice(0, -1)))], { type: "text/csv" }));
      const a = el("a", { href: url, download: `${index.n.name.replace(/[^\w.-]+/g, "-")}-${table.name.toLowerCase().replace(/ /g, "-")}.csv` });
      a.click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    });
    tools.replaceChildren(search, status, save);
    scroll.replaceChildren(el("table", { class: "data" }, el("thead", {}, el("tr", {}, ...heads)), body), rest);
    draw();
  };
  scroll.id = `table-${count++}`;
  tabs.replaceChildren(...tables.map((table, k) => button(table.name, () => show(k), { role: "tab", "aria-selected": "false", "aria-controls": scroll.id })));
  tabs.onkeydown = (e) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    const at = [...tabs.children].indexOf(e.target as Element);
    if (!step || at < 0) return;
    const next = (at + step + tables.length) % tables.length;
    show(next);
    (tabs.children[next] as HTMLElement).focus();
    e.preventDefault();
  };
  show(0);
}

let count = 0;

const collator = new Intl.Collator("en", { numeric: true });

function order(a: Cell, b: Cell): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return collator.compare(String(a), String(b));
}
