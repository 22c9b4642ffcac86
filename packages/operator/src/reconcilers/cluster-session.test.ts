// Whom a session looks at, and when.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import type { TalosChannel } from "@talos-operator/ports";
import type { LookTarget } from "../looking/machine-watch.ts";
import { LookGate } from "../looking/look-gate.ts";
import { Turnstile } from "../looking/turnstile.ts";
import { ClusterSession } from "./cluster-session.ts";

const target: LookTarget = { name: "one", address: "10.0.0.1", role: "controlplane", mayBeConfigured: false };

/** Sessions of clusters of one process, beside machines that never answer; `dialled` says how each was met. */
function place(): { readonly open: () => ClusterSession; readonly dialled: string[]; readonly advance: (ms: number) => Promise<void> } {
  const time = createVirtualTime();
  const dialled: string[] = [];
  const silence = (): Promise<never> => Promise.reject(Object.assign(new Error("no"), { name: "TalosCallFailure" as const, code: 14 }));
  const dial = (to: TalosChannel["target"], { kind }: { readonly kind: string }): TalosChannel => {
    dialled.push(kind);
    const serverStream: TalosChannel["serverStream"] = () => {
      throw new Error("not asked for");
    };
    return { target: to, unary: silence, upload: silence, serverStream, peerSpki: () => undefined, close: () => undefined };
  };
  const { clock, timers } = time;
  const dialer = { dial, reaches: async () => true, hold: async () => "released" as const };
  const ports = { dialer, clock, timers, random: createSeededRandom(1), gate: new LookGate(timers), turnstile: new Turnstile(4) };
  const makingKeys = new Set<object>();
  return {
    open: () => new ClusterSession({ ...ports, makingKeys }, () => undefined),
    dialled,
    advance: (ms) => time.advance(ms),
  };
}

test("machines of a new cluster are looked at at once while nobody waits for keys", async () => {
  const { open, dialled, advance } = place();
  open().watchInTurn([target]);
  await advance(1);
  assert.deepEqual(dialled, ["maintenance"]);
});

test("a new cluster whose keys come after those of others looks at nobody before they are there", async () => {
  const { open, dialled, advance } = place();
  const before = Promise.withResolvers<string>();
  open().accountKey.take(
    () => before.promise,
    () => undefined,
  );
  const session = open();
  session.watchInTurn([target]);
  await advance(60_000);
  assert.deepEqual(dialled, []);
  assert.equal(session.machines.look("one").kind, "not-asked");
  const own = Promise.withResolvers<string>();
  session.accountKey.take(
    () => own.promise,
    () => undefined,
  );
  own.resolve("KEY");
  await advance(1);
  session.watchInTurn([target]);
  await advance(1);
  assert.deepEqual(dialled, ["maintenance"], "its own key is there, whoever still waits");
});

test("a cluster that waits for something else than keys looks at its machines whoever waits for keys", async () => {
  const { open, dialled, advance } = place();
  open().accountKey.take(
    () => new Promise(() => undefined),
    () => undefined,
  );
  const session = open();
  session.watchInTurn([target]);
  session.machines.watchPutOff();
  await advance(1);
  assert.deepEqual(dialled, ["maintenance"]);
});

test("a cluster that is released while its key is made holds up nobody", async () => {
  const { open, dialled, advance } = place();
  const gone = open();
  gone.accountKey.take(
    () => new Promise(() => undefined),
    () => undefined,
  );
  gone.close();
  open().watchInTurn([target]);
  await advance(1);
  assert.deepEqual(dialled, ["maintenance"]);
});

test("a machine that waited is met with our certificate after a configuration was sent to it, and by nothing before", async () => {
  const { open, dialled, advance } = place();
  const session = open();
  session.machines.setCredentials({ kind: "mutual", ca: "CA", certificate: "CERTIFICATE", key: "KEY" });
  session.machines.watch([target]);
  await advance(1);
  dialled.length = 0;
  session.machines.lookForConfigured("one");
  await advance(1);
  assert.deepEqual(dialled, ["mutual"]);
});
