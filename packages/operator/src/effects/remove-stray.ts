import { talosControlPlaneResource, talosMachineResource } from "@talos-operator/api";
import type { TalosControlPlane, TalosMachine } from "@talos-operator/api";
import type { TalosErrorCode } from "@talos-operator/talos/client";
import { EffectError } from "../errors.ts";
import { besideFull } from "../assess/quorum.ts";
import { strayMembers } from "../assess/stray-members.ts";
import { isHandMade } from "../spec/hand-made.ts";
import { withEtcd, withFacts } from "../planning/afterwards-machines.ts";
import { onMachine } from "../planning/step-of.ts";
import { factsOf, intentOn, withoutIntent } from "../record/facts.ts";
import type { MachineName } from "../model/machine.ts";
import type { Sending } from "./define.ts";
import { sameMachine } from "./demand-machine.ts";
import { membersNow, quorumWithout } from "./demand-quorum.ts";
import { namesIn } from "./demand-unlisted.ts";
import { endRemoval } from "./member-removal.ts";
import { acceptedPauseMs } from "./reset-machine.ts";
import { defineSend, toMachine } from "./send-to-machine.ts";

interface RemoveStray {
  /** Through whom. */
  readonly machine: MachineName;
  readonly address: string;
  readonly ifUuid: string;
  readonly memberId: string;
}

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Takes a member that belongs to no machine out of etcd's list. Asked of a healthy member, on which the intent stands. */
    RemoveStray: RemoveStray;
  }
}

const refusals: readonly TalosErrorCode[] = ["NOT_FOUND", "PERMISSION_DENIED", "FAILED_PRECONDITION", "UNIMPLEMENTED", "NODE_FAILED"];
const retry = { word: "RemoveStray", refusals, pauseMs: acceptedPauseMs } as const;

/** The control plane as it is stored now, and the machines that are its own by hand. */
const listNow = async ({ effects: { client, seen } }: Sending) => {
  const { namespace = "", name } = seen.controlPlane.metadata;
  const [controlPlane, machines] = await Promise.all([
    client.resource<TalosControlPlane>(talosControlPlaneResource).tryGet({ namespace, name }),
    client.resource<TalosMachine>(talosMachineResource).list({ namespace }),
  ]);
  const byHand = machines.items.filter((machine) => isHandMade(machine) && machine.spec?.controlPlaneRef?.name === name);
  return { controlPlane, byHand: byHand.map(({ metadata }) => metadata.name) };
};

/**
 * Takes a member that belongs to no machine out of etcd's list.
 *
 * Talos hands the id to etcd and looks at nothing, so the whole guard is here: by what every control plane shows now the member is nobody's and nobody may be it, the
 * list of machines is the one that this was decided on, the others keep their quorum, and the record holds this very intent. A repetition is harmless: the id
 * never comes back.
 */
export const removeStray = defineSend("RemoveStray", {
  inventory: "T8",
  ...toMachine,
  whom: ({ memberId }) => memberId,
  disrupts: "etcd member",
  intent: "RemoveStray",
  retry,
  checks: {
    sameMachine,
    ...quorumWithout<RemoveStray>("leaves", ({ machine, memberId }) => ({ machine, memberId }), besideFull),
    nobodys: async (connected) => {
      const { memberId } = connected.action;
      const { seen, view: told } = await connected.ask(membersNow);
      const view = besideFull(told);
      if (view.kind === "unsafe") return;
      const stray = strayMembers(seen, connected.effects.facts(), view).find(({ member }) => member.id === memberId);
      if (stray === undefined || stray.mayBeOf !== undefined || stray.isForgotten === true)
        throw new EffectError("PRECONDITION_GONE", `member ${memberId} belongs to a machine of this cluster, or may`);
    },
    sameList: async (connected) => {
      const { controlPlane, byHand } = await connected.ask(listNow);
      const { seen } = connected.effects;
      const known = new Set(seen.machines.map(({ declared }) => declared.name));
      const isSame =
        controlPlane?.metadata.uid === seen.controlPlane.metadata.uid &&
        controlPlane?.metadata.deletionTimestamp === undefined &&
        [...(controlPlane === undefined ? [] : namesIn(controlPlane)), ...byHand].every((name) => known.has(name));
      if (!isSame) throw new EffectError("PRECONDITION_GONE", "other machines are listed by now");
    },
  },
  record: {
    member: (facts, { machine, memberId }) => intentOn(facts, machine, "RemoveStray")?.memberId === memberId,
    uuid: (facts, { machine, ifUuid }) => intentOn(facts, machine, "RemoveStray")?.uuid === ifUuid,
  },
  doing: "Removing stray etcd member",
  send: ({ client, action }, options) => client.etcdRemoveMemberById(action.memberId, options),
  taken: ({ action: { memberId }, effects }) =>
    effects.event("Reconciling", "RemoveStray", `Removed member ${memberId} from etcd: it belongs to no machine of this cluster.`),
  ended: (ending, { action: { machine, memberId }, effects }) =>
    endRemoval(
      ending,
      retry,
      memberId,
      effects,
      (words) => `${machine} refused to remove member ${memberId}, which belongs to no machine: ${words}`,
    ),
  lastly: ({ action, effects }) => effects.session.machines.nudge(action.machine),
  step: ({ machine, memberId }) =>
    onMachine(
      "membership",
      machine,
      (named) => `Remove member ${memberId} of etcd, which belongs to no machine of this cluster, through ${named}.`,
    ),
  afterwards(seen, { machine, memberId }) {
    const facts = factsOf(seen);
    const without = withEtcd(seen, (etcd, members) => ({ ...etcd, members: members.filter(({ id }) => id !== memberId) }));
    return facts === undefined ? without : withFacts(without, withoutIntent(facts, machine, "RemoveStray"));
  },
});
