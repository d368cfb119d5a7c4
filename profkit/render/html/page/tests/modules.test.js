import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const SCRIPTS = new URL("../scripts/", import.meta.url);

/** Return the imported paths of each module. */
function importsOf() {
  const names = readdirSync(SCRIPTS, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory()
    ? readdirSync(new URL(`${entry.name}/`, SCRIPTS)).map((name) => `${entry.name}/${name}`) : [entry.name]));
  return new Map(names.filter((name) => name.endsWith(".js")).map((name) => {
    const at = new URL(name, SCRIPTS);
    const found = [...readFileSync(at, "utf8").matchAll(/^(?:import|export) [^;]*? from "(\.[^"]+)";/gm)];
    return [name, found.map(([, path]) => new URL(path, at).href.slice(SCRIPTS.href.length))];
  }));
}

test("imports have no cycles", () => {
  const imports = importsOf();
  assert.ok(imports.size > 30, "the modules are found");
  /** @type {Set<string>} */
  const done = new Set();
  const visit = (/** @type {string} */ name, /** @type {string[]} */ path) => {
    assert.ok(!path.includes(name), [...path, name].join(" → "));
    if (done.has(name)) return;
    assert.ok(imports.has(name), `${path.at(-1)} imports ${name}`);
    for (const next of imports.get(name) ?? []) visit(next, [...path, name]);
    done.add(name);
  };
  visit("main.js", []);
  assert.deepEqual([...imports.keys()].filter((name) => !done.has(name)), [], "every module is used");
});
