import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { createX509Keys } from "@talos-operator/adapters";
import { signClientCertificate } from "./client-certificate.ts";
import { parseTalosconfig } from "./parse.ts";
import { printTalosconfig } from "./print.ts";
import { createTalosconfig } from "./talosconfig.ts";

const talosconfig = createTalosconfig({ clusterName: "alpha", endpoints: ["10.0.0.1"], ca: "CA", certificate: "CRT", key: "KEY" });

test("what is printed is parsed as the same configuration", () => {
  assert.deepEqual({ ...parseTalosconfig(printTalosconfig(talosconfig)) }, { ...talosconfig });
});

test("a configuration shows nothing of itself", () => {
  assert.equal(JSON.stringify({ talosconfig }), '{"talosconfig":"[talosconfig]"}');
  assert.equal(inspect({ talosconfig }), "{ talosconfig: [talosconfig] }");
  assert.equal(inspect([...talosconfig.contexts.values()]), "[ [talosconfig context] ]");
});

test("a client certificate holds its roles, each once, and lives as long as was asked", async () => {
  const keys = createX509Keys();
  const notBefore = Date.parse("2026-03-01T12:00:00Z");
  const authority = await keys.createAuthority({ kind: "ed25519", organization: "talos", notBefore });
  const pair = await signClientCertificate({
    keys,
    authority,
    roles: ["os:reader", "os:etcd:backup", " os:reader", ""],
    notBefore,
    lifetimeMs: 600_000,
  });
  const facts = keys.describeCertificate(pair.certificate);
  assert.deepEqual(
    [[...facts.organizations].toSorted((a, b) => (a < b ? -1 : 1)), facts.commonName, facts.notAfter - facts.notBefore],
    [["os:etcd:backup", "os:reader"], undefined, 600_000],
  );
  assert.ok(keys.verifyCertificate(pair.certificate, authority.certificate, notBefore + 1000));
});
