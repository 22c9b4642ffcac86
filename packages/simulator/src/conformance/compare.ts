/** The parts of recorded and given answers that must agree, the rest masked. */
export interface Compared {
  readonly recorded: unknown;
  readonly answered: unknown;
}

type Json = Readonly<Record<string, unknown>>;

/** Values that differ from run to run, by field name, wherever they stand. */
const masked = new Set([
  "sha",
  "goVersion",
  "built",
  "id",
  "memberId",
  "leader",
  "raftIndex",
  "raftTerm",
  "raftAppliedIndex",
  "dbSize",
  "dbSizeInUse",
  "protocolVersion",
  "storageVersion",
  "actorId",
]);

/** Answers of this method, reduced to what a client may depend on. */
export function compareResponses(method: string, recorded: readonly unknown[], answered: readonly unknown[]): Compared {
  const reduce = method.startsWith("cosi.") ? (method.endsWith("Watch") ? watchOf : resourceOf) : plainOf;
  return { recorded: recorded.map(reduce), answered: answered.map(reduce) };
}

function plainOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainOf);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !masked.has(name))
      .map(([name, item]) => [name, name === "messages" && Array.isArray(item) ? item.toSorted(byNode) : item] as const)
      .map(([name, item]) => [name, name === "modeDetails" && typeof item === "string" ? item.split("Config diff:")[0] : plainOf(item)])
      .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  );
}

/** Answers of several machines come in the order of their arrival. */
function byNode(a: unknown, b: unknown): number {
  const name = (value: unknown): string => (value as { readonly metadata?: { readonly hostname?: string } }).metadata?.hostname ?? "";
  return name(a) < name(b) ? -1 : 1;
}

function resourceOf(value: unknown): unknown {
  const { resource } = value as { readonly resource?: { readonly metadata?: Json; readonly spec?: Json } };
  const { namespace, type, id, phase, owner } = resource?.metadata ?? {};
  const yaml = resource?.spec?.["yamlSpec"];
  // Node identities are random, whole machine configs were not kept.
  const isComparable =
    typeof yaml === "string" &&
    !String(type).startsWith("Identities") &&
    !String(type).startsWith("MachineConfigs") &&
    !String(type).startsWith("OSRoot");
  return { namespace, type, id, phase, owner, yaml: isComparable && !String(type).startsWith("EtcdMembers") ? yaml : undefined };
}

/** Recorded watches keep event types and ids; a stream that goes on is compared as far as it was recorded. */
function watchOf(value: unknown): unknown {
  const { events, event } = value as {
    readonly events?: readonly unknown[];
    readonly event?: readonly { readonly eventType?: string; readonly resource?: { readonly metadata?: Json } }[];
  };
  if (events !== undefined) return events;
  return (event ?? []).map((one) => [one.eventType ?? "CREATED", one.resource?.metadata?.["id"] ?? ""]);
}
