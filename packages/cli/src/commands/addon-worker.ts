import type { CommandSpec } from "../command.ts";
import { keepMemorySmall } from "../process/small-memory.ts";

export const addonWorkerCommand: CommandSpec = {
  name: "addon-worker",
  summary:
    "Does one task of an addon: installs, changes or removes a Helm release or a set of objects. The operator starts it; nobody else has to.",
  description:
    "The task and its secrets are JSON files, the answer is one too, of at most 4,096 bytes: in a Job it is the termination message. It succeeds when an answer was written, whatever that says. On SIGTERM, and when the process that forked it ends, it ends Helm and answers that it was stopped.",
  flags: [
    { name: "task", kind: "string", value: "file", summary: "what to do", required: true },
    {
      name: "secrets",
      kind: "string",
      value: "file",
      summary: "kubeconfig, values, texts of objects and access to the repository",
      required: true,
    },
    { name: "result", kind: "string", value: "file", summary: "where the answer goes", required: true },
    {
      name: "scratch-directory",
      kind: "string",
      value: "folder",
      summary: "room for a chart and Helm's own files; default is the system's folder for temporary files",
    },
    { name: "helm", kind: "string", value: "file", summary: "the helm binary; without it, it is looked for in PATH" },
  ],
  run: async (flags, context) => {
    keepMemorySmall();
    await (await import("./run-addon-worker.ts")).runAddonWorker(flags, context);
  },
};
