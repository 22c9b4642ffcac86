import assert from "node:assert/strict";
import { test } from "node:test";
import { talosClusterResource, talosControlPlaneResource } from "@talos-operator/api";
import type { TalosCluster, TalosControlPlane } from "@talos-operator/api";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createFakeApi } from "@talos-operator/kube-runtime/testing";
import { isEffectError } from "../errors.ts";
import { controlPlane, facts, observed } from "../testing/builders.ts";
import { createReading } from "../controllers/shared/latest.ts";
import { demandReconciled } from "./demand-reconciled.ts";
import type { Observed } from "../model/observation.ts";

const group = "/apis/talos.alperen.cloud/v1alpha1";
const mode = "talos.alperen.cloud/reconcile-mode";

const plain = controlPlane(1);
const owner = { apiVersion: "talos.alperen.cloud/v1alpha1", kind: "TalosCluster", name: "demo", uid: "c", controller: true };
const composed: TalosControlPlane = { ...plain, metadata: { ...plain.metadata, ownerReferences: [owner] } };

/** What is read on the way out, after a decision on `seen`. */
async function asked(
  words: { readonly own?: string; readonly cluster?: string; readonly isGone?: boolean; readonly isReplaced?: boolean },
  seen: Observed = observed({ controlPlane: composed, facts: facts() }),
): Promise<unknown> {
  const api = createFakeApi();
  const saying = (word: string | undefined): object => (word === undefined ? {} : { annotations: { [mode]: word } });
  const { controlPlane: before } = seen;
  const stored =
    words.isGone === true
      ? before
      : api.put(`${group}/taloscontrolplanes`, { ...before, metadata: { ...before.metadata, ...saying(words.own) } });
  const uid = words.isReplaced === true ? "another" : (stored.metadata?.uid ?? "");
  const decidedOn: Observed = { ...seen, controlPlane: { ...before, metadata: { ...before.metadata, uid } } };
  api.put(`${group}/talosclusters`, {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosCluster",
    metadata: { namespace: "default", name: "demo", uid: "c", ...saying(words.cluster) },
  });
  try {
    const client = createKubeClient(api.transport());
    const talosCluster = createReading<TalosCluster>(talosClusterResource, client);
    await demandReconciled({ talosCluster, controlPlane: createReading(talosControlPlaneResource, client) }, decidedOn);
    return undefined;
  } catch (thrown) {
    return isEffectError(thrown) ? thrown.code : thrown;
  }
}

const unrecorded = observed({ controlPlane: composed });
for (const [what, words, code, seen] of [
  ["nothing", {}, undefined],
  ["reconcile", { own: "reconcile", cluster: "reconcile" }, undefined],
  ["disable by itself", { own: "disable" }, "MODE_CHANGED"],
  ["dryrun by itself", { own: "DryRun" }, "MODE_CHANGED"],
  ["disable on its TalosCluster", { cluster: "disable" }, "MODE_CHANGED"],
  ["disable on a TalosCluster that did not make it", { cluster: "disable" }, undefined, observed({ controlPlane: plain, facts: facts() })],
  ["a word that nobody knows", { own: "sleepy" }, "MODE_CHANGED"],
  [
    "the unknown word of the decision",
    { own: "sleepy" },
    undefined,
    observed({ controlPlane: composed, facts: facts(), unknownMode: "sleepy" }),
  ],
  ["import, and there is a record", { own: "import", cluster: "disable" }, undefined],
  ["import, and there is no record", { own: "import" }, "MODE_CHANGED", unrecorded],
  [
    "nothing any more, and the decision was about an import",
    {},
    "MODE_CHANGED",
    { ...unrecorded, adoption: { isAsked: true, places: [], readings: new Map() } },
  ],
  [
    "nothing, and traces of another operator were why a cluster is taken over",
    {},
    undefined,
    { ...unrecorded, adoption: { isAsked: false, places: [], readings: new Map() } },
  ],
  [
    "import, which the decision was about",
    { own: "import" },
    undefined,
    { ...unrecorded, adoption: { isAsked: true, places: [], readings: new Map() } },
  ],
  ["nothing any more", { isGone: true }, undefined],
  ["nothing, and is another object by now", { isReplaced: true }, "MODE_CHANGED"],
] as const satisfies readonly (readonly [string, Parameters<typeof asked>[0], string | undefined, Observed?])[])
  test(`an effect on a control plane that says ${what} ${code === undefined ? "goes on" : "is held back"}`, async () => {
    assert.equal(await asked(words, seen), code);
  });
