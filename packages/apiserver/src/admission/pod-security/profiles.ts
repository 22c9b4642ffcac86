import type { JsonObject } from "../../json.ts";
import {
  checkAppArmor,
  checkCapabilities,
  checkHostNamespaces,
  checkHostPaths,
  checkHostPorts,
  checkHostProcess,
  checkPrivileged,
  checkProbedHosts,
  checkProcMount,
  checkProcMountOfHostUsers,
  checkSeccomp,
  checkSeccompAnnotations,
  checkSelinuxWith,
  checkSysctlsWith,
  safeSysctls,
  selinuxTypes,
} from "./baseline.ts";
import { checkedPod } from "./checked-pod.ts";
import type { PodCheck, Violation } from "./checked-pod.ts";
import {
  checkDroppedCapabilities,
  checkEscalation,
  checkNonRoot,
  checkSeccompSaid,
  checkUser,
  checkVolumes,
  unlessOwnUsers,
  unlessWindows,
} from "./restricted.ts";

/** The profiles of the Pod Security Standards, the most open first. */
export const securityLevels = ["privileged", "baseline", "restricted"] as const;

export type SecurityLevel = (typeof securityLevels)[number];

/** A profile as one minor version of Kubernetes knew it; `latest` is later than any. */
export interface SecurityPolicy {
  readonly level: SecurityLevel;
  readonly minor: number | "latest";
}

/** One rule in its forms: each counts from a minor version until the next. */
interface Rule {
  readonly forms: readonly (readonly [since: number, check: PodCheck])[];
  /** The rule of `restricted` that says more than this one, and from when on it is asked instead. */
  readonly replaced?: { readonly since: number };
}

const keepAlive = ["time", "intvl", "probes"].map((name) => `net.ipv4.tcp_keepalive_${name}`);
const reserved = [...safeSysctls, "net.ipv4.ip_local_reserved_ports"];
const timed = [...reserved, ...keepAlive, "net.ipv4.tcp_fin_timeout"];

// Both in the order in which violations are told.
const baseline: readonly Rule[] = [
  { forms: [[0, checkAppArmor]] },
  { forms: [[0, checkCapabilities]], replaced: { since: 22 } },
  { forms: [[0, checkHostNamespaces]] },
  { forms: [[0, checkHostPaths]], replaced: { since: 0 } },
  { forms: [[0, checkHostPorts]] },
  { forms: [[34, checkProbedHosts]] },
  { forms: [[0, checkPrivileged]] },
  {
    forms: [
      [0, checkProcMount],
      [35, checkProcMountOfHostUsers],
    ],
    replaced: { since: 35 },
  },
  {
    forms: [
      [0, checkSelinuxWith(selinuxTypes)],
      [31, checkSelinuxWith([...selinuxTypes, "container_engine_t"])],
    ],
  },
  {
    forms: [
      [0, checkSeccompAnnotations],
      [19, checkSeccomp],
    ],
    replaced: { since: 19 },
  },
  {
    forms: [
      [0, checkSysctlsWith(safeSysctls)],
      [27, checkSysctlsWith(reserved)],
      [29, checkSysctlsWith(timed)],
      [32, checkSysctlsWith([...timed, "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"])],
    ],
  },
  { forms: [[0, checkHostProcess]] },
];

const restricted: readonly Rule[] = [
  {
    forms: [
      [8, checkEscalation],
      [25, unlessWindows(checkEscalation)],
    ],
  },
  {
    forms: [
      [22, checkDroppedCapabilities],
      [25, unlessWindows(checkDroppedCapabilities)],
    ],
  },
  { forms: [[35, checkProcMount]] },
  { forms: [[0, checkVolumes]] },
  {
    forms: [
      [0, checkNonRoot],
      [35, unlessOwnUsers(checkNonRoot)],
    ],
  },
  {
    forms: [
      [23, checkUser],
      [35, unlessOwnUsers(checkUser)],
    ],
  },
  {
    forms: [
      [19, checkSeccompSaid],
      [25, unlessWindows(checkSeccompSaid)],
    ],
  },
];

/** What a policy does not allow of a pod or a template, rule by rule; empty for what it allows. */
export function violationsOf(policy: SecurityPolicy, pod: JsonObject): readonly Violation[] {
  if (policy.level === "privileged") return [];
  const minor = policy.minor === "latest" ? Infinity : policy.minor;
  const isRestricted = policy.level === "restricted";
  const rules = isRestricted
    ? [...baseline.filter(({ replaced }) => replaced === undefined || minor < replaced.since), ...restricted]
    : baseline;
  const seen = checkedPod(pod);
  return rules.flatMap(({ forms }) => forms.findLast(([since]) => since <= minor)?.[1](seen) ?? []);
}

/** `restricted:latest`, `baseline:v1.30`. */
export function nameOf({ level, minor }: SecurityPolicy): string {
  return `${level}:${minor === "latest" ? minor : `v1.${minor}`}`;
}
