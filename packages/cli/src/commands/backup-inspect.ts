import type { CommandSpec } from "../command.ts";

export const backupInspectCommand: CommandSpec = {
  name: "backup inspect",
  summary: "Shows what is in a snapshot of etcd: objects by kind and namespace, revision, members, versions.",
  description:
    "Reads a file as `talosctl etcd snapshot` or `etcdctl snapshot save` write it, every page of it, and checks the SHA-256 at its end. Nothing of a value is shown.",
  operands: [{ name: "file", summary: "the snapshot" }],
  flags: [{ name: "output", short: "o", kind: "string", value: "text|json", summary: "form of the answer", default: "text" }],
  run: async (flags, context) => (await import("./run-backup-inspect.ts")).runBackupInspect(flags, context),
};
