import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
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

describe("certificate requests", () => {
  const subject = { commonName: "system:node:a", organizations: ["system:nodes"], dnsNames: ["a"], ipAddresses: ["10.0.0.1", "fd00::1"] };

  it("says what it asks for", async () => {
    const { request } = await keys.createCertificateRequest(subject);
    assert.deepEqual(await keys.describeCertificateRequest(request), { ...subject, otherNames: [] });
  });

  it("reads one without alternative names", async () => {
    const { request } = await keys.createCertificateRequest({ commonName: "a", organizations: [] });
    assert.deepEqual(await keys.describeCertificateRequest(request), {
      commonName: "a",
      organizations: [],
      dnsNames: [],
      ipAddresses: [],
      otherNames: [],
    });
  });

  it("refuses one that was changed after it was signed", async () => {
    const { request } = await keys.createCertificateRequest(subject);
    const der = Buffer.from(request.replaceAll(/-----.*-----/gu, ""), "base64");
    der[der.indexOf("system:node:a") + "system:node:".length] = "b".charCodeAt(0);
    const forged = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
    await assert.rejects(keys.describeCertificateRequest(forged), /not signed with its own key/);
  });

  for (const [what, text] of [
    ["nothing", ""],
    ["another text", "hello"],
    ["another block", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"],
    ["a block that holds none", "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n"],
    ["a text of a megabyte", `-----BEGIN CERTIFICATE REQUEST-----\n${"A".repeat(1_000_000)}\n-----END CERTIFICATE REQUEST-----\n`],
  ] as const)
    it(`refuses ${what}`, () => assert.rejects(keys.describeCertificateRequest(text)));

  it("refuses two in one text", async () => {
    const { request } = await keys.createCertificateRequest(subject);
    await assert.rejects(keys.describeCertificateRequest(request + request), /single/);
  });

  it("is one that OpenSSL reads", async () => {
    const { request } = await keys.createCertificateRequest(subject);
    const { status, stdout } = spawnSync("openssl", ["req", "-noout", "-verify", "-text"], { input: request });
    assert.equal(status, 0);
    assert.match(stdout.toString(), /CN ?= ?system:node:a/u);
    assert.match(stdout.toString(), /DNS:a, IP Address:10\.0\.0\.1/u);
  });
});
