import { createHash } from "node:crypto";
import { createKubeClient } from "@talos-operator/kube-runtime";
import type { KubeRequest, KubeResponse, KubeTransport } from "@talos-operator/ports";
import type { ApplyTask, HelmResult, HelmSecrets, HelmTask } from "../index.ts";
import type { HelmBinary, HelmEnd, WorkerDeps } from "../worker/deps.ts";
import { runTask } from "../worker/run-task.ts";

/** A revision as Helm keeps it: a Secret with labels. */
export interface KeptRevision {
  readonly number: number;
  readonly status: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly description?: string;
}

/**
 * A worker whose Helm and whose cluster are in memory: what it asks Helm for, in which order, and what it writes to the Secrets of revisions. That genuine Helm
 * does what is asked the real tests hold.
 */
export interface MemoryWorker {
  /** Every command, joined by spaces; what was given on standard input comes last, after ` <`. */
  readonly commands: readonly string[];
  /** Newest first. */
  readonly revisions: KeptRevision[];
  /** What Helm prints as the manifest of the newest revision. */
  manifest: string;
  /** How a command ends that begins with this word; by default all of them end well. */
  readonly ends: Map<string, Partial<HelmEnd>>;
  /** What the archive of every chart holds. */
  archive: string;
  give(task: HelmTask, secrets?: Partial<HelmSecrets>): Promise<HelmResult>;
}

export const OWNER = "talos-operator.dev/owner";
const INPUTS = "talos-operator.dev/inputs";
const RUN = "talos-operator.dev/run";

export function applyOf(over: Partial<ApplyTask> = {}): ApplyTask {
  return {
    kind: "apply",
    release: { name: "web", namespace: "apps" },
    owner: "u-1",
    timeoutMs: 600_000,
    chart: { repository: "https://charts.example.org", name: "web" },
    inputs: "00000000000000aa",
    options: {},
    unowned: "refuse",
    endedRuns: [],
    run: "aaaaaaaaaaaa",
    rollbackOnFailure: false,
    ...over,
  };
}

/** A revision of ours. */
export function revisionOf(number: number, status: string, run: string, over: Readonly<Record<string, string>> = {}): KeptRevision {
  return { number, status, labels: { [OWNER]: "u-1", [INPUTS]: "00000000000000aa", [RUN]: run, ...over } };
}

export function createMemoryWorker(...before: readonly KeptRevision[]): MemoryWorker {
  const commands: string[] = [];
  const revisions = [...before];
  const ends = new Map<string, Partial<HelmEnd>>();
  const worker = { commands, revisions, ends, manifest: "", archive: "chart", give };

  const nextNumber = (): number => (revisions[0]?.number ?? 0) + 1;
  const made = (args: readonly string[], description?: string): KeptRevision => {
    const given = args.find((arg) => arg.startsWith("--labels="))?.slice("--labels=".length) ?? "";
    const labels = Object.fromEntries(given.split(",").flatMap((pair) => (pair === "" ? [] : [pair.split("=") as [string, string]])));
    const inherited = given === "" ? revisions[0]?.labels : undefined;
    const status = { number: nextNumber(), status: "deployed", labels: inherited ?? labels };
    return description === undefined ? status : { ...status, description };
  };
  const supersede = (): void => {
    for (const [index, one] of revisions.entries()) if (one.status === "deployed") revisions[index] = { ...one, status: "superseded" };
  };
  const stdoutOf = (args: readonly string[]): string => {
    switch (args[0]) {
      case "version":
        return "v4.0.1";
      case "show":
        return "name: web\nversion: 1.2.3\n";
      case "history":
        return JSON.stringify(
          revisions.map(({ number, status, description }) => ({
            revision: number,
            updated: "2026-05-01T12:00:00Z",
            status,
            chart: "web-1.2.3",
            description: description ?? "",
          })),
        );
      case "get":
        return args[1] === "metadata" ? JSON.stringify({ chart: "web", version: "1.2.3" }) : worker.manifest;
      case "upgrade":
        supersede();
        revisions.unshift(made(args));
        return "";
      case "rollback":
        supersede();
        revisions.unshift(made(args, `Rollback to ${args[2] ?? ""}`));
        return "";
      case "uninstall":
        revisions.length = 0;
        return "";
      default:
        return "";
    }
  };
  const helm: HelmBinary = {
    run: (args, { input }) => {
      commands.push(input === undefined ? args.join(" ") : `${args.join(" ")} <${input}`);
      const end = ends.get(args[0] ?? "");
      const isWell = end === undefined || (end.kind ?? "exited") === "exited" ? (end?.code ?? 0) === 0 : false;
      return Promise.resolve({ kind: "exited", code: 0, stderr: "", stdout: isWell ? stdoutOf(args) : "", ...end });
    },
  };
  const deps: WorkerDeps = {
    helm,
    scratch: {
      write: (name) => `/scratch/${name}`,
      folder: (name) => `/scratch/${name}`,
      only: (folder) => ({
        path: `${folder}/web-1.2.3.tgz`,
        bytes: worker.archive.length,
        sha256: () => Promise.resolve(createHash("sha256").update(worker.archive).digest("hex")),
        unpackedBytes: () => Promise.resolve(worker.archive.length),
      }),
      // Nothing is compressed here.
      gzip: (bytes) => bytes,
      gunzip: (bytes) => bytes,
    },
    open: () => Promise.resolve({ client: createKubeClient(clusterOf(revisions)), close: () => undefined }),
    clock: { now: () => 0 },
    signal: new AbortController().signal,
  };
  function give(task: HelmTask, secrets: Partial<HelmSecrets> = {}): Promise<HelmResult> {
    return runTask(task, { kubeconfig: "{}", values: [], ...secrets }, deps);
  }
  return worker;
}

/** The Secrets of the revisions, as an API server has them. */
function clusterOf(revisions: KeptRevision[]): KubeTransport {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const secretOf = ({ number, status, labels }: KeptRevision): object => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace: "apps",
      name: `sh.helm.release.v1.web.v${number}`,
      uid: `uid-${number}`,
      resourceVersion: String(number),
      labels: { ...labels, owner: "helm", name: "web", status, version: String(number) },
    },
    data: { release: base64(base64("{}")) },
  });
  const answer = (body: unknown): Promise<KubeResponse> => Promise.resolve({ status: 200, headers: {}, body });
  return {
    send({ method, path, body }: KubeRequest) {
      const number = Number(/\.v(\d+)$/.exec(path)?.[1]);
      const index = revisions.findIndex((one) => one.number === number);
      const found = revisions[index];
      if (Number.isNaN(number))
        return answer({ kind: "SecretList", apiVersion: "v1", metadata: { resourceVersion: "1" }, items: revisions.map(secretOf) });
      if (found === undefined) throw new RangeError(`there is no revision for ${path}`);
      const { status = found.status } =
        (body as { readonly metadata?: { readonly labels?: { readonly status?: string } } } | undefined)?.metadata?.labels ?? {};
      if (method === "PUT") revisions[index] = { ...found, status };
      return answer(secretOf(revisions[index] ?? found));
    },
    watch: () => Promise.reject(new Error("a worker watches nothing")),
    close: () => undefined,
  };
}
