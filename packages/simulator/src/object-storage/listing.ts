/** Where a page goes on. */
export type Place =
  /** Behind this key. */
  | { readonly kind: "after"; readonly key: string }
  /** Behind every key that begins with this. */
  | { readonly kind: "past"; readonly prefix: string };

/** What is listed, in the order of the bytes of keys. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Beginnings of keys up to the delimiter, each once. */
  readonly prefixes: readonly string[];
  /** Absent on the last page. */
  readonly next?: Place;
}

export interface ListingAsked {
  readonly prefix: string;
  /** Empty = none. */
  readonly delimiter: string;
  readonly from?: Place;
  /** Items and prefixes together. */
  readonly max: number;
}

/**
 * One page of a bucket. Keys that share a beginning up to the delimiter are stepped over at once, not read.
 *
 * @param scan items whose keys begin with `prefix`, from this key's bytes on, in their order
 */
export function listPage<T extends { readonly key: string }>(
  scan: (prefix: string, from: Uint8Array) => Iterable<T>,
  { prefix, delimiter, from, max }: ListingAsked,
): Page<T> {
  const items: T[] = [];
  const prefixes: string[] = [];
  if (max === 0) return { items, prefixes };
  let last = from;
  // What comes behind a key does so as it is listed: a beginning that the key shares comes before it.
  const shared = from?.kind === "after" && from.key.startsWith(prefix) ? groupOf(from.key, prefix, delimiter) : undefined;
  if (shared !== undefined) last = { kind: "past", prefix: shared };
  for (;;) {
    let group: string | undefined;
    for (const item of scan(prefix, last === undefined ? new Uint8Array(0) : startOf(last))) {
      if (items.length + prefixes.length === max) return { items, prefixes, ...(last === undefined ? {} : { next: last }) };
      group = groupOf(item.key, prefix, delimiter);
      if (group !== undefined) break;
      items.push(item);
      last = { kind: "after", key: item.key };
    }
    if (group === undefined) return { items, prefixes };
    prefixes.push(group);
    last = { kind: "past", prefix: group };
  }
}

/** The beginning of a key up to the delimiter behind the prefix; `undefined` when it has none there. */
function groupOf(key: string, prefix: string, delimiter: string): string | undefined {
  const end = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
  return end === -1 ? undefined : key.slice(0, end + delimiter.length);
}

/** The first bytes that come behind a place. No byte of UTF-8 is 255, so that the last one can be counted up. */
function startOf(place: Place): Uint8Array {
  if (place.kind === "after") return Buffer.concat([Buffer.from(place.key), Buffer.from([0])]);
  const bytes = Buffer.from(place.prefix);
  bytes.writeUInt8((bytes.at(-1) ?? 0) + 1, bytes.length - 1);
  return bytes;
}

/** A place as a client carries it to its next request. */
export function placeToken(place: Place): string {
  return Buffer.from(place.kind === "after" ? `k${place.key}` : `p${place.prefix}`).toString("base64url");
}

/** `undefined` for what is no such token. */
export function tokenPlace(token: string): Place | undefined {
  const text = Buffer.from(token, "base64url").toString("utf8");
  if (text.length < 2 || Buffer.from(text).toString("base64url") !== token) return undefined;
  if (text.startsWith("k")) return { kind: "after", key: text.slice(1) };
  return text.startsWith("p") ? { kind: "past", prefix: text.slice(1) } : undefined;
}
