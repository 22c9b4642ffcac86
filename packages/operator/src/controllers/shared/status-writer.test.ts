import assert from "node:assert/strict";
import { test } from "node:test";
import { talosControlPlaneResource } from "@talos-operator/api";
import type { TalosControlPlane } from "@talos-operator/api";
import { createKubeClient } from "@talos-operator/kube-runtime";
import type { KubeTransport } from "@talos-operator/ports";
import { silentTelling } from "../../testing/silent-telling.ts";
import { createStatusWriter, type StatusWriter, type WantedStatus } from "./status-writer.ts";

const EVERY_MS = 500;

/** One object whose status is stored as it is applied, and a clock that stands still unless it is moved. */
function createStored(): {
  readonly object: () => TalosControlPlane;
  readonly at: (ms: number) => void;
  readonly writer: () => StatusWriter<TalosControlPlane>;
} {
  let now = Date.UTC(2026, 0, 1);
  let version = 1;
  let status: unknown;
  const object = (): TalosControlPlane =>
    ({
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosControlPlane",
      metadata: { namespace: "default", name: "demo", uid: "5f1c7a3e-9d20-4c44-8a51-3b7f0e6d2c19", resourceVersion: String(version) },
      spec: {},
      ...(status === undefined ? {} : { status }),
    }) as unknown as TalosControlPlane;
  const transport: KubeTransport = {
    async send({ body }) {
      version += 1;
      ({ status } = body as { readonly status?: unknown });
      return { status: 200, headers: {}, body: object() };
    },
    watch: () => Promise.reject(new Error("nobody watches here")),
    close: () => undefined,
  };
  const client = createKubeClient(transport);
  return {
    object,
    at(ms) {
      now = Date.UTC(2026, 0, 1) + ms;
    },
    writer: () =>
      createStatusWriter<TalosControlPlane>(client, talosControlPlaneResource, { now: () => now }, "talos-operator", silentTelling),
  };
}

function ready(isReady: boolean): WantedStatus {
  const condition = isReady
    ? { type: "Ready", status: "True", reason: "AllReady", message: "Every node is ready." }
    : { type: "Ready", status: "False", reason: "NodesNotReady", message: "A node is not ready." };
  return { fields: { state: isReady ? "Ready" : "Available" }, conditions: [condition] } as WantedStatus;
}

test("two writers that disagree whether an object is ready write ever more rarely", async () => {
  const { object, at, writer } = createStored();
  const writers = [
    { writer: writer(), wanted: ready(true) },
    { writer: writer(), wanted: ready(false) },
  ];
  const written: number[] = [];
  for (let ms = 0; ms < 20_000; ms += 10) {
    at(ms);
    for (const one of writers) {
      const before = object().metadata.resourceVersion;
      await one.writer.write(object(), one.wanted, EVERY_MS);
      if (object().metadata.resourceVersion !== before) written.push(ms);
    }
  }
  assert.ok(written.length >= 6 && written.length <= 16, `${written.length} writes in 20 seconds`);
});

test("a status that somebody changed is put right at once, and again after a pause", async () => {
  const { object, at, writer } = createStored();
  const [own, other] = [writer(), writer()];
  await own.write(object(), ready(true), EVERY_MS);
  at(60_000);
  await other.write(object(), ready(false));
  assert.equal(await own.write(object(), ready(true), EVERY_MS), undefined);
  assert.equal(object().status?.state, "Ready");
  await other.write(object(), ready(false));
  assert.equal(await own.write(object(), ready(true), EVERY_MS), 2 * EVERY_MS);
  at(60_000 + 2 * EVERY_MS);
  assert.equal(await own.write(object(), ready(true), EVERY_MS), undefined);
  assert.equal(object().status?.state, "Ready");
});

test("what turns an object ready or unready is said at once", async () => {
  const { object, writer } = createStored();
  const own = writer();
  for (const isReady of [true, false, true, false]) {
    assert.equal(await own.write(object(), ready(isReady), EVERY_MS), undefined);
    assert.equal(object().status?.state, isReady ? "Ready" : "Available");
  }
});

function comingUp(message: string, reason = "NodesNotReady", observedGeneration = 1): WantedStatus {
  const condition = { type: "Ready", status: "False", reason, message, observedGeneration };
  return { fields: { state: "Available" }, conditions: [condition] } as WantedStatus;
}

function withRollout(message: string, rollout: string): WantedStatus {
  const { fields, conditions } = comingUp(message);
  const condition = { type: "ConfigUpToDate", status: "False", reason: "RollingOut", message: rollout, observedGeneration: 1 };
  return { fields, conditions: [...conditions, condition] } as WantedStatus;
}

test("what a machine says while it comes up is written twice a minute, and what it said last always", async () => {
  const { object, at, writer } = createStored();
  const own = writer();
  const written: number[] = [];
  let againAt = 0;
  for (let ms = 0; ms <= 120_000; ms += 500) {
    at(ms);
    // It says something new each half second for 50 s; then the pass comes again only when it was told to.
    const isTalking = ms < 50_000;
    if (!isTalking && ms < againAt) continue;
    const before = object().metadata.resourceVersion;
    const left = await own.write(object(), comingUp(`Unmet: ${isTalking ? ms : 50_000}.`), EVERY_MS);
    againAt = left === undefined ? Number.POSITIVE_INFINITY : ms + left;
    if (object().metadata.resourceVersion !== before) written.push(ms);
  }
  assert.deepEqual(written, [1_000, 31_000, 61_000]);
  assert.equal(object().status?.conditions?.[0]?.message, "Unmet: 50000.");
});

for (const [what, change] of [
  ["a reason", comingUp("Unmet: b.", "MachineUnreachable")],
  ["the generation that it is about", comingUp("Unmet: b.", "NodesNotReady", 2)],
  ["a state", { ...comingUp("Unmet: b."), fields: { state: "Installing" } }],
  ["what another condition says", withRollout("Unmet: b.", "cp-2 (applying in try mode).")],
] as const)
  test(`${what} that changes does not wait for messages`, async () => {
    const { object, at, writer } = createStored();
    const own = writer();
    const before = change.conditions.length === 1 ? comingUp("Unmet: a.") : withRollout("Unmet: a.", "cp-1 (applying in try mode).");
    assert.equal(await own.write(object(), before, EVERY_MS), 1_000, "the first words wait, too");
    at(1_000);
    await own.write(object(), before, EVERY_MS);
    at(1_000 + EVERY_MS);
    const words = change.conditions.length === 1 ? comingUp("Unmet: b.") : withRollout("Unmet: b.", "cp-1 (applying in try mode).");
    assert.equal(await own.write(object(), words, EVERY_MS), 30_000 - EVERY_MS);
    const heldMs = what === "a state" ? 1_000 : 2_000;
    assert.equal(await own.write(object(), change, EVERY_MS), heldMs, "it may pass by");
    at(1_000 + EVERY_MS + heldMs);
    assert.equal(await own.write(object(), change, EVERY_MS), undefined);
    assert.equal(object().status?.conditions?.[0]?.message, "Unmet: b.");
  });

test("what passes by within two seconds is not written, and what comes to stay takes two seconds of its own", async () => {
  const { object, at, writer } = createStored();
  const own = writer();
  const before = comingUp("Unmet: a.");
  await own.write(object(), before, 0);
  at(10_000);
  assert.equal(await own.write(object(), comingUp("Gone.", "MachineUnreachable"), EVERY_MS), 2_000);
  at(11_500);
  assert.equal(await own.write(object(), before, EVERY_MS), undefined);
  assert.equal(await own.write(object(), comingUp("Gone.", "MachineUnreachable"), EVERY_MS), 2_000);
  at(12_000);
  const version = object().metadata.resourceVersion;
  assert.equal(await own.write(object(), ready(true), EVERY_MS), undefined, "what turns an object ready waits for nothing");
  assert.notEqual(object().metadata.resourceVersion, version);
});

test("that a cluster is taken over is said at once: who made it lets nothing go before", async () => {
  const { object, at, writer } = createStored();
  const own = writer();
  const { fields, conditions } = comingUp("Unmet: a.");
  const imported = (status: string, reason: string): WantedStatus =>
    ({ fields, conditions: [...conditions, { type: "Imported", status, reason, message: "So it is." }] }) as WantedStatus;
  await own.write(object(), imported("False", "ApprovalRequired"), 0);
  at(10_000);
  assert.equal(await own.write(object(), imported("True", "Imported"), EVERY_MS), undefined);
  assert.equal(object().status?.conditions?.at(-1)?.reason, "Imported");
});

test("that settings are in force on what still comes up waits like messages, and that they are not does not", async () => {
  const { object, at, writer } = createStored();
  const own = writer();
  const { fields, conditions } = comingUp("Unmet: a.");
  const saying = (status: string, reason: string): WantedStatus =>
    ({ fields, conditions: [...conditions, { type: "ConfigUpToDate", status, reason, message: "So it is." }] }) as WantedStatus;
  await own.write(object(), comingUp("Unmet: a."), 0);
  at(10_000);
  assert.equal(await own.write(object(), saying("True", "UpToDate"), EVERY_MS), 20_000);
  assert.equal(await own.write(object(), saying("False", "RollingOut"), EVERY_MS), 2_000);
});

test("what a ready object says of its machines does not wait for those that come up", async () => {
  const { object, at, writer } = createStored();
  const own = writer();
  const telling = (message: string): WantedStatus => {
    const { fields, conditions } = ready(true);
    const etcd = { type: "EtcdHealthy", status: "True", reason: "AllMembersHealthy", message };
    return { fields, conditions: [...conditions, etcd] } as WantedStatus;
  };
  await own.write(object(), telling("2 members."), EVERY_MS);
  at(EVERY_MS);
  assert.equal(await own.write(object(), telling("1 member."), EVERY_MS), undefined);
  assert.equal(object().status?.conditions?.[1]?.message, "1 member.");
});

test("a field that nobody knows any more goes, and one that somebody else wrote stays", async () => {
  const { object, at, writer } = createStored();
  const said = (version: string | undefined): WantedStatus => ({ ...ready(true), fields: { state: "Ready", observedVersion: version } });
  const fields = (): unknown => (object().status as { readonly observedVersion?: string }).observedVersion;
  const own = writer();
  await own.write(object(), said("v1.13.9"), EVERY_MS);
  at(60_000);
  assert.equal(await writer().write(object(), said(undefined), EVERY_MS), undefined);
  assert.equal(fields(), "v1.13.9", "another process cannot know whose it is");
  assert.equal(await own.write(object(), said(undefined), EVERY_MS), undefined);
  assert.equal(fields(), undefined);
});

test("what was made of one object is not said of another that has its name by now", async () => {
  const status = { kind: "Status", apiVersion: "v1", status: "Failure" } as const;
  const another = "9b2d5c51-0a3c-4c64-a0c5-2f0cbd6ad8b1";
  const applied: unknown[] = [];
  // As kube-apiserver answers: a UID in a patch is an attempt to change it.
  const transport: KubeTransport = {
    async send({ body }) {
      applied.push(body);
      const { uid } = (body as { readonly metadata: { readonly uid?: string } }).metadata;
      if (uid === undefined || uid === another) return { status: 200, headers: {}, body: body as object };
      const causes = [{ reason: "FieldValueInvalid", field: "metadata.uid", message: `Invalid value: "${uid}": field is immutable` }];
      return { status: 422, headers: {}, body: { ...status, reason: "Invalid", code: 422, message: "is invalid", details: { causes } } };
    },
    watch: () => Promise.reject(new Error("nobody watches here")),
    close: () => undefined,
  };
  const client = createKubeClient(transport);
  const writer = createStatusWriter<TalosControlPlane>(
    client,
    talosControlPlaneResource,
    { now: () => 0 },
    "talos-operator",
    silentTelling,
  );
  const before = createStored().object();
  assert.equal(await writer.write(before, ready(true)), 1_000);
  assert.equal(applied.length, 1);
  const now = { ...before, metadata: { ...before.metadata, uid: another } };
  assert.equal(await writer.write(now, ready(true)), undefined);
});

test("the answer to a new spec is written at once, whatever was written just now", async () => {
  const { object, writer } = createStored();
  const own = writer();
  const of = (observedGeneration: number): WantedStatus => {
    const { fields, conditions } = comingUp("Unmet: a.", "NodesNotReady", observedGeneration);
    return { fields: { ...fields, observedGeneration }, conditions };
  };
  await own.write(object(), of(1));
  assert.equal(await own.write(object(), of(2), EVERY_MS), undefined);
  assert.equal(object().status?.observedGeneration, 2);
});

test("an object that is left alone keeps what columns show, and the generation that it was judged by", async () => {
  const { object, writer } = createStored();
  const own = writer();
  const { conditions } = ready(true);
  const fields = { state: "Ready", observedVersion: "v1.13.9", machines: "3/3", observedGeneration: 1, imported: true };
  await own.write(object(), { fields, conditions });
  const paused = { type: "Paused", status: "True", reason: "ReconcileModeDisable", message: "It says disable." } as const;
  await own.write(object(), { fields: {}, conditions: [paused], keepsOthers: true });
  const { conditions: _, ...kept } = object().status ?? {};
  assert.deepEqual(kept, { ...fields, activity: "Paused" });
});

test("an object that is left alone keeps its words, though the condition that had them is gone", async () => {
  const { object, writer } = createStored();
  const own = writer();
  const [not] = ready(false).conditions;
  const message = "cp-2 has no empty disk: name one in machineSpec.installDisk.";
  const stalled = { type: "Stalled", status: "True", reason: "PersonNeeded", message } as const;
  await own.write(object(), { fields: {}, conditions: [{ ...not, message } as NonNullable<typeof not>, stalled] });
  const told = (): readonly unknown[] => (object().status?.conditions ?? []).map((one) => `${one.type}: ${one.message}`);
  assert.deepEqual(told(), ["Ready: See Stalled.", `Stalled: ${message}`]);
  const paused = { type: "Paused", status: "True", reason: "ReconcileModeDisable", message: "It says disable." } as const;
  await own.write(object(), { fields: {}, conditions: [paused], keepsOthers: true, drops: ["Stalled"] });
  assert.deepEqual(told(), [`Ready: ${message}`, "Paused: It says disable."]);
  const before = object();
  await own.write(object(), { fields: {}, conditions: [paused], keepsOthers: true, drops: ["Stalled"] });
  assert.deepEqual(object(), before, "nothing is written anew");
});

test("how far an upgrade is goes with it, though an earlier process said it, and is told as soon as a state", async () => {
  const { object, at, writer } = createStored();
  const upgrade = (stage: string): WantedStatus => ({ ...ready(true), fields: { state: "Ready", upgrade: { stage } } });
  const told = (): unknown => (object().status as { readonly upgrade?: unknown } | undefined)?.upgrade;
  const earlier = writer();
  await earlier.write(object(), upgrade("Pulling"), EVERY_MS);
  for (const [index, stage] of ["Installing", "Booting", "BakeTime"].entries()) {
    at((index + 1) * 1_000);
    await earlier.write(object(), upgrade(stage), EVERY_MS);
    assert.deepEqual(told(), { stage });
  }
  at(60_000);
  await writer().write(object(), { ...ready(true), fields: { state: "Ready", upgrade: undefined } }, EVERY_MS);
  assert.equal(told(), undefined);
});
