import { el } from "./dom.ts";
import type { Index } from "./network.ts";

// suggest lists the nodes that fit what is typed into a field, below it. pick gets the one
// that is chosen, and -1 once the field names none any more. The function that is returned
// fills the field with a node that was chosen elsewhere; -1 empties it.
export function suggest(input: HTMLInputElement, index: Index, only: "all" | "endpoints", pick: (node: number) => void): (node: number) => void {
  const list = el("ul", { class: "suggestions", role: "listbox", hidden: "" });
  const id = `suggestions-${count++}`;
  list.id = id;
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-controls", id);
  input.setAttribute("aria-expanded", "false");
  (input.closest(".field") ?? input.parentElement)?.append(list);
  let found: number[] = [];
  let at = -1;
  let chosen = -1;

  const fill = (node: number) => {
    chosen = node;
    input.value = node < 0 ? "" : index.name(node);
    input.removeAttribute("aria-invalid");
  };
  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
  };
  const choose = (i: number) => {
    if (i < 0 || i >= found.length) return;
    fill(found[i]);
    close();
    pick(found[i]);
  };
  const mark = (i: number) => {
    at = i;
    [...list.children].forEach((li, k) => li.setAttribute("aria-selected", String(k === i)));
    list.children[i]?.scrollIntoView({ block: "nearest" });
  };
  input.addEventListener("input", () => {
    input.removeAttribute("aria-invalid");
    found = index.find(input.value, only === "endpoints" ? Infinity : 12);
    if (only === "endpoints") found = found.filter((node) => node >= index.switches || index.hosts[node].length > 0).slice(0, 12);
    list.replaceChildren(
      ...found.map((node, i) => {
        const li = el("li", { role: "option" }, index.name(node), el("span", {}, about(index, node)));
        li.addEventListener("mousedown", (e) => {
          e.preventDefault();
          choose(i);
        });
        return li;
      }),
    );
    if (found.length === 0 && input.value.trim() !== "") list.replaceChildren(el("li", {}, el("span", {}, "nothing is called that")));
    list.hidden = input.value.trim() === "";
    input.setAttribute("aria-expanded", String(!list.hidden));
    mark(0);
  });
  input.addEventListener("keydown", (e) => {
    if (e.key === "ArrowDown") mark(Math.min(found.length - 1, at + 1));
    else if (e.key === "ArrowUp") mark(Math.max(0, at - 1));
    else if (e.key === "Enter") choose(Math.max(0, at));
    else if (e.key === "Escape" && !list.hidden) close();
    else return;
    e.preventDefault();
  });
  // What is left in a field without a choice counts if it is the name of a node; else the
  // field names none.
  input.addEventListener("blur", () => {
    close();
    if (only === "all" || (chosen >= 0 && input.value === index.name(chosen)) || (chosen < 0 && input.value.trim() === "")) return;
    const text = input.value.trim().toLowerCase();
    const named = found.findIndex((node) => index.name(node).toLowerCase() === text || index.label(node).toLowerCase() === text);
    if (text !== "" && named >= 0) return choose(named);
    chosen = -1;
    if (text !== "") input.setAttribute("aria-invalid", "true");
    pick(-1);
  });
  return fill;
}

let count = 0;

function about(index: Index, node: number): string {
  const e = index.n.endpoints;
  if (node < index.switches) return index.n.nodes.lid[node] > 0 ? `switch, LID ${index.n.nodes.lid[node]}` : "switch";
  const i = Array.prototype.indexOf.call(e.node, node);
  return i < 0 ? "no cable" : e.lid[i] > 0 ? `LID ${e.lid[i]}, ${e.guid[i]}` : "host";
}
