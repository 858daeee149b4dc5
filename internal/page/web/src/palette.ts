// Colours, from the style of the page, so that they follow light and dark.

export interface Palette {
  load: string[];
  level: string[];
  text: string;
  dim: string;
  panel: string;
  accent: string;
  good: string;
  bad: string;
  warn: string;
  host: string;
  pale: string;
}

// Lanes, rates and tiers have no order: colours that differ.
export const distinct = ["#3b7dd8", "#e0852b", "#2f9a6a", "#b455a6", "#c9404a", "#8a7a2e", "#3aa6b9", "#7a5cc8", "#5f8f2f", "#d1618f", "#6b7684", "#a5622a", "#2e6f8e", "#9c3f63", "#4d7f5e"];

export function palette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue("--" + name).trim();
  const list = (name: string) => Array.from({ length: 8 }, (_, i) => of(`${name}-${i}`));
  const dark = luminance(of("panel")) < 0.5;
  return {
    load: list("load"), level: list("level"), text: of("text"), dim: of("dim"), panel: of("panel"), accent: of("accent"),
    good: of("good"), bad: of("bad"), warn: of("warn"), host: of("host"), pale: dark ? "#232d39" : "#e6ebf0",
  };
}

function luminance(hex: string): number {
  const n = parseInt(hex.replace("#", "").slice(0, 6), 16);
  return (0.299 * ((n >> 16) & 255) + 0.587 * ((n >> 8) & 255) + 0.114 * (n & 255)) / 255;
}
