import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createX509Keys } from "@talos-operator/adapters";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { contractFor, generateSecretsBundle } from "@talos-operator/talos";
import type { SecretsBundle } from "@talos-operator/talos";
import { LookGate } from "../looking/look-gate.ts";
import { Turnstile } from "../looking/turnstile.ts";
import { equip, readClusterRecord } from "./fresh-copies.ts";
import { ClusterSession } from "../reconcilers/cluster-session.ts";
import type { ObservePorts } from "./observe-ports.ts";

/** A session without machines, and bundles of different keys. */
async function world() {
  const time = createVirtualTime();
  const { clock, timers } = time;
  const keys = createX509Keys();
  const dial = (): never => {
    throw new Error("nobody is asked");
  };
  const random = createSeededRandom(1);
  const ports = {
    dialer: { dial, reaches: async () => true, hold: async () => "released" as const },
    clock,
    timers,
    random,
    gate: new LookGate(timers),
  };
  const session = new ClusterSession({ ...ports, turnstile: new Turnstile(4), makingKeys: new Set() }, () => undefined);
  const serviceAccountKey = await keys.createPrivateKey("p256");
  const bundle = (): Promise<SecretsBundle> =>
    generateSecretsBundle({ contract: contractFor("v1.13.0"), clock, random, keys, serviceAccountKey });
  const [first, second] = [await bundle(), await bundle()];
  return {
    session,
    first,
    second,
    advance: (ms: number) => time.advance(ms),
    equip: (held: SecretsBundle, fingerprint: string) => equip(session, held, fingerprint, { keys, clock }),
    readRecord: (send: () => object) => {
      const answer = () => Promise.resolve({ status: 200, headers: {}, body: send() });
      const client = createKubeClient({ send: answer, watch: () => Promise.reject(new Error("nobody watches")), close: () => undefined });
      return readClusterRecord({ namespace: "default", name: "first" }, session, { client, clock, clusters: 1 } as ObservePorts);
    },
    end: () => {
      session.close();
      keys.close();
    },
  };
}

describe("the credentials that machines are asked with", () => {
  it("are kept while the keys are the same and the end is far", async () => {
    const { session, first, advance, equip: give, end } = await world();
    await give(first, "first");
    const before = session.machines.credentials();
    await advance(3_600_000);
    await give(first, "first");
    assert.equal(session.machines.credentials(), before);
    await advance(9 * 3_600_000);
    await give(first, "first");
    assert.notEqual(session.machines.credentials(), before);
    end();
  });

  it("are those of the keys that are there now, at once when these are others", async () => {
    const { session, first, second, equip: give, end } = await world();
    await give(first, "first");
    await give(second, "second");
    const now = session.machines.credentials();
    assert.equal(now?.ca, second.certs.os.certificate);
    assert.equal(session.credentialsFor?.fingerprint, "second");
    end();
  });
});

describe("the copy of a record", () => {
  const claim = {
    machine: "first-10.0.0.1",
    run: "a0911c890428",
    backup: { namespace: "default", name: "nightly" },
    at: "2026-11-28T15:21:37Z",
    by: "operator",
    deadline: "2999-01-01T00:00:00Z",
  };
  const record = (snapshot: object) => ({
    apiVersion: "talos-operator.dev/v1alpha1",
    kind: "ClusterRecord",
    metadata: { name: "first", namespace: "default", resourceVersion: "1" },
    spec: { clusterId: "id", bundle: { secretName: "first-bundle-1", fingerprint: "f" }, ...snapshot },
  });

  it("is taken for what is there as long as it is fresh", async () => {
    const { readRecord, end } = await world();
    let readings = 0;
    const send = () => ((readings += 1), record({}));
    await readRecord(send);
    assert.equal((await readRecord(send)).kind, "present");
    assert.equal(readings, 1);
    end();
  });

  it("is read again once others changed the record: nobody waits for a snapshot that has ended", async () => {
    const { readRecord, session, end } = await world();
    const during = await readRecord(() => record({ snapshot: claim }));
    assert.equal(during.kind === "present" && during.value.facts.snapshot?.machine, "first-10.0.0.1");
    session.recordChanged();
    const after = await readRecord(() => record({}));
    assert.ok(after.kind === "present");
    assert.equal(after.value.facts.snapshot, undefined);
    end();
  });
});
