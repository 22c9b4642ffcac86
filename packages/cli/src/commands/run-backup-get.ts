import { once } from "node:events";
import { join } from "node:path";
import { backupCodec } from "@talos-operator/backup/adapters";
import { readClusterKeys } from "@talos-operator/backup/reading";
import type { FoundBackup, ReadBackup } from "@talos-operator/backup/reading";
import { found, identityOf, maxBytesOf, readAll } from "../backups/asked-bytes.ts";
import { explained } from "../backups/explained.ts";
import { withBackup, type OpenBackup } from "../backups/open-asked.ts";
import { createProgress, type Progress } from "../backups/progress.ts";
import { printable, sizeText } from "../backups/words.ts";
import { CliError } from "../cli-error.ts";
import { booleanFlag, givenString, requiredString, type CommandContext, type FlagValues } from "../command.ts";
import { createNewFile } from "../files/new-file.ts";
import { checkNoneExists, writeOutput } from "../files/output-files.ts";

/** @throws CliError when there is no such backup, it cannot be read, is damaged, or cannot be written */
export async function runBackupGet(flags: FlagValues, context: CommandContext): Promise<void> {
  const output = requiredString(flags, "output");
  const keysFolder = givenString(flags, "keys");
  const force = booleanFlag(flags, "force");
  const keyFiles = keysFolder === undefined ? [] : [join(keysFolder, "secrets.yaml"), join(keysFolder, "clusterrecord.json")];
  if (output === "") throw new CliError("--output names no file", "Write --output FILE.", { exitCode: 2 });
  if (output === "-" && context.stdout.isTTY)
    throw new CliError("a snapshot is no text for a terminal", "Write --output FILE, or send standard output elsewhere.", { exitCode: 2 });
  checkNoneExists([output, ...keyFiles], { force });
  const asked = requiredString(flags, "backup");
  const progress = createProgress(context.stderr);
  try {
    await explained(context.signal, () =>
      withBackup(asked, flags, context, (open) => get(open, { flags, context, output, keyFiles, progress })),
    );
  } finally {
    progress.end();
  }
}

interface Getting {
  readonly flags: FlagValues;
  readonly context: CommandContext;
  readonly output: string;
  /** Bundle and record; empty when nobody asks for them. */
  readonly keyFiles: readonly string[];
  readonly progress: Progress;
}

async function get(open: OpenBackup, getting: Getting): Promise<void> {
  const { flags, context, keyFiles, progress } = getting;
  const { signal, stderr } = context;
  const identity = identityOf(flags);
  progress.doing(`asking ${open.store.place}`);
  const backup = await found(open, signal);
  // Before the long part: who asks for keys wants to know that there are none.
  const keys = keyFiles.length === 0 ? undefined : await keysOf(open, backup, identity, signal);
  const read = await write(open, backup, identity, getting);
  progress.end();
  if (keys !== undefined) {
    const [bundleFile = "", recordFile = ""] = keyFiles;
    const options = { force: booleanFlag(flags, "force"), stdout: context.stdout };
    writeOutput({ path: bundleFile, text: keys.bundle }, options);
    if (keys.record !== undefined) writeOutput({ path: recordFile, text: keys.record }, options);
  }
  stderr.write(told(getting, open, backup, read));
}

async function write(open: OpenBackup, backup: FoundBackup, identity: string | undefined, getting: Getting): Promise<ReadBackup> {
  const { flags, context, output, progress } = getting;
  const { signal, stdout } = context;
  const options = { signal, identity, maxBytes: maxBytesOf(getting.flags), progress };
  if (output === "-")
    return readAll(open, backup, options, async (chunk) => {
      if (!stdout.write(chunk)) await once(stdout, "drain", { signal });
    });
  const file = createNewFile(output, { force: booleanFlag(flags, "force") });
  try {
    const read = await readAll(open, backup, options, (chunk) => file.write(chunk));
    file.commit();
    return read;
  } finally {
    file.close();
  }
}

async function keysOf(
  { store }: OpenBackup,
  { keysObject, object }: FoundBackup,
  identity: string | undefined,
  signal: AbortSignal,
): Promise<{ readonly bundle: string; readonly record?: string }> {
  if (keysObject === undefined)
    throw new CliError(
      `the cluster's keys are not stored with ${object}`,
      "They are only where a backup has recipients. Leave out --keys, and take them from the bundle Secret of the cluster.",
    );
  if (identity === undefined)
    throw new CliError(
      `${keysObject} is encrypted, and no identity is given`,
      "Give --identity FILE, with the age identity of one of the recipients.",
    );
  return readClusterKeys(store, keysObject, { codec: backupCodec, identity, signal });
}

function told(
  { output, keyFiles }: Getting,
  { uncheckedBecause }: OpenBackup,
  { object, facts, signature }: FoundBackup,
  read: ReadBackup,
): string {
  const checked = read.hasTrailer
    ? `every byte is what etcd sent, SHA-256 ${read.sha256}`
    : "it ends without a SHA-256, as a copy of a member's database does: etcdutl takes it with --skip-hash-check alone";
  const manifest =
    facts === undefined
      ? ["no manifest names it"]
      : [
          `revision ${facts.revision}, ${facts.liveKeys} keys`,
          signature === "checked" ? "its manifest's signature is checked" : `its manifest's signature is not checked: ${uncheckedBecause}`,
        ];
  return [
    `${output === "-" ? "standard output" : output}: ${object}, ${sizeText(read.size)}, ${manifest.join("; ")}`,
    checked,
    "It holds every Secret of the cluster: keep it as you keep the cluster's keys.",
    ...(keyFiles.length === 0
      ? []
      : [
          `WARNING: ${keyFiles.join(" and ")} hold the private keys of the cluster IN CLEAR: whoever reads them is its administrator. Delete them when you are done.`,
        ]),
  ]
    .map((line) => `${printable(line)}\n`)
    .join("");
}
