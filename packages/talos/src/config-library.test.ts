import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as library from "./config-library.ts";
import * as all from "./index.ts";

test("what needs no machine is the same here and there", () => {
  for (const [name, value] of Object.entries(library)) assert.equal((all as Readonly<Record<string, unknown>>)[name], value, name);
});

test("whatever the package exports from files that need no machine is here too", () => {
  const needsMachine = /^\.\/(?:client|session|resources)\//;
  const index = readFileSync(new URL("index.ts", import.meta.url), "utf8");
  for (const [, names = "", from = ""] of index.matchAll(/^export \{([^}]+)\} from "([^"]+)"/gm)) {
    if (needsMachine.test(from)) continue;
    for (const name of names.split(",").map((text) => text.trim())) assert.ok(name === "" || name in library, `${name} of ${from}`);
  }
});

test("nothing here loads the machine API", () => {
  const seen = new Set<string>();
  const visit = (file: URL): void => {
    if (seen.has(file.href)) return;
    seen.add(file.href);
    for (const [, from = ""] of readFileSync(file, "utf8").matchAll(/^(?:import|export) (?!type)[^;]*? from "([^"]+)"/gm)) {
      assert.doesNotMatch(from, /^@bufbuild|^@grpc/, `${file.pathname} imports ${from}`);
      if (from.startsWith(".")) visit(new URL(from, file));
    }
  };
  visit(new URL("config-library.ts", import.meta.url));
  assert.ok(seen.size > 20);
});
