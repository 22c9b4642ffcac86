import type { TalosErrorCode } from "@talos-operator/talos/client";
import { EffectError } from "../errors.ts";
import { nextForFull } from "../procedures/care/no-space.ts";
import { withEtcd, withFacts } from "../planning/afterwards-machines.ts";
import { onMachine } from "../planning/step-of.ts";
import { factsOf, intentOn, withoutIntent } from "../record/facts.ts";
import type { MachineName } from "../model/machine.ts";
import { noteNotAsked } from "./attempt.ts";
import { always, rememberedAs } from "./define.ts";
import type { Check } from "./define.ts";
import { sameMachine } from "./demand-machine.ts";
import { membersNow, ownMember } from "./demand-quorum.ts";
import { defineSend, toMachine } from "./send-to-machine.ts";
import type { Connected } from "./send-to-machine.ts";

interface DisarmAlarms {
  /** Through whom. */
  readonly machine: MachineName;
  readonly address: string;
  readonly ifUuid: string;
}

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Takes back every alarm of every member. The intent stands in the record. */
    DisarmAlarms: DisarmAlarms;
  }
}

const refusals: readonly TalosErrorCode[] = ["PERMISSION_DENIED", "FAILED_PRECONDITION", "UNIMPLEMENTED", "NODE_FAILED"];
const retry = { word: "DisarmAlarms", refusals, pauseMs: always(30_000) } as const;

type Asked = Connected<DisarmAlarms>;

/** Every alarm goes at once, that of corrupt data, too: it is asked for only where full files are all there is. */
const onlyFull: Check<Asked> = async (connected) => {
  const { view } = await connected.ask(membersNow);
  if (view.kind === "unsafe" && view.beneath === undefined) throw new EffectError("PRECONDITION_GONE", view.message);
  if (view.kind === "known") throw new EffectError("PRECONDITION_GONE", "no member of etcd reports an alarm");
};

/** By what the members tell now: a file without room would raise the alarm anew with the next write. */
const hasRoom: Check<Asked> = async (connected) => {
  const { view, seen } = await connected.ask(membersNow);
  if (view.kind === "known" || view.beneath === undefined) return;
  const next = nextForFull(seen, connected.effects.facts(), view.beneath);
  if (next.kind !== "disarm") throw new EffectError("PRECONDITION_GONE", "the file of a member has no room below its quota");
};

/** Takes back the alarm of an etcd that was full. A repetition is harmless: what is still amiss raises it anew. */
export const disarmAlarms = defineSend("DisarmAlarms", {
  inventory: "T13",
  ...toMachine,
  disrupts: "nothing",
  intent: "DisarmAlarms",
  retry,
  checks: { sameMachine, ownMember, onlyFull, hasRoom },
  record: { uuid: (facts, { machine, ifUuid }) => intentOn(facts, machine, "DisarmAlarms")?.uuid === ifUuid },
  doing: "Taking back alarms of etcd",
  send: ({ client }, options) => client.etcdAlarmDisarm(options),
  taken: ({ action, effects }) =>
    effects.event("Reconciling", "DisarmAlarms", `Disarmed the alarms of etcd through ${action.machine}: what raised them is cured.`),
  ended(ending, { action: { machine }, effects }) {
    if (ending.kind === "not-sent") noteNotAsked(rememberedAs({ retry }, machine), effects);
    if (ending.kind === "refused")
      effects.event("EtcdCareFailed", "DisarmAlarms", `${machine} does not take the alarm back: ${ending.words}`);
  },
  lastly: ({ action, effects }) => effects.session.machines.nudge(action.machine),
  step: ({ machine }) => onMachine("etcd care", machine, (named) => `Take back the alarms of etcd: ${named}.`),
  afterwards(seen, { machine }) {
    const facts = factsOf(seen);
    const after = withEtcd(seen, ({ alarms: _alarms, raised: _raised, ...etcd }, members) => ({ ...etcd, members }));
    return facts === undefined ? after : withFacts(after, withoutIntent(facts, machine, "DisarmAlarms"));
  },
});
