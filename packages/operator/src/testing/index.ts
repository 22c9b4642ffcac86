/** The brain without its body, for tests that explore it: rules, and observations to ask them about. */
export { assess } from "../assess/assess.ts";
export { decide, defaultRules } from "../decide.ts";
export { controlPlane, facts, inMaintenance, NOW, observed, preparing, running, silent } from "./builders.ts";
export { configured, member, worker } from "./builders.ts";
export { LargeCluster } from "./large-cluster.ts";
export type { LargePass } from "./large-cluster.ts";
export { kstatus } from "./kstatus-oracle.ts";
export type { Kstatus, ReadObject } from "./kstatus-oracle.ts";
export { createMemoryFiles } from "./memory-files.ts";
export { decidedPass } from "./effects.ts";
export { effects } from "../effects/definitions.ts";
export { checksOf, without } from "./checks-of.ts";
export { recordHolds } from "../effects/define.ts";
export type { CheckOf, LastLookName, LiveCheckOf } from "./checks-of.ts";
export { configQuestion } from "../procedures/configure/config-questions.ts";
export { machinesOf } from "../spec/declared.ts";
/** The operator loads it with its first schedule; a world whose clock waits for nothing real has it from the start. */
export { readSchedule } from "../controllers/talosetcdbackupschedule/cron.ts";
export { printRecord, readRecord } from "../record/facts-codec.ts";
export { quorumOf, projectWithout, settled } from "../assess/quorum.ts";

export type { SendDefinition } from "../effects/send-to-machine.ts";
export type { DecidedPass, PassOptions } from "./effects.ts";
export type { MemoryFiles } from "./memory-files.ts";
export type { Leading } from "../leading.ts";
export type { ClusterFacts, IntentFact } from "../model/record.ts";
export type { Action, ActionOf, EffectKind } from "../model/effect.ts";
export type { Observed, SeenMachine } from "../model/observation.ts";
export type { Rule } from "../model/decision.ts";
export type { EtcdMember, SeenEtcd } from "../model/look.ts";
