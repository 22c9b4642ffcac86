import { resourceKinds } from "@talos-operator/talos/client";
import { EffectError, isEffectError } from "../errors.ts";
import { LOOK_TIMEOUT_MS } from "../looking/look-at.ts";
import { withCordon } from "../planning/afterwards-nodes.ts";
import { onMachine } from "../planning/step-of.ts";
import { intentOn, machineFact } from "../record/facts.ts";
import type { MachineName } from "../model/machine.ts";
import { defineEffect, recordHolds } from "./define.ts";
import { unpaused } from "./demand-unpaused.ts";
import { placeOf, workloadOf } from "./tend-nodes.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Begins, or keeps going, the drain of the machine's Node. It runs beside the passes and wakes the cluster. */
    CordonAndDrain: {
      readonly machine: MachineName;
      readonly address: string;
      readonly ifUuid: string;
      /** The pod of this process stays. */
      readonly keepsItself?: true;
    };
  }
}

/** Begins the drain of a machine's Node, or keeps it going. It goes on after this returns, and asks again before each handful. */
export const cordonAndDrain = defineEffect("CordonAndDrain", {
  inventory: "WL1",
  at: "workload",
  machine: ({ machine }) => machine,
  disrupts: "machine",
  goesTogether: true,
  before: { unpaused },
  record: {
    sameMachine: (facts, { machine, ifUuid }) => machineFact(facts, machine)?.uuid === ifUuid,
    noIntent: (facts, { machine }) => intentOn(facts, machine) === undefined,
  },
  carryOut({ action, effects }, { record }) {
    const { session, log, guard } = effects;
    const { machine, address, ifUuid, keepsItself } = action;
    const keeps = keepsItself === undefined ? {} : { keepsItself };
    workloadOf(effects).ask(
      { machine, address, uuid: ifUuid, ...keeps, why: `${effects.seen.controlPlane.metadata.name}/${machine}` },
      {
        // The machine itself says under which name it registers; the certificate on this connection proves that it is one of the cluster's.
        nodeName: async () => {
          const credentials = session.machines.credentials();
          const client = credentials === undefined ? undefined : session.machines.connections(machine)?.mutual(credentials);
          if (client === undefined) throw new EffectError("PRECONDITION_GONE", `${machine} is not watched`);
          return (await client.resources.get(resourceKinds.nodeName, undefined, { timeoutMs: LOOK_TIMEOUT_MS }))?.spec.nodeName;
        },
        demand: async () => {
          await effects.demandUnpaused(machine);
          try {
            return await guard.check((facts) => recordHolds(record, facts, action));
          } catch (thrown) {
            // No pass hears of it: the next one reads anew what was remembered wrongly.
            if (isEffectError(thrown, "RECORD_CHANGED")) session.record = undefined;
            throw thrown;
          }
        },
        log: log.child({ machine }),
      },
      placeOf(effects),
    );
  },
  step: ({ machine }) => onMachine("drains", machine, (named) => `Cordon and drain the Node of ${named}, within the PodDisruptionBudgets.`),
  // No budget holds it up.
  afterwards(seen, { machine }) {
    const { now } = seen;
    const drain = { startedAt: now, askedAt: now, ranMs: 0, unreachableMs: 0, state: { kind: "drained", at: now } } as const;
    return withCordon({ ...seen, drains: new Map([...(seen.drains ?? []), [machine, drain]]) }, machine);
  },
});
