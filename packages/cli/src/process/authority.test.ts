import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createX509Keys } from "@talos-operator/adapters";
import { openApiAuthority } from "./authority.ts";
import { openDataFolder } from "./data-folder.ts";
import { printKubeconfig } from "./kubeconfig.ts";

const DAY_MS = 24 * 3_600_000;
const START = Date.UTC(2026, 0, 1);

test("the administrator's certificate is kept while it is good for half a year, and made anew after that", async () => {
  const path = mkdtempSync(join(tmpdir(), "talos-operator-authority-"));
  const keys = createX509Keys();
  try {
    const folder = openDataFolder(path);
    const adminAt = async (now: number): Promise<string> => {
      const { admin, authority } = await openApiAuthority(keys, { now: () => now }, folder, "127.0.0.1");
      const facts = { name: "demo", server: "https://127.0.0.1:7443", authority: authority.certificate };
      folder.write(printKubeconfig({ ...facts, certificate: admin.certificate, key: admin.key }), "kubeconfig");
      return admin.certificate;
    };
    const first = await adminAt(START);
    assert.equal(await adminAt(START + 30 * DAY_MS), first);
    assert.notEqual(await adminAt(START + 200 * DAY_MS), first);
  } finally {
    keys.close();
    rmSync(path, { recursive: true });
  }
});

test("the server's certificate is made for the address that is listened on", async () => {
  const path = mkdtempSync(join(tmpdir(), "talos-operator-authority-"));
  const keys = createX509Keys();
  try {
    const { server, authority } = await openApiAuthority(keys, { now: () => START }, openDataFolder(path), "10.0.0.7");
    assert.ok(keys.verifyCertificate(server.certificate, authority.certificate, START));
  } finally {
    keys.close();
    rmSync(path, { recursive: true });
  }
});
