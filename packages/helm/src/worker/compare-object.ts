import { quantityUnits } from "@talos-operator/api/byte-size";

/** An object of a manifest, or as the cluster has it. */
export interface ComparedObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly labels?: unknown;
    readonly annotations?: unknown;
    readonly managedFields?: readonly ManagedFields[];
  };
  readonly [field: string]: unknown;
}

interface ManagedFields {
  readonly manager?: string;
  readonly apiVersion?: string;
  readonly subresource?: string;
  readonly fieldsV1?: Fields;
}

interface Fields {
  readonly [key: string]: Fields;
}

type Values = Readonly<Record<string, unknown>>;

/** Under this name Helm writes: by server-side apply (Helm 4), and by patches (Helm 3). It is the name of the binary. */
const MANAGER = "helm";

/** What an object is, and what nobody asked Helm for. */
const NO_FIELDS: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata", "status"]);

/**
 * Paths of the manifest that are not in the cluster as Helm wrote them. A field that Helm still owns is as Helm wrote it, however the server spells it; whoever changes one
 * takes it over, and whoever removes one takes it away. A field that Helm does not own is compared by its value, so one that somebody else sets alike is no drift. What
 * the manifest does not name (defaults, what others inject) is never looked at. Holds paths alone, no value. Pure.
 *
 * @see https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
 */
export function driftedPaths(wanted: ComparedObject, live: ComparedObject): readonly string[] {
  const paths: string[] = [];
  const owned = fieldsOfHelm(live, wanted.apiVersion);
  const { labels, annotations } = wanted.metadata ?? {};
  const metadata = owned?.["f:metadata"];
  compare({ labels, annotations }, metadata, live.metadata, "metadata", paths);
  for (const [field, value] of Object.entries(written(wanted)))
    if (!NO_FIELDS.has(field)) compare(value, owned?.[`f:${field}`], live[field], field, paths);
  return paths;
}

/** True for what `ignore` names, and all below it. */
export function isIgnored(path: string, ignore: readonly string[]): boolean {
  return ignore.some((one) => path === one || path.startsWith(`${one}.`) || path.startsWith(`${one}[`));
}

/** `stringData` of a Secret is only for writing: the server keeps it in `data`. */
function written(object: ComparedObject): Values {
  const { stringData, ...rest } = object;
  if (object.kind !== "Secret" || !isMap(stringData)) return object;
  const encoded = Object.entries(stringData).map(([key, value]) => [key, Buffer.from(String(value)).toString("base64")]);
  return { ...rest, data: { ...(isMap(rest["data"]) ? rest["data"] : {}), ...Object.fromEntries(encoded) } };
}

function fieldsOfHelm({ metadata }: ComparedObject, apiVersion: string | undefined): Fields | undefined {
  const entries = (metadata?.managedFields ?? []).filter(
    (entry) => entry.manager === MANAGER && entry.subresource === undefined && entry.apiVersion === apiVersion,
  );
  return entries.reduce<Fields | undefined>((all, { fieldsV1 }) => merged(all, fieldsV1), undefined);
}

function merged(a: Fields | undefined, b: Fields | undefined): Fields | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...keys].map((key) => [key, merged(a[key], b[key]) ?? {}]));
}

function compare(wanted: unknown, owned: Fields | undefined, live: unknown, path: string, paths: string[]): void {
  // To Helm null means that there is to be no such field, and the server keeps no empty ones of some kinds.
  if (wanted === null || wanted === undefined) return;
  if (Array.isArray(wanted)) compareList(wanted, owned, Array.isArray(live) ? live : [], path, paths);
  else if (isMap(wanted)) {
    const values = isMap(live) ? live : {};
    for (const [key, value] of Object.entries(wanted)) compare(value, owned?.[`f:${key}`], values[key], `${path}${step(key)}`, paths);
  } else if (owned === undefined && !isAlike(wanted, live)) paths.push(path);
}

function compareList(wanted: readonly unknown[], owned: Fields | undefined, live: readonly unknown[], path: string, paths: string[]): void {
  const keys = Object.keys(owned ?? {}).flatMap((key) => (key.startsWith("k:") ? [{ key, fields: parsed(key.slice(2)) }] : []));
  if (!wanted.every(isMap)) {
    const isSet = Object.keys(owned ?? {}).some((key) => key.startsWith("v:"));
    const isThere = isSet
      ? wanted.every((value) => owned?.[`v:${JSON.stringify(value)}`] !== undefined || live.some((one) => isAlike(value, one)))
      : wanted.length === live.length && wanted.every((value, index) => holds(value, live[index]));
    if (!isThere) paths.push(path);
    return;
  }
  for (const [index, item] of wanted.entries()) {
    // A key may hold fields that the server set by default.
    const known = keys.find(({ fields }) =>
      Object.entries(fields).every(([name, value]) => item[name] === undefined || isAlike(item[name], value)),
    );
    const name = typeof item["name"] === "string" ? item["name"] : undefined;
    const place = `${path}[${name === undefined ? index : `name=${name.slice(0, 40)}`}]`;
    const found = live.find(
      (one): one is Values =>
        isMap(one) &&
        (known !== undefined
          ? Object.entries(known.fields).every(([field, value]) => isAlike(one[field], value))
          : name === undefined
            ? holds(item, one)
            : one["name"] === name),
    );
    const other = found ?? (name === undefined && known === undefined && wanted.length === live.length ? live[index] : undefined);
    if (other === undefined) paths.push(place);
    else compare(item, known === undefined ? undefined : owned?.[known.key], other, place, paths);
  }
}

/** Whether all that is wanted is there; more may be. */
function holds(wanted: unknown, live: unknown): boolean {
  const paths: string[] = [];
  compare(wanted, undefined, live, "", paths);
  return paths.length === 0;
}

function isAlike(wanted: unknown, live: unknown): boolean {
  if (wanted === live) return true;
  if (wanted === "" || wanted === false || wanted === 0) return live === undefined || live === null;
  if (live === undefined || live === null) return false;
  const [a, b] = [textOf(wanted), textOf(live)];
  if (a === undefined || b === undefined) return false;
  return a === b || (amount(a) !== undefined && amount(a) === amount(b));
}

/** Numbers that a chart writes as text, and the other way round. */
function textOf(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

const UNITS: Readonly<Record<string, number>> = { m: 1e-3, ...quantityUnits };

/** A quantity, which the server spells in its own way: `1000m` is `1`. */
function amount(text: string): number | undefined {
  const [, digits = "", unit = ""] = /^(\d+(?:\.\d+)?)([A-Za-z]{0,2})$/.exec(text) ?? [];
  const factor = UNITS[unit];
  return digits === "" || factor === undefined ? undefined : Number(digits) * factor;
}

function step(key: string): string {
  return /^[\w-]+$/.test(key) ? `.${key}` : `[${key.slice(0, 80)}]`;
}

function parsed(text: string): Values {
  const value: unknown = JSON.parse(text);
  return isMap(value) ? value : {};
}

function isMap(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
