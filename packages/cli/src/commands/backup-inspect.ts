import { identityFlag, maxSizeFlag, storeFlags } from "../backups/store-flags.ts";
import type { CommandSpec } from "../command.ts";

export const backupInspectCommand: CommandSpec = {
  name: "backup inspect",
  summary: "Shows what is in a backup of etcd: Nodes, objects by kind and namespace, revision, members, versions.",
  description:
    "Takes talosetcdbackup/NAME, the address of a manifest or of a stored snapshot, or a file: as this operator stores it, or plain, as `talosctl etcd snapshot`, `etcdctl snapshot save` and the operator that published these kinds write it. Every byte is read and compared with its checksums. Nothing of a value is shown.",
  operands: [{ name: "backup", summary: "talosetcdbackup/NAME, s3://BUCKET/KEY, or a file" }],
  flags: [
    ...storeFlags,
    identityFlag,
    maxSizeFlag,
    {
      name: "scratch-directory",
      kind: "string",
      value: "folder",
      summary: "where a stored snapshot is unpacked, in a file that nobody else can open; default is the system's temporary folder",
    },
    { name: "output", short: "o", kind: "string", value: "text|json", summary: "form of the answer", default: "text" },
  ],
  run: async (flags, context) => (await import("./run-backup-inspect.ts")).runBackupInspect(flags, context),
};
