import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createX509Keys } from "@talos-operator/adapters";
import type { CertificateRequest, KeyPair } from "@talos-operator/ports";
import { kubeconfigDoubt } from "./kubeconfig-doubt.ts";

const keys = createX509Keys();
const HOUR_MS = 3_600_000;
const now = Date.UTC(2026, 0, 1, 12);
const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("a kubeconfig that a control plane makes", () => {
  let cluster: KeyPair;
  let another: KeyPair;
  before(async () => {
    [cluster, another] = await Promise.all(
      [1, 2].map(() => keys.createAuthority({ kind: "p256", organization: "kubernetes", notBefore: 0 })) as [
        Promise<KeyPair>,
        Promise<KeyPair>,
      ],
    );
  });

  interface Made {
    readonly signer?: KeyPair;
    readonly request?: Partial<CertificateRequest>;
    readonly authorities?: readonly KeyPair[];
    readonly key?: string;
  }

  const doubtAbout = async ({ signer = cluster, request = {}, authorities = [cluster], key }: Made): Promise<string | undefined> => {
    const admin = {
      usage: "client",
      commonName: "admin",
      organizations: ["system:masters"],
      notBefore: now - 10_000,
      lifetimeMs: HOUR_MS,
    } as const;
    const leaf = await keys.signCertificate(signer, { ...admin, ...request });
    const user = { "client-certificate-data": base64(leaf.certificate), "client-key-data": base64(key ?? leaf.key) };
    const trusts = {
      server: "https://10.0.0.1:6443",
      "certificate-authority-data": base64(authorities.map((one) => one.certificate).join("")),
    };
    const text = JSON.stringify({ clusters: [{ name: "demo", cluster: trusts }], users: [{ name: "admin", user }] });
    return kubeconfigDoubt(text, { authority: cluster.certificate, keys, now });
  };

  it("for an administrator of this cluster is taken, beside authorities that machines accept as well", async () => {
    assert.equal(await doubtAbout({}), undefined);
    assert.equal(await doubtAbout({ authorities: [another, cluster] }), undefined);
  });

  it("by a machine whose clock is some minutes ahead is taken", async () =>
    assert.equal(await doubtAbout({ request: { notBefore: now + 5 * 60_000 } }), undefined));

  for (const [what, made, says] of [
    ["leads into another cluster", (): Made => ({ signer: another, authorities: [another] }), /trusts another authority/],
    ["holds a certificate of another cluster", (): Made => ({ signer: another }), /not signed by the cluster's authority/],
    ["ended before it was given", (): Made => ({ request: { notBefore: now - 2 * HOUR_MS } }), /ended at 2026-01-01T11:00:00Z/],
    ["begins tomorrow", (): Made => ({ request: { notBefore: now + 24 * HOUR_MS } }), /begins at 2026-01-02T12:00:00Z/],
    ["holds the certificate of a node", (): Made => ({ request: { organizations: ["system:nodes"] } }), /not an administrator's/],
    ["holds another key than its certificate's", (): Made => ({ key: another.key }), /does not belong/],
  ] as const)
    it(`that ${what} is not taken`, async () => assert.match((await doubtAbout(made())) ?? "", says));

  it("that cannot be read is not taken, and what is said of it quotes nothing of it", () => {
    const text = JSON.stringify({ clusters: [{ cluster: { "certificate-authority-data": base64("secret") } }], users: [] });
    assert.doesNotMatch(kubeconfigDoubt(text, { authority: cluster.certificate, keys, now }) ?? "", /secret/);
    assert.match(kubeconfigDoubt("][", { authority: cluster.certificate, keys, now }) ?? "", /cannot be read/);
  });
});
