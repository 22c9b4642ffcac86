import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createX509Keys } from "@talos-operator/adapters";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createFakeApi } from "@talos-operator/kube-runtime/testing";
import type { KeyPair } from "@talos-operator/ports";
import { readGivenSecrets } from "./given-secrets.ts";
import { secretData } from "./secret.ts";

const NOW = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;
const keys = createX509Keys();
const clock = { now: () => NOW };

async function read(texts: Readonly<Record<string, string>>) {
  const client = createKubeClient(createFakeApi().transport());
  const type = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { namespace: "default", name: "mine" }, data: secretData(texts) };
  await client.resource(type).create(secret);
  return readGivenSecrets({ client, keys, clock }, "default", "mine");
}

const textsOf = ({ certificate, key }: KeyPair, token = "abcdef.0123456789abcdef") => ({ token, "ca.crt": certificate, "ca.key": key });

describe("secrets that are given", () => {
  for (const kind of ["ed25519", "p256"] as const)
    it(`are taken when they sign and are valid: ${kind}`, async () => {
      const authority = await keys.createAuthority({ kind, organization: "talos", notBefore: NOW - HOUR });
      const { given, problem } = await read(textsOf(authority));
      assert.equal(problem, undefined);
      assert.deepEqual(given?.authority, authority);
    });

  it("are refused with a word that shows nothing of them", async () => {
    const [mine, other] = await Promise.all(
      [NOW - HOUR, NOW - HOUR].map((notBefore) => keys.createAuthority({ kind: "ed25519", notBefore })),
    );
    assert.ok(mine !== undefined && other !== undefined);
    const leaf = await keys.signCertificate(mine, { usage: "client", notBefore: NOW - HOUR, lifetimeMs: 2 * HOUR });
    const old = await keys.createAuthority({ kind: "ed25519", notBefore: NOW - 100_000 * HOUR });
    const early = await keys.createAuthority({ kind: "ed25519", notBefore: NOW + HOUR });
    for (const [texts, words] of [
      [textsOf({ certificate: mine.certificate, key: other.key }), /does not belong/],
      [textsOf(leaf), /its ca\.crt is not a certificate authority/],
      [textsOf(old), /not valid now/],
      [textsOf(early), /not valid now/],
      [textsOf(mine, "two words"), /its token/],
      [textsOf({ certificate: "-----BEGIN CERTIFICATE-----", key: mine.key }), /no PEM certificate/],
      [textsOf({ certificate: mine.certificate, key: "x" }), /no PEM certificate/],
      [{ token: "a", "ca.crt": mine.certificate }, /lacks ca\.key/],
      [{}, /lacks token and ca\.crt and ca\.key/],
    ] as const) {
      const { given, problem = "" } = await read(texts);
      assert.equal(given, undefined);
      assert.match(problem, words);
      assert.ok(problem.length < 100);
    }
  });
});
