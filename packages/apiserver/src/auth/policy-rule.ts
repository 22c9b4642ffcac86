import type { JsonObject } from "../json.ts";
import { stringsAt } from "../request/json.ts";

/** One rule of a Role or ClusterRole. Absent lists are empty. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** What a rule is held against; `path` is empty for a request to a resource. */
export interface WantedAccess {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  readonly path: string;
}

/** Reads a stored rule. */
export function toPolicyRule(rule: JsonObject): PolicyRule {
  return {
    verbs: stringsAt(rule, "verbs"),
    apiGroups: stringsAt(rule, "apiGroups"),
    resources: stringsAt(rule, "resources"),
    resourceNames: stringsAt(rule, "resourceNames"),
    nonResourceURLs: stringsAt(rule, "nonResourceURLs"),
  };
}

/** True when the rule allows this access. */
export function allows(rule: PolicyRule, wanted: WantedAccess): boolean {
  if (!hasOrAll(rule.verbs, wanted.verb)) return false;
  if (wanted.path !== "") return rule.nonResourceURLs.some((pattern) => matchesUrl(pattern, wanted.path));
  return (
    hasOrAll(rule.apiGroups, wanted.group) &&
    matchesResource(rule.resources, wanted.resource, wanted.subresource) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(wanted.name))
  );
}

function hasOrAll(values: readonly string[], wanted: string): boolean {
  return values.includes("*") || values.includes(wanted);
}

function matchesResource(patterns: readonly string[], resource: string, subresource: string): boolean {
  const whole = subresource === "" ? resource : `${resource}/${subresource}`;
  return patterns.some((pattern) => pattern === "*" || pattern === whole || (subresource !== "" && pattern === `*/${subresource}`));
}

function matchesUrl(pattern: string, path: string): boolean {
  return pattern === "*" || pattern === path || (pattern.endsWith("*") && path.startsWith(pattern.replace(/\*+$/, "")));
}

/** A rule about one verb and one thing. */
type Atom = PolicyRule;

/** The rules of `wanted` that `owned` does not cover, taken apart to one verb and one resource each. */
export function uncovered(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  return wanted.flatMap(atomsOf).filter((atom) => !owned.some((rule) => covers(rule, atom)));
}

function atomsOf(rule: PolicyRule): readonly Atom[] {
  const none = { apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };
  const atoms: Atom[] = [];
  for (const group of rule.apiGroups) {
    for (const resource of rule.resources) {
      for (const verb of rule.verbs) {
        const atom = { ...none, verbs: [verb], apiGroups: [group], resources: [resource] };
        if (rule.resourceNames.length === 0) atoms.push(atom);
        for (const name of rule.resourceNames) atoms.push({ ...atom, resourceNames: [name] });
      }
    }
  }
  for (const url of rule.nonResourceURLs) {
    for (const verb of rule.verbs) atoms.push({ ...none, verbs: [verb], nonResourceURLs: [url] });
  }
  return atoms;
}

function covers(owned: PolicyRule, atom: Atom): boolean {
  if (!hasOrAll(owned.verbs, atom.verbs[0] ?? "")) return false;
  const url = atom.nonResourceURLs[0];
  if (url !== undefined) return owned.nonResourceURLs.some((pattern) => matchesUrl(pattern, url));
  const [resource = "", subresource = ""] = (atom.resources[0] ?? "").split("/", 2);
  const name = atom.resourceNames[0];
  return (
    hasOrAll(owned.apiGroups, atom.apiGroups[0] ?? "") &&
    matchesResource(owned.resources, resource, subresource) &&
    (owned.resourceNames.length === 0 || (name !== undefined && owned.resourceNames.includes(name)))
  );
}

/** Puts rules that differ in their verbs only into one, keeping the order of their first appearance. */
export function joinVerbs(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  const joined = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const key = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames, rule.nonResourceURLs]);
    const before = joined.get(key);
    joined.set(key, before === undefined ? rule : { ...rule, verbs: [...new Set([...before.verbs, ...rule.verbs])] });
  }
  return [...joined.values()];
}

/** The rule as messages of kube-apiserver show it. */
export function printRule(rule: PolicyRule): string {
  const list = (name: string, values: readonly string[]): readonly string[] =>
    values.length === 0 ? [] : [`${name}:[${values.map((value) => JSON.stringify(value)).join(" ")}]`];
  return `{${[
    ...list("APIGroups", rule.apiGroups),
    ...list("Resources", rule.resources),
    ...list("NonResourceURLs", rule.nonResourceURLs),
    ...list("ResourceNames", rule.resourceNames),
    ...list("Verbs", rule.verbs),
  ].join(", ")}}`;
}
