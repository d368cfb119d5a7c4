/* Bundler of the scripts: `node build.js [FILE]` writes ../page.js, which profkit ships, or FILE. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const path = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));

checkNode();
const { build } = await import("esbuild");
await build({
  entryPoints: [path("scripts/main.ts")],
  outfile: process.argv[2] ?? path("../page.js"),
  bundle: true,
  format: "iife",
  globalName: "profkit",
  charset: "utf8",
  target: ["chrome120", "firefox121", "safari17.4"],
  // Keep names for readable errors, and short lines for readable diffs.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 110,
  logLevel: "warning",
});

/** Exit with instructions if this Node is older than package.json allows. */
function checkNode() {
  const wanted = JSON.parse(readFileSync(path("package.json"), "utf8")).engines.node.replace(">=", "");
  const [least, own] = [wanted, process.versions.node].map((version) => version.split(".").map(Number));
  if (own[0] > least[0] || (own[0] === least[0] && own[1] >= least[1])) return;
  console.error(`Node ${process.versions.node} is too old: install Node ${wanted} or later.`);
  process.exit(1);
}
