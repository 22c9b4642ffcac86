/** The brain without its body, for tests that explore it: rules, and observations to ask them about. */
export { decide, defaultRules } from "../controllers/taloscontrolplane/decide.ts";
export { controlPlane, facts, inMaintenance, NOW, observed, preparing, running, silent } from "./builders.ts";
export { quorumOf, projectWithout, settled } from "../controllers/taloscontrolplane/quorum.ts";

export type { ClusterFacts } from "../controllers/taloscontrolplane/facts.ts";
export type { Action, Observed, Rule, SeenMachine } from "../controllers/taloscontrolplane/model.ts";
export type { EtcdMember, SeenEtcd } from "../looking/look.ts";
