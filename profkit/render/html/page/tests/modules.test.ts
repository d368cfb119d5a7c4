import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { build } from "esbuild";

test("imports have no cycles, and every module is used", async () => {
  const { metafile: { inputs } } =
    await build({ entryPoints: ["scripts/main.ts"], bundle: true, write: false, metafile: true });
  const done = new Set<string>();
  const visit = (name: string, path: string[]) => {
    assert.ok(!path.includes(name), [...path, name].join(" → "));
    if (done.has(name)) return;
    for (const next of inputs[name].imports) visit(next.path, [...path, name]);
    done.add(name);
  };
  visit("scripts/main.ts", []);
  const names = readdirSync("scripts", { recursive: true, encoding: "utf8" });
  const modules = names.filter((name) => name.endsWith(".ts")).map((name) => `scripts/${name}`);
  assert.ok(modules.length > 30, "the modules are found");
  assert.deepEqual(modules.filter((name) => !done.has(name)), []);
});
