import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, X509Certificate } from "node:crypto";
import { describe, it } from "node:test";
import type { CertificateRequest } from "@talos-operator/ports";
import { distinguishedName, signedCertificate, subjectKeyIdentifier } from "./certificate.ts";
import { inspectCertificate } from "./inspect.ts";
import { createKeyPair } from "./key-pair.ts";
import { createX509Keys } from "./keys.ts";
import { writePrivateKey } from "./pem.ts";

const keys = createX509Keys();
const hour = 3_600_000;
const notBefore = Date.UTC(2026, 0, 1);

describe("certificates, read by a library that did not write them", () => {
  it("says of an authority what Talos says of its own", async () => {
    for (const kind of ["ed25519", "p256"] as const) {
      const authority = await inspectCertificate((await keys.createAuthority({ kind, organization: "talos", notBefore })).certificate);
      assert.deepEqual(authority.subject, { organizations: ["talos"], commonName: undefined });
      assert.deepEqual(authority.issuer, authority.subject);
      assert.equal(authority.signatureAlgorithm, kind === "ed25519" ? "Ed25519" : "ECDSA-SHA256");
      assert.equal(authority.notBefore, notBefore);
      assert.equal(authority.isAuthority, true);
      assert.equal(authority.pathLength, undefined);
      assert.deepEqual(authority.keyUsage, ["digitalSignature", "keyCertSign"]);
      assert.deepEqual(authority.extendedKeyUsage, ["serverAuth", "clientAuth"]);
      assert.deepEqual(authority.extensions, ["2.5.29.14", "2.5.29.15 critical", "2.5.29.19 critical", "2.5.29.37"]);
      assert.match(authority.subjectKeyId, /^[0-9a-f]{40}$/);
    }
  });

  const requests: readonly (Partial<CertificateRequest> & { readonly name: string })[] = [
    { name: "roles of Talos, the shorter ones first", usage: "client", organizations: ["os:reader", "os:admin"] },
    { name: "no subject, and names that are critical then", usage: "server", dnsNames: ["a.example", "*.b.example"] },
    { name: "a name with letters beyond ASCII", usage: "client", commonName: "Zoë 名" },
    {
      name: "more than 127 bytes of names",
      usage: "server",
      commonName: "x",
      dnsNames: Array.from({ length: 30 }, (_, n) => `node-${n}.example`),
    },
    {
      name: "more than 65,535 bytes of names",
      usage: "server",
      commonName: "x",
      dnsNames: Array.from({ length: 6000 }, (_, n) => `n-${n}.example`),
    },
    {
      name: "addresses of both families",
      usage: "server",
      commonName: "x",
      ipAddresses: ["10.0.0.255", "::", "::1", "fd00::1:2", "1:2:3:4:5:6:7:8"],
    },
  ];
  for (const { name, ...request } of requests)
    it(`signs ${name}`, async () => {
      const authority = await keys.createAuthority({ kind: "p256", organization: "kubernetes", notBefore });
      const { usage = "client", ...rest } = request;
      const { certificate } = await keys.signCertificate(authority, { usage, notBefore, lifetimeMs: hour, ...rest });
      const seen = await inspectCertificate(certificate);
      assert.deepEqual(seen.subject, {
        organizations: (request.organizations ?? []).toSorted((a, b) => a.length - b.length),
        commonName: request.commonName,
      });
      assert.deepEqual(seen.issuer, { organizations: ["kubernetes"], commonName: undefined });
      assert.deepEqual(seen.dnsNames, request.dnsNames ?? []);
      assert.equal(seen.ipAddresses.length, request.ipAddresses?.length ?? 0);
      for (const address of request.ipAddresses ?? []) assert.ok(new X509Certificate(certificate).checkIP(address) !== undefined, address);
      assert.deepEqual(seen.extendedKeyUsage, [usage === "client" ? "clientAuth" : "serverAuth"]);
      assert.deepEqual(seen.keyUsage, ["digitalSignature", "keyEncipherment"]);
      assert.equal(seen.isAuthority, false);
      assert.equal(seen.notAfter - seen.notBefore, hour);
      assert.equal(seen.authorityKeyId, (await inspectCertificate(authority.certificate)).subjectKeyId);
      const hasSubject = (request.organizations ?? []).length > 0 || request.commonName !== undefined;
      const hasNames = request.dnsNames !== undefined || request.ipAddresses !== undefined;
      assert.ok(seen.extensions.includes(hasSubject ? "2.5.29.17" : "2.5.29.17 critical") === hasNames);
      assert.ok(keys.verifyCertificate(certificate, authority.certificate, notBefore));
    });

  it("an IPv4 address that is written as an IPv6 address stays one", async () => {
    const authority = await keys.createAuthority({ kind: "ed25519", notBefore });
    const { certificate } = await keys.signCertificate(authority, {
      usage: "server",
      notBefore,
      lifetimeMs: hour,
      ipAddresses: ["::ffff:10.1.2.3"],
    });
    assert.equal(new X509Certificate(certificate).subjectAltName, "IP Address:0:0:0:0:0:FFFF:A01:203");
  });

  it("refuses what is no address", async () => {
    const authority = await keys.createAuthority({ kind: "ed25519", notBefore });
    for (const address of ["", "10.0.0.256", "fe80::1%eth0", "a.example"])
      await assert.rejects(
        keys.signCertificate(authority, { usage: "server", notBefore, lifetimeMs: hour, ipAddresses: [address] }),
        /is no IP address/,
      );
  });

  it("writes years from 2050 on with four digits", async () => {
    for (const at of [Date.UTC(2049, 11, 31, 23, 59, 59), Date.UTC(2050, 0, 1)]) {
      const authority = await keys.createAuthority({ kind: "ed25519", organization: "talos", notBefore: at });
      assert.equal(keys.describeCertificate(authority.certificate).notBefore, at);
      assert.equal((await inspectCertificate(authority.certificate)).notBefore, at);
    }
  });

  it("takes the name of an authority byte for byte, and its identifier, of whatever kind its key is", async () => {
    for (const { privateKey } of [
      generateKeyPairSync("ed25519"),
      generateKeyPairSync("ec", { namedCurve: "P-256" }),
      generateKeyPairSync("rsa", { modulusLength: 2048 }),
    ]) {
      const subject = distinguishedName(["b", "a", "ccc"], "an authority");
      const other = generateKeyPairSync("ed25519").privateKey;
      for (const extensions of [[], [subjectKeyIdentifier(other)]]) {
        const content = { issuer: subject, subject, notBefore, notAfter: notBefore + hour, key: privateKey, extensions };
        const pair = createKeyPair(await signedCertificate(content, privateKey), writePrivateKey(privateKey));
        const own = new X509Certificate(pair.certificate);
        assert.ok(own.verify(own.publicKey));
        // A leaf would take a key of 4096 bits.
        if (privateKey.asymmetricKeyType === "rsa") continue;
        const leaf = await keys.signCertificate(pair, { usage: "client", notBefore, lifetimeMs: hour });
        assert.ok(keys.verifyCertificate(leaf.certificate, pair.certificate, notBefore));
        const identifier = (await inspectCertificate(leaf.certificate)).authorityKeyId;
        // The last 32 bytes of an Ed25519 key, the last 65 of a point of P-256 are the bits of the key.
        const spki = new X509Certificate(pair.certificate).publicKey.export({ type: "spki", format: "der" });
        const ofKey = createHash("sha1")
          .update(spki.subarray(privateKey.asymmetricKeyType === "ed25519" ? -32 : -65))
          .digest("hex");
        assert.equal(identifier === ofKey, extensions.length === 0);
        if (extensions.length > 0) assert.equal(identifier, (await inspectCertificate(pair.certificate)).subjectKeyId);
      }
    }
  });
});
