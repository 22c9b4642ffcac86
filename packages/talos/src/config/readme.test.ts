import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { test } from "node:test";
import { createX509Keys, systemClock, systemRandom } from "@talos-operator/adapters";

test("the README's example of configs runs and says what it made", async () => {
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  const code = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)]
    .map((match) => match[1])
    .find((text) => text?.includes("generateMachineConfig"));
  assert.ok(code !== undefined);
  const imports = code.match(/^import .*$/gm) ?? [];
  const body = code.replaceAll(/^import .*$/gm, "");
  const source = `${imports.join("\n")}\nexport const run = async ({ clock, random, keys, console }: any) => {${body}};`.replace(
    '"@talos-operator/talos"',
    JSON.stringify(new URL("../index.ts", import.meta.url).href),
  );
  const module = (await import(`data:text/javascript,${encodeURIComponent(stripTypeScriptTypes(source))}`)) as {
    run: (input: unknown) => Promise<void>;
  };
  const lines: string[] = [];
  await module.run({
    clock: systemClock,
    random: systemRandom,
    keys: createX509Keys(),
    console: { log: (line: string) => lines.push(line) },
  });
  assert.deepEqual(lines, ["controlplane of alpha, 2 documents"]);
});
