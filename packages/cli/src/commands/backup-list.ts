import { storeFlags } from "../backups/store-flags.ts";
import type { CommandSpec } from "../command.ts";

export const backupListCommand: CommandSpec = {
  name: "backup list",
  summary:
    "Lists the backups in a bucket or folder, by cluster and time: this operator's, and those of the operator that published these kinds.",
  description:
    "Of an object it lists what its store has of its cluster, with signatures checked where you may read the cluster's keys, and with the last proof. What is no backup is passed over. It only reads.",
  operands: [
    { name: "place", summary: "s3://BUCKET[/PREFIX], a folder, talosetcdbackupschedule/NAME, talosetcdbackup/NAME or etcdbackup/NAME" },
  ],
  flags: [
    ...storeFlags,
    { name: "output", short: "o", kind: "string", value: "text|json", summary: "form of the answer", default: "text" },
  ],
  run: async (flags, context) => (await import("./run-backup-list.ts")).runBackupList(flags, context),
};
