// Building elements. All text goes in as text: names of nodes are whatever hosts say.

type Child = Node | string | null | undefined | false;

export function el<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Record<string, string> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  for (const c of children) if (c) e.append(c);
  return e;
}

export function button(text: string, press: () => void, attributes: Record<string, string> = {}): HTMLButtonElement {
  const b = el("button", { type: "button", ...attributes }, text);
  b.addEventListener("click", press);
  return b;
}

export function find<T extends HTMLElement>(within: ParentNode, selector: string): T {
  const e = within.querySelector<T>(selector);
  if (!e) throw new Error(`the page has no ${selector}`);
  return e;
}
