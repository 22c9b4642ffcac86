import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { KeyPair } from "@talos-operator/ports";
import { createX509Keys } from "./keys.ts";

const now = Date.now();
const hour = 3_600_000;
const keys = createX509Keys();

describe("certificates", () => {
  for (const kind of ["ed25519", "p256"] as const) {
    it(`signs a ${kind} client certificate that OpenSSL verifies strictly`, async () => {
      const authority = await keys.createAuthority({ kind, organization: "talos", notBefore: now - hour });
      const leaf = await keys.signCertificate(authority, {
        usage: "client",
        organizations: ["os:admin", "os:reader"],
        notBefore: now - hour,
        lifetimeMs: 2 * hour,
      });
      const text = openssl(authority, leaf, "sslclient");
      assert.match(text, /leaf\.crt: OK/);
      const facts = keys.describeCertificate(leaf.certificate);
      assert.deepEqual(facts.organizations, ["os:admin", "os:reader"]);
      assert.equal(facts.commonName, undefined);
      assert.equal(facts.notAfter - facts.notBefore, 2 * hour);
      assert.ok(keys.isPair(leaf));
      assert.ok(!keys.isPair({ certificate: leaf.certificate, key: authority.key }));
    });
  }

  it("accepts a certificate only from its own authority and only while it is valid", async () => {
    const ours = await keys.createAuthority({ kind: "ed25519", organization: "talos", notBefore: now });
    const theirs = await keys.createAuthority({ kind: "ed25519", organization: "talos", notBefore: now });
    const leaf = await keys.signCertificate(ours, { usage: "client", notBefore: now, lifetimeMs: hour });
    assert.ok(keys.verifyCertificate(leaf.certificate, ours.certificate, now + 1000));
    assert.ok(!keys.verifyCertificate(leaf.certificate, theirs.certificate, now + 1000));
    assert.ok(!keys.verifyCertificate(leaf.certificate, ours.certificate, now + 2 * hour));
    assert.ok(!keys.verifyCertificate(leaf.certificate, ours.certificate, now - 2000));
  });

  it("puts names and addresses into a server certificate", async () => {
    const authority = await keys.createAuthority({ kind: "p256", organization: "kubernetes", notBefore: now - hour });
    const leaf = await keys.signCertificate(authority, {
      usage: "server",
      commonName: "kube-apiserver",
      notBefore: now - hour,
      lifetimeMs: 2 * hour,
      dnsNames: ["localhost"],
      ipAddresses: ["127.1.0.1", "::1"],
    });
    assert.match(openssl(authority, leaf, "sslserver", ["-verify_ip", "127.1.0.1"]), /OK/);
    assert.match(openssl(authority, leaf, "sslserver", ["-verify_ip", "::1"]), /OK/);
    assert.throws(() => openssl(authority, leaf, "sslserver", ["-verify_ip", "127.1.0.2"]));
  });

  it("leaves the aggregator's subject empty", async () => {
    const authority = await keys.createAuthority({ kind: "p256", notBefore: now });
    assert.deepEqual(keys.describeCertificate(authority.certificate).organizations, []);
  });

  it("labels private keys as Talos does", async () => {
    const authority = await keys.createAuthority({ kind: "ed25519", organization: "talos", notBefore: now });
    assert.match(authority.key, /^-----BEGIN ED25519 PRIVATE KEY-----\n/);
    assert.match(await keys.createPrivateKey("p256"), /^-----BEGIN EC PRIVATE KEY-----\n/);
    assert.match(await keys.createPrivateKey("rsa4096"), /^-----BEGIN RSA PRIVATE KEY-----\n/);
  });
});

function openssl(authority: KeyPair, leaf: KeyPair, purpose: string, more: string[] = []): string {
  const folder = mkdtempSync(join(tmpdir(), "x509-"));
  try {
    writeFileSync(join(folder, "ca.crt"), authority.certificate);
    writeFileSync(join(folder, "leaf.crt"), leaf.certificate);
    const args = ["verify", "-x509_strict", "-purpose", purpose, "-CAfile", "ca.crt", ...more, "leaf.crt"];
    return execFileSync("openssl", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
