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

/** Names that a list of exports gives, with the file that each comes from. */
function exportedNames(list: string): readonly (readonly [name: string, file: URL])[] {
  const file = new URL(list, import.meta.url);
  return [...readFileSync(file, "utf8").matchAll(/^export (?:type )?\{([^}]+)\} from "([^"]+)"/gm)].flatMap(([, names = "", from = ""]) =>
    names
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "")
      .map((name) => [name, new URL(from, file)] as const),
  );
}

test("whatever is exported says what it is", () => {
  const silent = ["./index.ts", "./client.ts", "./adapters/index.ts"].flatMap(exportedNames).filter(([name, file]) => {
    const lines = readFileSync(file, "utf8").split("\n");
    const at = lines.findIndex((line) => new RegExp(`^export (?:async )?(?:function|class|const|interface|type) ${name}\\b`).test(line));
    return at < 0 || lines[at - 1]?.endsWith("*/") !== true;
  });
  assert.deepEqual(
    silent.map(([name]) => name),
    [],
  );
});
