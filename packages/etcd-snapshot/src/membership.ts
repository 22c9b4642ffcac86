/** A member as the database names it. */
export interface Member {
  /** Hex, as etcdctl shows it. */
  readonly id: string;
  /** Empty for one that has not started yet. */
  readonly name: string;
  readonly peerURLs: readonly string[];
  readonly clientURLs: readonly string[];
  readonly isLearner: boolean;
}

/** Longest text that is taken over from a database, and most of them. */
const maxText = 512;
const maxTexts = 64;

/** An entry of the bucket `members`: the identifier is the key, as JSON numbers lose digits. `undefined` for what is none. */
export function readMember(id: string, value: Uint8Array): Member | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(value).toString("utf8"));
  } catch {
    return undefined;
  }
  if (typeof parsed !== "object" || parsed === null || !/^[0-9a-f]{1,16}$/.test(id)) return undefined;
  const member = parsed as Readonly<Record<string, unknown>>;
  return {
    id,
    name: typeof member["name"] === "string" ? member["name"].slice(0, maxText) : "",
    peerURLs: texts(member["peerURLs"]),
    clientURLs: texts(member["clientURLs"]),
    isLearner: member["isLearner"] === true,
  };
}

function texts(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter((one): one is string => typeof one === "string")
    .slice(0, maxTexts)
    .map((one) => one.slice(0, maxText));
}
