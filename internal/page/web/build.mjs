// Bundles the program of the page into dist/report.js, or into another folder, and collects
// the licences of what is in it. The same sources and versions give the same bytes.
import { build } from "esbuild";
import { readFile, readdir, writeFile } from "node:fs/promises";

const folder = process.argv[2] ?? "dist";
const result = await build({
  entryPoints: ["src/main.ts"],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "ascii", // a page may be read with any encoding
  legalComments: "none",
  outfile: `${folder}/report.js`,
  metafile: true,
});

const packages = new Set();
for (const input of Object.keys(result.metafile.inputs)) {
  const match = input.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//);
  if (match) packages.add(match[1]);
}
let text = "The program of report pages contains these packages:\n";
for (const name of [...packages].sort()) {
  const dir = `node_modules/${name}`;
  const about = JSON.parse(await readFile(`${dir}/package.json`, "utf8"));
  const file = (await readdir(dir)).find((f) => /^licen[cs]e/i.test(f));
  text += `\n${name} ${about.version}, ${about.license}\n`;
  if (file) text += `\n${(await readFile(`${dir}/${file}`, "utf8")).trim()}\n`;
}
await writeFile(`${folder}/licenses.txt`, text);
