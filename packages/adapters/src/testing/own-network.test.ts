import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { networkOf, ownAddress } from "./own-network.ts";

const root = join(import.meta.dirname, "../../../..");

test("each real test file has a network of its own", () => {
  const files = globSync("{packages/*/src,test}/**/*.real-test.ts", { cwd: root });
  assert.ok(files.length > 0);
  const networks = new Set(files.map((file) => networkOf(join(root, file))));
  assert.equal(networks.size, files.length, "rename one of the two files that have the same network");
  for (const network of networks) assert.match(network, /^127\.(2\d|[3-9]\d|1\d\d|2[0-4]\d|250)\.\d+$/);
});

test("the addresses of a process are in one network, and none is given twice", () => {
  const network = networkOf(process.argv[1] ?? "");
  const given = Array.from({ length: 3 }, () => ownAddress());
  assert.equal(new Set(given).size, 3);
  for (const address of given) assert.ok(address.startsWith(`${network}.`), address);
});
