import type { ApplyManifestsTask, ManifestSource } from "../task/manifests.ts";
import { ManifestsFault } from "./fault.ts";
import { objectsOf } from "./manifest-object.ts";
import type { ManifestObject } from "./manifest-object.ts";
import type { SetRun } from "./set-run.ts";

/** Largest source. Bytes. */
const LARGEST_SOURCE = 4 * 2 ** 20;

/** Largest set, all sources together: what is read of it has to fit into a worker that is small. Bytes. */
const LARGEST_SET = 8 * 2 ** 20;

/** Longest that one address may take. Milliseconds. */
const FETCH_MS = 60_000;

/** All objects of the sources, in their order, checked before anything of them is used. @throws ManifestsFault */
export async function readSources(
  run: SetRun,
  { sources }: Pick<ApplyManifestsTask, "sources">,
  texts: readonly string[],
): Promise<readonly ManifestObject[]> {
  const given = texts.values();
  const read: { readonly name: string; readonly text: string }[] = [];
  for (const source of sources) {
    if (source.kind === "url") read.push({ name: nameOf(source.url), text: await fetched(run, source) });
    else {
      const { value } = given.next();
      if (value === undefined) throw new ManifestsFault("bad-task", `The text of ${source.name} was not given.`, false);
      if (Buffer.byteLength(value) > LARGEST_SOURCE) throw tooLarge(source.name);
      read.push({ name: source.name, text: value });
    }
  }
  const bytes = read.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  if (bytes > LARGEST_SET)
    throw new ManifestsFault(
      "source-too-large",
      `All sources together have ${bytes} bytes, and ${LARGEST_SET} are the most that is taken. Make several addons of them.`,
      false,
    );
  return objectsOf(read);
}

async function fetched(run: SetRun, { url, sha256 }: Extract<ManifestSource, { readonly kind: "url" }>): Promise<string> {
  const name = nameOf(url);
  if (!url.startsWith("https://") || !/^[0-9a-f]{64}$/.test(sha256))
    throw new ManifestsFault("bad-task", `${name} is no address with https:// and a SHA-256.`, false);
  const timeoutMs = Math.min(FETCH_MS, run.remainingMs);
  const answer = await run.deps.fetch(url, { bytes: LARGEST_SOURCE, timeoutMs, signal: run.deps.signal });
  if (answer.kind === "too-large") throw tooLarge(name);
  if (answer.kind === "failed") throw new ManifestsFault("source-unreachable", `${name} cannot be fetched: ${answer.why}.`, true);
  if (answer.sha256 !== sha256)
    throw new ManifestsFault(
      "digest-mismatch",
      `${name} has the SHA-256 ${answer.sha256}, and ${sha256} was asked for. Look at what is there before you take it.`,
      false,
    );
  return answer.text;
}

function tooLarge(name: string): ManifestsFault {
  return new ManifestsFault("source-too-large", `${name} has more than ${LARGEST_SOURCE} bytes, the most that is taken.`, false);
}

/** An address for people: a query may hold a token. */
function nameOf(url: string): string {
  const { origin, pathname } = URL.parse(url) ?? { origin: "", pathname: "the address" };
  return `${origin}${pathname}`.slice(0, 200);
}
