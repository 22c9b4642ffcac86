import type { CommandSpec } from "../command.ts";
import { keepMemorySmall } from "../process/small-memory.ts";

export const backupWorkerCommand: CommandSpec = {
  name: "backup-worker",
  summary: "Does one task of a backup: takes a snapshot, proves or removes it. The operator starts it; nobody else has to.",
  description:
    "The task and its secrets are JSON files, the answer is one too, of at most 4,096 bytes: in a Job it is the termination message. How far it is goes to standard error, one JSON line each. It succeeds when an answer was written, whatever that says. On SIGTERM, and when the process that forked it ends, it undoes what it began and answers that it was stopped.",
  flags: [
    { name: "task", kind: "string", value: "file", summary: "what to do", required: true },
    {
      name: "secrets",
      kind: "string",
      value: "file",
      summary: "certificate, keys of the store and of manifests; read again when the store's keys have expired",
      required: true,
    },
    { name: "result", kind: "string", value: "file", summary: "where the answer goes", required: true },
    { name: "backup-directory", kind: "string", value: "folder", summary: "folder below which backups in a directory are kept" },
    {
      name: "scratch-directory",
      kind: "string",
      value: "folder",
      summary: "room for a plain snapshot and its restore; default is the system's folder for temporary files",
    },
    {
      name: "etcd-dir",
      kind: "string",
      value: "folder",
      summary: "folder with etcd and etcdutl for the drill; without it they are looked for in PATH",
    },
  ],
  run: async (flags, context) => {
    keepMemorySmall();
    await (await import("./run-backup-worker.ts")).runBackupWorker(flags, context);
  },
};
