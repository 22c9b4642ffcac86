import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations } from "@talos-operator/api";
import type { Hazard } from "@talos-operator/talos";
import { assess } from "../../assess/assess.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running, worker } from "../../testing/builders.ts";
import { configHashOf } from "../configure/config-hash.ts";
import { asMade } from "../../spec/fixed-properties.ts";
import { acceptedHazards } from "./accept-hazard.ts";
import type { SeenConfig } from "../../model/config.ts";
import type { AcceptedHazardFact, MachineFact } from "../../model/record.ts";

const hazard: Hazard = {
  code: "TALOS_API_BLOCKED",
  document: "NetworkDefaultActionConfig",
  path: "ingress",
  message: "a; b",
  holdsBack: true,
};

interface Over {
  readonly accepted?: string;
  readonly isRead?: boolean;
  readonly on?: "control plane";
  readonly meta?: Pick<MachineFact, "metaHash">;
}

/** What is done of a word on the pool of two workers whose settings changed; `isRead`: the second one was read. */
function said(value: string, over: Over = {}): unknown {
  const { accepted, isRead = true, on, meta = {} } = over;
  const word = { annotations: { [annotations.acceptHazard]: value } };
  const pool = worker(2);
  const known = facts({ bootstrapDone: founded, cni: undefined });
  const bare = observed({
    controlPlane: controlPlane(1, {}, on === undefined ? {} : word),
    facts: known,
    workers: [{ ...pool, metadata: { ...pool.metadata, ...(on === undefined ? word : {}) } }],
    looks: { "10.0.0.1": running(member(0, 1)), "10.0.1.1": running(), "10.0.1.2": running() },
  });
  const settingsOf = (index: number): string => configHashOf(bare.machines[index]!.declared, asMade(bare.controlPlane.spec!, known));
  const configs = new Map<string, SeenConfig>(
    bare.machines.map(({ declared: { name, role } }, index) => {
      if (index === 2 && !isRead) return [name, { kind: "unknown", detail: "silent" }];
      const change = {
        document: "v1alpha1/NetworkDefaultActionConfig/",
        path: "",
        change: "added",
        effect: "live",
        services: [],
        rebootsItself: false,
        reason: "",
        before: undefined,
        after: undefined,
      } as const;
      const more = role === "worker" ? { changes: [change], hazards: [hazard] } : { changes: [] };
      return [
        name,
        {
          kind: "known",
          at: NOW,
          settings: settingsOf(index),
          bootId: "b",
          version: "v1.13.9",
          activeHash: "applied",
          onDisk: "other",
          ...more,
        },
      ];
    }),
  );
  const machines = bare.machines.map(({ declared: { address, role, owner, name } }, index) =>
    configured(address, role, owner.name, {
      name,
      configHash: role === "worker" ? "old" : settingsOf(index),
      appliedHash: "applied",
      ...meta,
    }),
  );
  const standing: readonly AcceptedHazardFact[] =
    accepted === undefined ? [] : [{ code: "TALOS_API_BLOCKED", configHash: accepted === "now" ? settingsOf(1) : accepted, at: NOW }];
  const recorded = observed({ facts: { ...known, machines, acceptedHazards: standing } }).record;
  const verdict = acceptedHazards(assess({ ...bare, configs, record: recorded }));
  return verdict?.actions.map((action) => {
    if (action.kind === "WriteRecord") {
      const hashes = action.facts.acceptedHazards?.map(
        (one) => `${one.code} ${one.configHash === settingsOf(1) ? "these settings" : one.configHash}`,
      );
      return `accept ${hashes?.join(", ")}`;
    }
    return action.kind === "AnswerAnnotation" ? `${action.pool ?? "control plane"}: ${action.answer}` : action.kind;
  });
}

const removed = "The annotation acts once and is removed.";

describe("a person's word that accepts a hazard", () => {
  test("accepts it for the settings of now, and is answered on the pool", () =>
    assert.deepEqual(said("TALOS_API_BLOCKED"), [
      "accept TALOS_API_BLOCKED these settings",
      `demo-workers: Accepted TALOS_API_BLOCKED for the settings of demo-workers-10.0.1.1, demo-workers-10.0.1.2. ${removed}`,
    ]));
  test("is asked for anew for other settings", () =>
    assert.deepEqual(said("TALOS_API_BLOCKED", { accepted: "earlier" }), [
      "accept TALOS_API_BLOCKED earlier, TALOS_API_BLOCKED these settings",
      `demo-workers: Accepted TALOS_API_BLOCKED for the settings of demo-workers-10.0.1.1, demo-workers-10.0.1.2. ${removed}`,
    ]));
  test("is answered by the process that comes after the one that accepted it", () =>
    assert.deepEqual(said("TALOS_API_BLOCKED", { accepted: "now" }), [
      `demo-workers: Accepted TALOS_API_BLOCKED for the settings of TalosWorker demo-workers. ${removed}`,
    ]));
  test("says what holds the settings back where it names something else", () =>
    assert.deepEqual(said("CLUSTER_SUBNETS_OVERLAP"), [
      `demo-workers: Accepted nothing: settings of TalosWorker demo-workers have no hazard "CLUSTER_SUBNETS_OVERLAP"; TALOS_API_BLOCKED holds them back. ${removed}`,
    ]));
  test("waits until every machine that gets other settings was read", () =>
    assert.equal(said("CLUSTER_SUBNETS_OVERLAP", { isRead: false }), undefined));
  test("waits until META was read where other settings are to stand there", () =>
    assert.equal(said("CLUSTER_SUBNETS_OVERLAP", { meta: { metaHash: "of-before" } }), undefined));
  test("on another pool accepts nothing for this one", () =>
    assert.deepEqual(said("TALOS_API_BLOCKED", { on: "control plane" }), [
      `control plane: Accepted nothing: settings of TalosControlPlane demo have no hazard "TALOS_API_BLOCKED"; no hazard holds them back. ${removed}`,
    ]));
});
