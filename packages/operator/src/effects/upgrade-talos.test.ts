import assert from "node:assert/strict";
import { test } from "node:test";
import { upgradeTalos } from "./upgrade-talos.ts";
import type { Effects } from "./ports.ts";

/** Talos wipes what `preserve` does not keep up to 1.7: what runs decides, and not what is installed. */
const cases: readonly (readonly [string, string, boolean])[] = [
  ["v1.7.7", "v1.8.4", true],
  ["v1.7.6", "v1.7.7", true],
  ["v1.8.4", "v1.9.5", false],
  ["v1.12.1", "v1.13.9", false],
];
for (const [ifVersion, version, preserve] of cases)
  test(`an upgrade from Talos ${ifVersion} to ${version} is ${preserve ? "" : "not "}asked to preserve`, async () => {
    const asked: unknown[] = [];
    const client = { upgrade: (request: unknown) => Promise.resolve(asked.push(request)) };
    const action = {
      kind: "UpgradeTalos",
      machine: "demo-10.0.0.1",
      address: "10.0.0.1",
      ifUuid: "",
      role: "controlplane",
      ifBootId: "",
      ifVersion,
      version,
      image: "i",
    } as const;
    const connected = { action, client, effects: {} as Effects, answers: undefined } as unknown as Parameters<typeof upgradeTalos.send>[0];
    await upgradeTalos.send(connected, { timeoutMs: 1, signal: new AbortController().signal });
    assert.deepEqual(asked, [{ image: "i", preserve }]);
  });
