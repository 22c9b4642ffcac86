import { equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { addAmounts, amountsBeyond, amountsIn, quantityOf } from "../kinds/amounts.ts";
import type { Amounts } from "../kinds/amounts.ts";
import type { ServedKind } from "../kinds/kind.ts";
import { chargesOf, namesLimiting, quotaResource, usageOf } from "../kinds/quota.ts";
import { isTerminating } from "../kinds/quota-scopes.ts";
import { metadataOf, objectAt, objectsAt, stringAt } from "../request/json.ts";
import { forbidden } from "../request/status.ts";
import type { ObjectState } from "../store/state.ts";

/** Where a change may cost more than the object did before. */
const chargedAgain: ReadonlySet<string> = new Set(["/pods", "/services", "/persistentvolumeclaims"]);
/** Who has a quota of one of these must say of every container how much of it is wanted. */
const mustBeSaid: Readonly<Record<string, readonly [side: string, name: string]>> = {
  cpu: ["requests", "cpu"],
  memory: ["requests", "memory"],
  "requests.cpu": ["requests", "cpu"],
  "requests.memory": ["requests", "memory"],
  "limits.cpu": ["limits", "cpu"],
  "limits.memory": ["limits", "memory"],
};

/**
 * Nothing is written that would take a namespace over one of its ResourceQuotas. What is used is counted from the objects themselves: the status
 * of a quota follows a moment later.
 *
 * @param live the object before the write; `undefined` for a new one
 * @throws 403
 */
export function admitByQuota(
  state: ObjectState,
  kind: ServedKind,
  namespace: string,
  object: JsonObject,
  live: JsonObject | undefined,
): void {
  const { resource } = kind;
  // Events are not counted: they would keep the objects that they are about from being written.
  if (!kind.namespaced || resource === "/events" || state.count(quotaResource) === 0) return;
  if (live !== undefined && (!chargedAgain.has(resource) || (resource === "/pods" && isChargedAlike(live, object)))) return;
  const name = stringAt(metadataOf(object), "name") ?? "";
  const list = (counted: string): readonly JsonObject[] => state.list(counted, `${namespace}/`).map((entry) => entry.object);
  for (const { object: quota } of state.list(quotaResource, `${namespace}/`)) {
    const names = namesLimiting(quota, resource, object);
    if (names.length === 0) continue;
    const title = stringAt(metadataOf(quota), "name") ?? "";
    const unsaid = resource === "/pods" ? whatIsUnsaid(names, object) : "";
    if (unsaid !== "") throw forbidden(kind, name, `failed quota: ${title}: must specify ${unsaid}`);
    const before = live !== undefined && namesLimiting(quota, resource, live).length > 0 ? chargesOf(resource, live) : {};
    const asked = only(amountsBeyond(chargesOf(resource, object), before), names);
    if (Object.keys(asked).length === 0) continue;
    const used = usageOf(quota, names, list);
    const hard = amountsIn(objectAt(objectAt(quota, "spec"), "hard"));
    const after = addAmounts(used, asked);
    const exceeded = Object.keys(asked).filter((one) => quantityOf(after[one]).compareTo(quantityOf(hard[one])) > 0);
    if (exceeded.length === 0) continue;
    const print = (amounts: Amounts): string =>
      exceeded
        .toSorted()
        .map((one) => `${one}=${amounts[one] ?? "0"}`)
        .join(",");
    throw forbidden(kind, name, `exceeded quota: ${title}, requested: ${print(asked)}, used: ${print(used)}, limited: ${print(hard)}`);
  }
}

function isChargedAlike(live: JsonObject, pod: JsonObject): boolean {
  const sizes = (of: JsonObject): unknown =>
    ["initContainers", "containers"].map((list) =>
      objectsAt(objectAt(of, "spec"), list).map((container) => objectAt(container, "resources")),
    );
  return isTerminating(live) === isTerminating(pod) && equalJson(sizes(live), sizes(pod));
}

function only(amounts: Amounts, names: readonly string[]): Amounts {
  return Object.fromEntries(Object.entries(amounts).filter(([name]) => names.includes(name)));
}

function whatIsUnsaid(names: readonly string[], pod: JsonObject): string {
  const spec = objectAt(pod, "spec");
  if (Object.keys(objectAt(spec, "resources")).length > 0) return "";
  const containers = [...objectsAt(spec, "containers"), ...objectsAt(spec, "initContainers")];
  return names
    .toSorted()
    .flatMap((quotaName) => {
      const said = mustBeSaid[quotaName];
      if (said === undefined) return [];
      const silent = containers.filter((container) => objectAt(objectAt(container, "resources"), said[0])[said[1]] === undefined);
      const which = [...new Set(silent.map((container) => stringAt(container, "name") ?? ""))].sort();
      return which.length === 0 ? [] : [`${quotaName} for: ${which.join(",")}`];
    })
    .join("; ");
}
