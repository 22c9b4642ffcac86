import assert from "node:assert/strict";
import { test } from "node:test";
import type { Keys } from "@talos-operator/ports";
import { kubeconfigFor } from "./kubeconfig.ts";

const NOW = Date.parse("2026-05-01T12:00:00Z");
const HOUR = 3_600_000;

async function accessFor(forMs: number): Promise<{ readonly text: string; readonly until: number }> {
  let until = 0;
  const keys = {
    signCertificate: (_authority: unknown, { notBefore, lifetimeMs }: { readonly notBefore: number; readonly lifetimeMs: number }) => {
      until = notBefore + lifetimeMs;
      return Promise.resolve({ certificate: "c", key: "k" });
    },
  } as unknown as Keys;
  const authority = { certificate: "ca", key: "SECRET" };
  const text = await kubeconfigFor({ endpoint: "https://10.5.0.1:6443", authority, forMs }, keys, { now: () => NOW });
  return { text, until };
}

for (const forMs of [600_000, 20 * HOUR])
  test(`an access outlives a worker that may work for ${forMs / HOUR} hours, by an hour and no more`, async () => {
    assert.equal((await accessFor(forMs)).until, NOW + forMs + HOUR);
  });

test("an access holds the key of its own certificate alone", async () => {
  const { text } = await accessFor(600_000);
  assert.match(text, /"server":"https:\/\/10.5.0.1:6443"/);
  assert.doesNotMatch(text, /SECRET|U0VDUkVU/);
});
