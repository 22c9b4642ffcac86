import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as client from "./client.ts";
import * as library from "./index.ts";

test("a name stands in one place: with what needs no machine, or with the machine API", () => {
  assert.deepEqual(
    Object.keys(library).filter((name) => name in client),
    [],
  );
});

test("what needs no machine loads neither protocol buffers nor gRPC", () => {
  const seen = new Set<string>();
  const visit = (file: URL): void => {
    if (seen.has(file.href)) return;
    seen.add(file.href);
    for (const [, from = ""] of readFileSync(file, "utf8").matchAll(/^(?:import|export) (?!type)[^;]*? from "([^"]+)"/gm)) {
      assert.doesNotMatch(from, /^@bufbuild|^@grpc/, `${file.pathname} imports ${from}`);
      if (from.startsWith(".")) visit(new URL(from, file));
    }
  };
  visit(new URL("index.ts", import.meta.url));
  assert.ok(seen.size > 20);
});
