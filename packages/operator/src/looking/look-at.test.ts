import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosChannel } from "@talos-operator/ports";
import { MachineConnections } from "./connections.ts";
import { LOOK_TIMEOUT_MS, lookAt } from "./look-at.ts";

const credentials = { kind: "mutual", ca: "CA", certificate: "CERTIFICATE", key: "KEY" } as const;

/** Looks at a machine that answers nothing. */
async function look(mayBeConfigured: boolean): Promise<{ readonly kind: string; readonly limits: ReadonlyMap<string, number> }> {
  const limits = new Map<string, number>();
  const dial = (): TalosChannel => ({
    target: { address: "10.0.0.1" },
    unary: (method, _request, options) => {
      limits.set(method.path, options.timeoutMs);
      return Promise.reject(Object.assign(new Error("no answer"), { name: "TalosCallFailure" as const, code: 4 }));
    },
    serverStream: () => {
      throw new Error("not asked for");
    },
    upload: () => Promise.reject(new Error("not asked for")),
    // Known, so that nothing waits for a first answer.
    peerSpki: () => "KEY",
    close: () => undefined,
  });
  const connections = new MachineConnections({ dial }, "10.0.0.1");
  const { kind } = await lookAt({ connections, role: "controlplane", credentials, mayBeConfigured, now: () => 1 });
  return { kind, limits };
}

for (const mayBeConfigured of [true, false]) {
  const what = mayBeConfigured ? "a configured machine" : "an unknown machine";
  test(`${what} that answers nothing is silent`, async () => assert.equal((await look(mayBeConfigured)).kind, "silent"));
  test(`every call of a look at ${what} has an end (W26)`, async () => {
    const { limits } = await look(mayBeConfigured);
    assert.ok(limits.size > 0);
    for (const [path, limit] of limits) assert.ok(limit <= LOOK_TIMEOUT_MS && limit <= 5_000, `${path} takes ${limit} ms`);
  });
}
