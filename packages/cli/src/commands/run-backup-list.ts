import { once } from "node:events";
import { listBackups, type ListedBackup } from "@talos-operator/backup/reading";
import { explained } from "../backups/explained.ts";
import { cellsOf, createTable } from "../backups/list-text.ts";
import { withPlace, type OpenPlace } from "../backups/open-place.ts";
import { createProgress, type Progress } from "../backups/progress.ts";
import { requiredString, type CommandContext, type FlagValues } from "../command.ts";
import { outputForm } from "./asked-object.ts";

/** Lines that are printed together, and widen the columns together. */
const LINES = 200;

/** What was listed, by its kind. */
type Counts = Record<ListedBackup["kind"], number>;

/** @throws CliError when the place cannot be read */
export async function runBackupList(flags: FlagValues, context: CommandContext): Promise<void> {
  const form = outputForm(requiredString(flags, "output"));
  const asked = requiredString(flags, "place");
  const progress = createProgress(context.stderr);
  try {
    await explained(context.signal, () =>
      withPlace(asked, flags, context, async (place) => {
        const counts = await (form === "json" ? asJson : asTable)(place, context, progress);
        progress.end();
        if (form === "text") context.stdout.write(summary(counts, place));
        if (counts["published-keys"] > 0)
          context.stderr.write(
            `WARNING: ${counts["published-keys"]} of these objects hold the keys of a cluster IN CLEAR: whoever may read the store is its administrator. Move them to where nobody but you reads them.\n`,
          );
      }),
    );
  } finally {
    progress.end();
  }
}

async function* listed(
  { store, prefixes, isWanted, manifestKeyOf }: OpenPlace,
  signal: AbortSignal,
  progress: Progress,
): AsyncGenerator<ListedBackup> {
  progress.doing(`listing ${store.place}`);
  const onObject = (count: number): void => progress.doing(`listing ${store.place}, object ${count}`);
  for (const prefix of prefixes)
    for await (const one of listBackups(store, prefix, { signal, manifestKeyOf, onObject })) if (isWanted(one)) yield one;
}

async function asTable(place: OpenPlace, context: CommandContext, progress: Progress): Promise<Counts> {
  const counts = noCounts();
  const table = createTable();
  let rows: (readonly string[])[] = [];
  const flush = async (): Promise<void> => {
    if (rows.length === 0) return;
    await write(context, table(rows));
    rows = [];
  };
  for await (const one of listed(place, context.signal, progress)) {
    counts[one.kind] += 1;
    rows.push(cellsOf(one, knownOf(place, one)));
    if (rows.length >= LINES) await flush();
  }
  await flush();
  return counts;
}

/** One array, printed as it comes. */
async function asJson(place: OpenPlace, context: CommandContext, progress: Progress): Promise<Counts> {
  const counts = noCounts();
  let count = 0;
  for await (const one of listed(place, context.signal, progress)) {
    counts[one.kind] += 1;
    const known = knownOf(place, one);
    await write(context, `${count === 0 ? "[" : ","}\n${JSON.stringify(known === undefined ? one : { ...one, talosEtcdBackup: known })}`);
    count += 1;
  }
  await write(context, count === 0 ? "[]\n" : "\n]\n");
  return counts;
}

function knownOf({ objectOf }: OpenPlace, listed: ListedBackup): ReturnType<OpenPlace["objectOf"]> {
  return listed.kind === "backup" ? objectOf(listed.facts.object) : listed.kind === "published" ? objectOf(listed.object) : undefined;
}

function noCounts(): Counts {
  return { backup: 0, refused: 0, unnamed: 0, published: 0, "published-keys": 0 };
}

function summary(counts: Counts, { store }: OpenPlace): string {
  const parts = [
    ...(counts.backup === 0 ? [] : [`${counts.backup} of this operator`]),
    ...(counts.published === 0 ? [] : [`${counts.published} of the published operator`]),
    ...(counts.refused === 0 ? [] : [`${counts.refused} that cannot be believed`]),
  ];
  return parts.length === 0 ? `There is no backup in ${store.place}.\n` : `\nBackups: ${parts.join(", ")}.\n`;
}

async function write({ stdout, signal }: CommandContext, text: string): Promise<void> {
  if (!stdout.write(text)) await once(stdout, "drain", { signal });
}
