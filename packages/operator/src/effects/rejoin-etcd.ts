import { EffectError } from "../errors.ts";
import { etcdHasData } from "../looking/etcd-files.ts";
import { LOOK_TIMEOUT_MS, seenEtcd } from "../looking/look-at.ts";
import { stoppedWithoutData } from "../assess/etcd-view.ts";
import { despiteAlarms } from "../assess/quorum.ts";
import { withEtcd, withEtcdOf } from "../planning/afterwards-machines.ts";
import { onMachine } from "../planning/step-of.ts";
import { intentOn } from "../record/facts.ts";
import type { MachineName } from "../model/machine.ts";
import { noteNotSent } from "./attempt.ts";
import { always, rememberedAs } from "./define.ts";
import { sameMachine } from "./demand-machine.ts";
import { othersSay } from "./demand-quorum.ts";
import { defineSend, toMachine } from "./send-to-machine.ts";

interface RejoinEtcd {
  readonly machine: MachineName;
  readonly address: string;
  readonly ifUuid: string;
}

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** A machine that has left etcd boots, whereupon it joins anew. Under the intent of its replacement. */
    RejoinEtcd: RejoinEtcd;
  }
}

const retry = { word: "RejoinEtcd", refusals: ["PERMISSION_DENIED", "UNIMPLEMENTED", "NODE_FAILED"], pauseMs: always(120_000) } as const;

/** What a plan calls the member that it will have. */
const NEXT_MEMBER = "(the next one)";

/**
 * Boots a machine whose member has left etcd: nothing else starts its etcd again. It takes no vote along, and one whose etcd is on its way already, or that is in
 * another's list, is not booted: so a repetition is harmless.
 */
export const rejoinEtcd = defineSend("RejoinEtcd", {
  inventory: "T11",
  ...toMachine,
  disrupts: "machine",
  intent: "ReplaceMember",
  retry,
  checks: {
    sameMachine,
    membersKnown: async (connected) => {
      const view = despiteAlarms(await connected.ask(othersSay));
      if (view.kind === "unsafe") throw new EffectError("PRECONDITION_GONE", view.message);
    },
    hasLeft: async (connected) => {
      const view = despiteAlarms(await connected.ask(othersSay));
      const { machine } = connected.action;
      const member = intentOn(connected.effects.facts(), machine, "ReplaceMember")?.memberId;
      if (view.kind === "known" && view.members.some(({ id }) => id === member))
        throw new EffectError("PRECONDITION_GONE", `etcd lists the member of ${machine} still`);
    },
    emptied: async ({ action, client, effects: { signal } }) => {
      const options = { timeoutMs: LOOK_TIMEOUT_MS, signal };
      const [etcd, hasData] = await Promise.all([seenEtcd(client, options), etcdHasData(client, options)]);
      if (!stoppedWithoutData(hasData === undefined ? etcd : { ...etcd, hasData }))
        throw new EffectError("PRECONDITION_GONE", `etcd on ${action.machine} has not stopped without data`);
    },
  },
  record: { uuid: (facts, { machine, ifUuid }) => intentOn(facts, machine, "ReplaceMember")?.uuid === ifUuid },
  doing: "Rebooting machine to join etcd anew",
  send: ({ client }, options) => client.reboot({}, options),
  ended(ending, { action: { machine }, effects }) {
    if (ending.kind === "not-sent") noteNotSent(rememberedAs({ retry }, machine), ending, effects);
    if (ending.kind === "refused")
      effects.event("EtcdCareFailed", "RejoinEtcd", `${machine} does not boot to join etcd anew: ${ending.words}`);
  },
  lastly: ({ action, effects }) => effects.session.machines.nudge(action.machine),
  step: ({ machine }) => onMachine("reboot", machine, (named) => `Reboot ${named}: it joins etcd anew, with the data of the others.`),
  afterwards(seen, { machine }) {
    const next = { id: NEXT_MEMBER, name: machine, isLearner: false, peerUrls: [] };
    const others = withEtcd(seen, (etcd, members) => ({ ...etcd, members: [...members, next] }));
    const told = others.machines.find(({ look }) => look.kind === "running" && look.etcd?.members !== undefined)?.look;
    const members = told?.kind === "running" ? told.etcd?.members : undefined;
    const leader = told?.kind === "running" ? told.etcd?.leader : undefined;
    return withEtcdOf(others, machine, ({ hasData: _hasData, ...etcd }) => ({
      ...etcd,
      service: "Running",
      isHealthy: true,
      localMember: NEXT_MEMBER,
      members,
      leader,
    }));
  },
});
