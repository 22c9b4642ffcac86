import { identityFlag, maxSizeFlag, storeFlags } from "../backups/store-flags.ts";
import type { CommandSpec } from "../command.ts";
import { forceFlag } from "./shared-flags.ts";

export const backupGetCommand: CommandSpec = {
  name: "backup get",
  summary: "Writes the plain snapshot of a backup of etcd, as etcdutl and `talosctl bootstrap --recover-from` take it.",
  description:
    "Takes what `backup inspect` takes. The file is there, for its owner alone, once every byte was compared with its checksums, or not at all. It holds every Secret of the cluster, in clear unless Kubernetes encrypts them.",
  operands: [{ name: "backup", summary: "talosetcdbackup/NAME, s3://BUCKET/KEY, or a file" }],
  flags: [
    {
      name: "output",
      short: "o",
      kind: "string",
      value: "file",
      required: true,
      summary: "where the snapshot goes; - is standard output, where bytes are checked only when they are out",
    },
    ...storeFlags,
    identityFlag,
    maxSizeFlag,
    {
      name: "keys",
      kind: "string",
      value: "folder",
      summary: "also write the cluster's keys that are stored with the backup: secrets.yaml and clusterrecord.json, for their owner alone",
    },
    forceFlag,
  ],
  run: async (flags, context) => (await import("./run-backup-get.ts")).runBackupGet(flags, context),
};
