import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { test } from "node:test";

import { serve } from "./adapters/testing/harness.ts";
import { createTestPki } from "./adapters/testing/pki.ts";

/** The README's example as a function of what it leaves to the reader; gives the lines that it prints. */
async function runExample(target: Readonly<Record<string, unknown>>): Promise<string[]> {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const code = /```ts\n([\s\S]*?)```/.exec(readme)?.[1];
  assert.ok(code !== undefined);
  const imports = code.match(/^import .*$/gm) ?? [];
  const body = code.replaceAll(/^import .*$/gm, "");
  const source = `${imports.join("\n")}\nexport const run = async ({ address, port, ca, certificate, key, console }: any) => {${body}};`
    .replace('"@talos-operator/talos/grpc"', JSON.stringify(new URL("./adapters/index.ts", import.meta.url).href))
    .replace('"@talos-operator/talos/client"', JSON.stringify(new URL("./client.ts", import.meta.url).href));
  const module = (await import(`data:text/javascript,${encodeURIComponent(stripTypeScriptTypes(source))}`)) as {
    run: (input: unknown) => Promise<void>;
  };
  const lines: string[] = [];
  await module.run({ ...target, console: { log: (line: string) => lines.push(line) } });
  return lines;
}

test("the README's example tells version and stage of a machine, and stops at a foreign one", async () => {
  const pki = await createTestPki();
  const client = await pki.client();
  const credentials = { address: "127.0.0.1", ca: pki.authority.certificate, certificate: client.certificate, key: client.key };
  const own = await serve({ certificate: await pki.server(), clientAuthority: pki.authority.certificate });
  assert.deepEqual(await runExample({ ...credentials, port: own.port }), ["v1.13.9: running"]);
  const foreign = await serve({ certificate: await pki.server({}, pki.foreignAuthority) });
  assert.deepEqual(await runExample({ ...credentials, port: foreign.port }), ["another machine answers there"]);
});
