import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { test } from "node:test";

test("the README's example writes, checks, counts and reads a snapshot", async () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const code = /```ts\n([\s\S]*?)```/.exec(readme)?.[1];
  assert.ok(code !== undefined);
  const imports = code.match(/^import .*$/gm) ?? [];
  const source = `${imports.join("\n")}\nexport const run = (console: any) => {${code.replaceAll(/^import .*$/gm, "")}};`.replace(
    '"@talos-operator/etcd-snapshot"',
    JSON.stringify(new URL("./index.ts", import.meta.url).href),
  );
  const module = (await import(`data:text/javascript,${encodeURIComponent(stripTypeScriptTypes(source))}`)) as {
    run: (console: unknown) => void;
  };
  const lines: unknown[] = [];
  module.run({ log: (line: unknown) => lines.push(line) });
  assert.deepEqual(lines, [undefined, 1, "ConfigMap"]);
});
