import { reconcileModeOf, talosControlPlaneResource, talosWorkerResource } from "@talos-operator/api";
import type { TalosControlPlane, TalosWorker } from "@talos-operator/api";
import type { MachineName } from "../model/machine.ts";
import { leftAlone } from "./demand-unlisted.ts";
import type { Checks, Sending } from "./define.ts";

type Asked = Sending<{ readonly machine: MachineName }>;

/** The pool of the machine as it is stored now, and as it was seen. */
const poolNow = async ({ action, effects: { client, seen } }: Asked) => {
  const owner = [...seen.machines, ...seen.former].find(({ declared }) => declared.name === action.machine)?.declared.owner;
  if (owner === undefined) return { what: "pool", live: undefined, before: undefined };
  const { namespace = "" } = seen.controlPlane.metadata;
  const before = owner.kind === "TalosWorker" ? seen.workers.find(({ metadata }) => metadata.name === owner.name) : seen.controlPlane;
  const type = owner.kind === "TalosWorker" ? talosWorkerResource : talosControlPlaneResource;
  const live = await client.resource<TalosControlPlane | TalosWorker>(type).tryGet({ namespace, name: owner.name });
  return { what: `${owner.kind} ${owner.name}`, live, before };
};

/**
 * A person's wish stands that the machines of a pool are wiped with it: it is the object that was seen, it is being deleted, and neither its deletionPolicy nor
 * a pause says otherwise by now. A cache may be behind, and a wipe is not taken back: it is read live.
 */
export const poolGoes = {
  samePool: async (sending) => {
    const { what, live, before } = await sending.ask(poolNow);
    if (live === undefined || live.metadata.uid !== before?.metadata.uid) throw leftAlone(sending, `its ${what} is not there`);
  },
  poolDeleted: async (sending) => {
    const { what, live } = await sending.ask(poolNow);
    if (live?.metadata.deletionTimestamp === undefined) throw leftAlone(sending, `${what} is not being deleted`);
  },
  resetPolicy: async (sending) => {
    const { what, live } = await sending.ask(poolNow);
    if (live?.spec?.deletionPolicy === "preserve") throw leftAlone(sending, `deletionPolicy of ${what} is preserve`);
  },
  poolUnpaused: async (sending) => {
    const { what, live } = await sending.ask(poolNow);
    const mode = live === undefined ? "reconcile" : reconcileModeOf(live.metadata);
    if (mode === "disable" || mode === "dryrun") throw leftAlone(sending, `${what} says ${mode}`);
  },
} as const satisfies Checks<Asked>;
