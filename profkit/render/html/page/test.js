/* Runner of the tests, which it bundles first: Node 18 runs no TypeScript. `node test.js` */

import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

process.chdir(fileURLToPath(new URL(".", import.meta.url)));
rmSync("build", { recursive: true, force: true });
const tests = readdirSync("tests").filter((name) => name.endsWith(".test.ts"));
await build({
  entryPoints: tests.map((name) => `tests/${name}`),
  outdir: "build",
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  packages: "external",
  sourcemap: "inline",
  logLevel: "warning",
});
const files = readdirSync("build").map((name) => `build/${name}`);
const options = ["--enable-source-maps", "--test", ...files];
const { status } = spawnSync(process.execPath, options, { stdio: "inherit" });
process.exit(status ?? 1);
