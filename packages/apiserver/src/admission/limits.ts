import { quantityOf } from "../kinds/amounts.ts";
import type { Amounts } from "../kinds/amounts.ts";
import { amountsIn } from "../kinds/amounts.ts";
import type { JsonObject } from "../json.ts";
import type { ServedKind } from "../kinds/kind.ts";
import { limitRangeResource } from "../kinds/limit-ranges.ts";
import { podAmounts } from "../kinds/pod-amounts.ts";
import { metadataOf, objectAt, objectsAt, stringAt } from "../request/json.ts";
import { forbidden } from "../request/status.ts";
import type { ObjectState } from "../store/state.ts";

/** What somebody asks for and may have at most; claims say only the first. */
interface Wanted {
  readonly requests: Amounts;
  readonly limits: Amounts | undefined;
}

/**
 * Nothing is created outside the bounds that the LimitRanges of its namespace set for containers, pods and claims.
 *
 * @param live the object before the write; `undefined` for a new one
 * @throws 403
 */
export function admitByLimits(
  state: ObjectState,
  kind: ServedKind,
  namespace: string,
  object: JsonObject,
  live: JsonObject | undefined,
): void {
  const isPod = kind.resource === "/pods";
  if ((!isPod && kind.resource !== "/persistentvolumeclaims") || state.count(limitRangeResource) === 0) return;
  // Containers of a pod do not change, and what goes may go.
  if (live !== undefined && (isPod || metadataOf(live)["deletionTimestamp"] !== undefined)) return;
  for (const { object: range } of state.list(limitRangeResource, `${namespace}/`)) {
    const refusals = objectsAt(objectAt(range, "spec"), "limits").flatMap((item) => {
      const type = stringAt(item, "type") ?? "";
      return wantedBy(type, isPod, object).flatMap((wanted) => refusalsOf(item, type, wanted));
    });
    const said = [...new Set(refusals)];
    if (said.length > 0)
      throw forbidden(kind, stringAt(metadataOf(object), "name") ?? "", said.length === 1 ? (said[0] ?? "") : `[${said.join(", ")}]`);
  }
}

function wantedBy(type: string, isPod: boolean, object: JsonObject): readonly Wanted[] {
  const spec = objectAt(object, "spec");
  const of = (holder: JsonObject, side: string): Amounts => amountsIn(objectAt(objectAt(holder, "resources"), side));
  if (!isPod) return type === "PersistentVolumeClaim" ? [{ requests: of(spec, "requests"), limits: undefined }] : [];
  if (type === "Pod") return [{ requests: podAmounts(object, "requests"), limits: podAmounts(object, "limits") }];
  if (type !== "Container") return [];
  const containers = [...objectsAt(spec, "containers"), ...objectsAt(spec, "initContainers")];
  return containers.map((container) => ({ requests: of(container, "requests"), limits: of(container, "limits") }));
}

function refusalsOf(item: JsonObject, type: string, { requests, limits }: Wanted): readonly string[] {
  const bounds = (field: string): readonly (readonly [string, string])[] =>
    Object.entries(amountsIn(objectAt(item, field))).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const isLess = (a: string, b: string): boolean => quantityOf(a).compareTo(quantityOf(b)) < 0;
  const least = bounds("min").flatMap(([name, bound]) => {
    const [request, limit] = [requests[name], limits?.[name]];
    const rule = `minimum ${name} usage per ${type} is ${bound}`;
    if (request === undefined) return [`${rule}.  No request is specified`];
    if (isLess(request, bound)) return [`${rule}, but request is ${request}`];
    return limit !== undefined && isLess(limit, bound) ? [`${rule}, but limit is ${limit}`] : [];
  });
  const most = bounds("max").flatMap(([name, bound]) => {
    const [request, limit] = [requests[name], limits?.[name]];
    const rule = `maximum ${name} usage per ${type} is ${bound}`;
    if (limits !== undefined && limit === undefined) return [`${rule}.  No limit is specified`];
    if (limits === undefined && request === undefined) return [`${rule}.  No request is specified`];
    if (limit !== undefined && isLess(bound, limit)) return [`${rule}, but limit is ${limit}`];
    return request !== undefined && isLess(bound, request) ? [`${rule}, but request is ${request}`] : [];
  });
  const ratios =
    limits === undefined
      ? []
      : bounds("maxLimitRequestRatio").flatMap(([name, bound]) => ratioRefusal(name, type, bound, requests[name], limits[name]));
  return [...least, ...most, ...ratios];
}

function ratioRefusal(
  name: string,
  type: string,
  bound: string,
  request: string | undefined,
  limit: string | undefined,
): readonly string[] {
  const rule = `${name} max limit to request ratio per ${type} is ${bound}, but`;
  const isNothing = (amount: string | undefined): boolean => amount === undefined || quantityOf(amount).mantissa === 0n;
  if (isNothing(request)) return [`${rule} no request is specified or request is 0`];
  if (isNothing(limit)) return [`${rule} no limit is specified or limit is 0`];
  const ratio = quantityOf(limit).toNumber() / quantityOf(request).toNumber();
  return ratio > quantityOf(bound).toNumber() ? [`${rule} provided ratio is ${ratio.toFixed(6)}`] : [];
}
