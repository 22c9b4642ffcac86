import { mayHoldConfig } from "../record/facts.ts";
import type { Action } from "../model/effect.ts";
import type { AssessedMachine } from "../model/assessment.ts";
import type { Pass, PassInvariant } from "./pass.ts";
import { asksMachine, machineOf } from "./pass.ts";

type Bootstrap = Extract<Action, { readonly kind: "BootstrapEtcd" }>;

function bootstraps({ actions }: Pass): readonly Bootstrap[] {
  return actions.filter((action) => action.kind === "BootstrapEtcd");
}

function controlPlanes({ assessed: { machines, former } }: Pass): readonly AssessedMachine[] {
  return [...machines, ...former].filter(({ declared }) => declared.role === "controlplane");
}

/** Another control plane that shows data of etcd, or is out of sight and had a configuration. */
function holdsData({ look, fact }: AssessedMachine): boolean {
  if (look.kind !== "running") return look.kind !== "maintenance" && mayHoldConfig(fact);
  const { localMember, members, hasData } = look.etcd ?? {};
  return (localMember !== undefined && localMember !== "none") || (members?.length ?? 0) > 0 || hasData === true;
}

/** etcd is bootstrapped once, and the keys stay what they are. */
export const ofBootstrapAndKeys: readonly PassInvariant[] = [
  {
    id: "S1",
    says: "etcd is bootstrapped once in the life of a cluster.",
    broken(pass) {
      const sent = bootstraps(pass);
      const [first] = sent;
      if (sent.length > 1) return `${sent.length} machines are to bootstrap etcd`;
      if (first !== undefined && pass.before?.bootstrapDone !== undefined)
        return `${first.machine} is to bootstrap etcd, which was bootstrapped on ${pass.before.bootstrapDone.machine}`;
      if (pass.before?.bootstrapDone !== undefined && pass.after?.bootstrapDone === undefined)
        return "the record is to forget that etcd was bootstrapped";
      return undefined;
    },
  },
  {
    id: "S2",
    says: "No machine bootstraps etcd while another control plane holds its data, or is out of sight and was configured.",
    broken(pass) {
      const [first] = bootstraps(pass);
      if (first === undefined) return undefined;
      const other = controlPlanes(pass).find((machine) => machine.declared.name !== first.machine && holdsData(machine));
      if (other !== undefined) return `${first.machine} is to bootstrap etcd, and ${other.declared.name} may hold its data`;
      const unasked = controlPlanes(pass).find(
        ({ declared, isMember }) => isMember && !first.probe.some(({ machine }) => machine === declared.name),
      );
      return unasked === undefined ? undefined : `${first.machine} is to bootstrap etcd, and ${unasked.declared.name} is not asked before`;
    },
  },
  {
    id: "S3",
    says: "Only the machine that was written down is ever asked to bootstrap etcd.",
    broken(pass) {
      const [was, is] = [pass.before?.bootstrapIntent?.machine, pass.after?.bootstrapIntent?.machine];
      if (was !== undefined && is !== was && pass.after?.bootstrapDone === undefined)
        return `the record named ${was} to bootstrap etcd, and is to name ${is ?? "nobody"}`;
      const [first] = bootstraps(pass);
      return first === undefined || first.machine === is
        ? undefined
        : `${first.machine} is to bootstrap etcd, and ${is ?? "nobody"} is written down`;
    },
  },
  {
    id: "S4",
    says: "etcd counts as bootstrapped only when a control plane is in its own list of members.",
    broken(pass) {
      if (pass.before === undefined || pass.before.bootstrapDone !== undefined || pass.after?.bootstrapDone === undefined) return undefined;
      const isProved = controlPlanes(pass).some(
        ({ look }) => look.kind === "running" && look.etcd?.members?.some(({ id }) => id === look.etcd?.localMember) === true,
      );
      return isProved ? undefined : "etcd is to count as bootstrapped, and no control plane shows itself as a member";
    },
  },
  {
    id: "S5",
    says: "The keys of a cluster stay what they are, and are made once.",
    broken({ before, after, actions }) {
      if (before === undefined) return undefined;
      const made = actions.find(({ kind }) => kind === "CreateBundle" || kind === "TakeBundle");
      if (made !== undefined) return `keys are to be made beside ${before.bundle.secretName}`;
      const isSame = after?.bundle.secretName === before.bundle.secretName && after.bundle.fingerprint === before.bundle.fingerprint;
      return isSame ? undefined : `the record named the keys in ${before.bundle.secretName}, and is to name others`;
    },
  },
  {
    id: "S6",
    says: "Nothing is sent to machines while the keys are away, or are not those that the record names.",
    broken({ assessed: { seen }, before, actions }) {
      if (before === undefined || seen.bundle.kind === "unknown") return undefined;
      const isThere = seen.bundle.kind === "present" && seen.bundle.value.fingerprint === before.bundle.fingerprint;
      const sent = isThere ? undefined : actions.find(asksMachine);
      return sent === undefined
        ? undefined
        : `${sent.kind} is to go to ${machineOf(sent)}, and ${before.bundle.secretName} does not hold the keys`;
    },
  },
];
