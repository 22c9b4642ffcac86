import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createX509Keys } from "@talos-operator/adapters";
import { contractFor, generateSecretsBundle } from "@talos-operator/talos";
import { createSeededRandom } from "@talos-operator/kube-runtime/testing";
import { mintCredentials, readerRenewalAt } from "./credentials.ts";

const DAY_MS = 24 * 3_600_000;

describe("minted certificates", () => {
  for (const role of ["os:admin", "os:reader"] as const)
    it(`of ${role} are accepted by a machine whose clock is a day behind, and end soon by ours`, async () => {
      const keys = createX509Keys();
      const now = Date.UTC(2026, 0, 2);
      const clock = { now: () => now };
      const random = createSeededRandom(1);
      const serviceAccountKey = await keys.createPrivateKey("p256");
      const bundle = await generateSecretsBundle({ contract: contractFor("v1.13.0"), clock, random, keys, serviceAccountKey });
      const { certificate } = await mintCredentials(bundle, role, keys, clock);
      const { notBefore, notAfter } = keys.describeCertificate(certificate);
      keys.close();
      assert.ok(notBefore <= now - DAY_MS);
      assert.equal(notAfter - now, role === "os:admin" ? 10 * 60_000 : 12 * 3_600_000);
    });

  it("of os:reader are replaced hours before they end", () => {
    const untilRenewal = readerRenewalAt(0);
    assert.ok(untilRenewal >= 3_600_000 && untilRenewal <= 9 * 3_600_000, `${untilRenewal} ms of twelve hours`);
  });
});
