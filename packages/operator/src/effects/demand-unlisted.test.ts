import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createFakeApi } from "@talos-operator/kube-runtime/testing";
import { isEffectError } from "../errors.ts";
import { configured, controlPlane, facts, observed, running, worker } from "../testing/builders.ts";
import { askAll, sendingOf } from "./define.ts";
import type { Sending } from "./define.ts";
import { unlisted } from "./demand-unlisted.ts";
import type { Effects } from "./ports.ts";

const leaver = "demo-10.0.0.3";
const workerName = "demo-workers-10.0.1.2";
const group = "/apis/talos.alperen.cloud/v1alpha1";

interface Stored {
  readonly controlPlane?: TalosControlPlane | undefined;
  readonly worker?: TalosWorker | undefined;
  readonly machine?: Pick<TalosMachine, "metadata">;
  /** Another pool, which the record names for the worker. */
  readonly recorded?: TalosWorker;
  /** UID that was seen; default the one that is stored. */
  readonly seenUid?: string;
}

/** Control plane and pool without their last machines, as they are stored by now. */
async function demand(name: string, stored: Stored = {}): Promise<void> {
  const api = createFakeApi();
  const now = { controlPlane: controlPlane(2), worker: worker(1), ...stored };
  const put = now.controlPlane === undefined ? undefined : api.put(`${group}/taloscontrolplanes`, now.controlPlane);
  if (now.worker !== undefined) api.put(`${group}/talosworkers`, now.worker);
  if (now.recorded !== undefined) api.put(`${group}/talosworkers`, now.recorded);
  if (now.machine !== undefined)
    api.put(`${group}/talosmachines`, { apiVersion: "talos.alperen.cloud/v1alpha1", kind: "TalosMachine", ...now.machine });
  const declared = { name, address: "10.0.0.3", field: "record", version: "v1.13.9", machineSpec: {} };
  const owner =
    name === workerName
      ? ({ kind: "TalosWorker", name: now.worker?.metadata.name ?? "demo-workers" } as const)
      : { kind: "TalosControlPlane" as const, name: "demo" };
  const role = name === workerName ? ("worker" as const) : ("controlplane" as const);
  const uid = stored.seenUid ?? put?.metadata?.uid ?? "gone";
  const seen = observed({
    controlPlane: controlPlane(2, {}, { uid }),
    former: [{ declared: { ...declared, role, owner }, look: running() }],
  });
  const pool = now.recorded === undefined ? {} : { pool: now.recorded.metadata.name };
  const known = facts({ machines: [configured("10.0.0.3", role, "demo", { name, ...pool })] });
  const effects = { client: createKubeClient(api.transport()), seen, facts: () => known } as Effects;
  await askAll(unlisted, sendingOf<Sending<{ readonly machine: string }>>({ machine: name }, effects, {}));
}

const handMade = { metadata: { namespace: "default", name: leaver } };
const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["talos-operator.dev/test"] };
const mode = (word: string): object => ({ annotations: { "talos.alperen.cloud/reconcile-mode": word } });
const others = (name: string): TalosWorker => {
  const pool = worker(1);
  return { ...pool, spec: { ...pool.spec, controlPlaneRef: { name } } } as TalosWorker;
};

/** A pool that a person wrote into its TalosMachine. */
const other = (count: number): TalosWorker => {
  const pool = worker(count);
  return { ...pool, metadata: { ...pool.metadata, name: "other" } };
};

describe("a machine that no spec lists", () => {
  for (const [what, name, stored] of [
    ["a control plane", leaver, {}],
    ["a worker", workerName, {}],
    [
      "one whose object belongs to the pool",
      leaver,
      {
        machine: {
          metadata: { ...handMade.metadata, ownerReferences: [{ apiVersion: "v1", kind: "x", name: "x", uid: "x", controller: true }] },
        },
      },
    ],
    ["one whose object was made by hand and is being deleted", leaver, { machine: { metadata: { ...handMade.metadata, ...deleted } } }],
  ] as const satisfies readonly (readonly [string, string, Stored])[])
    test(`may leave: ${what}`, () => demand(name, stored));

  for (const [what, name, stored, word] of [
    ["its control plane is not there", leaver, { controlPlane: undefined }, "its TalosControlPlane is not there"],
    ["its control plane is another object by now", leaver, { seenUid: "another" }, "its TalosControlPlane is not there"],
    ["its pool is not there", workerName, { worker: undefined }, "its TalosWorker is not there"],
    ["its control plane is being deleted", leaver, { controlPlane: controlPlane(2, {}, deleted) }, "is being deleted"],
    ["its pool is being deleted", workerName, { worker: worker(1, deleted) }, "is being deleted"],
    ["its control plane is paused", leaver, { controlPlane: controlPlane(2, {}, mode("disable")) }, "is not reconciled"],
    ["its pool is only tried", workerName, { worker: worker(1, mode("dryrun")) }, "is not reconciled"],
    ["its control plane lists it again", leaver, { controlPlane: controlPlane(3) }, "lists it"],
    ["its pool lists it again", workerName, { worker: worker(2) }, "lists it"],
    ["the pool that it was written down with lists it again", workerName, { worker: other(1), recorded: worker(2) }, "lists it"],
    ["its pool belongs to another control plane", workerName, { worker: others("another") }, "belongs to another control plane"],
    ["its object was made by hand", leaver, { machine: handMade }, "made by hand"],
  ] as const satisfies readonly (readonly [string, string, Stored, string])[])
    test(`is left alone when ${what}`, async () => {
      await assert.rejects(demand(name, stored), (thrown) => isEffectError(thrown, "PRECONDITION_GONE") && thrown.message.includes(word));
    });

  test("is left alone when a reference of its name is listed, whether it leads anywhere or not", async () => {
    const listed = controlPlane(2, {
      metalSpec: { machines: [{ machineRef: { apiVersion: "v1", kind: "Host", name: "r1", fieldPath: ".status.ip" } }] },
    });
    await assert.rejects(demand("demo-r1", { controlPlane: listed }), (thrown) => isEffectError(thrown, "PRECONDITION_GONE"));
  });
});
