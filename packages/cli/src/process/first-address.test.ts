import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { CliError } from "../cli-error.ts";
import { openDataFolder } from "./data-folder.ts";
import { readExample } from "./example.ts";
import { keepFirstAddress, simulatedAddresses } from "./first-address.ts";
import { machineAddresses } from "./manifest.ts";

test("addresses follow the first one, over the ends of networks", () => {
  const addressOf = simulatedAddresses("127.20.255.254", 300);
  assert.deepEqual([1, 2, 3, 258, 259].map(addressOf), ["127.20.255.254", "127.20.255.255", "127.21.0.0", "127.21.0.255", "127.21.1.0"]);
  assert.equal(simulatedAddresses("127.255.255.155", 100)(100), "127.255.255.254");
});

for (const first of [
  "10.0.0.1",
  "128.0.0.1",
  "126.255.255.255",
  "127.0.0.0",
  "127.255.255.255",
  "127.1.0",
  "127.1.0.256",
  "::1",
  "localhost",
  "",
])
  test(`${JSON.stringify(first)} is no first address`, () => {
    assert.throws(
      () => simulatedAddresses(first, 1),
      (thrown) =>
        thrown instanceof CliError &&
        thrown.exitCode === 2 &&
        thrown.message === `--first-address ${JSON.stringify(first)} is no address of the loopback network 127.0.0.0/8` &&
        thrown.remedy === "Name one from 127.0.0.1 to 127.255.255.254, such as 127.20.3.1.",
    );
  });

test("a first address from which too few are left is refused, with one that does", () => {
  assert.throws(
    () => simulatedAddresses("127.255.255.156", 100),
    (thrown) =>
      thrown instanceof CliError &&
      thrown.exitCode === 2 &&
      thrown.message === "from --first-address 127.255.255.156 on there are 99 addresses, and 100 are needed" &&
      thrown.remedy === "Name 127.255.255.155 or a lower one.",
  );
});

test("the example is made at the addresses of the machines, its endpoint too", () => {
  const objects = readExample(simulatedAddresses("127.20.3.7", 100));
  assert.deepEqual(
    machineAddresses(objects),
    [7, 8, 9, 10, 11, 12].map((n) => `127.20.3.${n}`),
  );
  const text = JSON.stringify(objects);
  assert.match(text, /"endpoint":"https:\/\/127\.20\.3\.106:6443"/);
  assert.doesNotMatch(text, /127\.1\.0\./);
});

test("a folder that keeps machines takes no other first address", () => {
  const path = mkdtempSync(join(tmpdir(), "talos-operator-first-address-"));
  const refuses = (folder: ReturnType<typeof openDataFolder>, first: string, kept: string): void =>
    assert.throws(
      () => keepFirstAddress(folder, first),
      (thrown) =>
        thrown instanceof CliError && thrown.remedy === `Start it with --first-address ${kept}, or name another folder with --data-dir.`,
    );
  try {
    const folder = openDataFolder(join(path, "new"));
    for (let start = 0; start < 2; start += 1) keepFirstAddress(folder, "127.20.3.1");
    for (const first of ["127.1.0.1", "127.20.3.2"]) refuses(folder, first, "127.20.3.1");
    // Written before the address was kept.
    const old = openDataFolder(join(path, "old"));
    old.write("{}", "machines", "127.1.0.1.json");
    refuses(old, "127.20.3.1", "127.1.0.1");
    keepFirstAddress(old, "127.1.0.1");
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
});
