import type { KubeClient } from "@talos-operator/kube-runtime";
import type { HelmSecrets } from "../task/task.ts";
import { faultOf } from "./classify.ts";
import type { HelmCall, HelmEnd, WorkerDeps } from "./deps.ts";
import { escapedForms } from "./escaped-forms.ts";
import { WorkerFault } from "./fault.ts";
import { textsOf } from "./texts-of-values.ts";
import type { HelmMajor } from "./flags.ts";

/** The oldest Helm that labels its revisions and knows every switch. */
const OLDEST = [3, 17] as const;

/** A repository that does not answer must not hold one of the few workers for the time that an installation may take. Milliseconds. */
const REPOSITORY_MS = 2 * 60_000;

/** One task being carried out. */
export class Job {
  readonly deps: WorkerDeps;
  readonly secrets: HelmSecrets;
  readonly client: KubeClient;
  readonly kubeconfig: string;
  readonly #deadline: number;
  #version: { readonly text: string; readonly major: HelmMajor } | undefined;

  constructor(deps: WorkerDeps, secrets: HelmSecrets, client: KubeClient, timeoutMs: number) {
    this.deps = deps;
    this.secrets = secrets;
    this.client = client;
    this.kubeconfig = deps.scratch.write("kubeconfig", secrets.kubeconfig);
    this.#deadline = deps.clock.now() + timeoutMs;
  }

  get remainingMs(): number {
    return Math.max(1, this.#deadline - this.deps.clock.now());
  }

  /** Helm's version, asked once. @throws WorkerFault `helm-not-found` */
  async version(): Promise<{ readonly text: string; readonly major: HelmMajor }> {
    if (this.#version !== undefined) return this.#version;
    const { stdout } = await this.repository(["version", "--template", "{{.Version}}"]);
    const [, major = "", minor = ""] = /^v(\d+)\.(\d+)/.exec(stdout.trim()) ?? [];
    const isOld = Number(major) < OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) < OLDEST[1]);
    if (major === "" || isOld)
      throw new WorkerFault(
        "helm-not-found",
        `The helm on the PATH is ${stdout.trim().slice(0, 40) || "of no known version"}: ${OLDEST.join(".")} or newer is needed.`,
        false,
      );
    this.#version = { text: stdout.trim().slice(0, 40), major: Number(major) === 3 ? 3 : 4 };
    return this.#version;
  }

  /** Runs Helm against the cluster. @throws WorkerFault */
  async cluster(args: readonly string[]): Promise<HelmEnd> {
    return this.#demand(await this.run([...args, `--kubeconfig=${this.kubeconfig}`]), "cluster");
  }

  /** Runs Helm against a repository, or against nothing. @throws WorkerFault */
  async repository(args: readonly string[], call: Omit<HelmCall, "timeoutMs"> = {}): Promise<HelmEnd> {
    const timeoutMs = Math.min(this.remainingMs, REPOSITORY_MS);
    return this.#demand(await this.deps.helm.run(args, { ...call, timeoutMs }), "repository");
  }

  run(args: readonly string[]): Promise<HelmEnd> {
    return this.deps.helm.run(args, { timeoutMs: this.remainingMs });
  }

  /** The failure that an end stands for. */
  faultOf(end: HelmEnd, where: "cluster" | "repository"): WorkerFault {
    const { repository } = this.secrets;
    const login = [repository?.password, repository?.username, repository?.key].filter((one) => one !== undefined);
    // A long form before a short one that it holds.
    const forms = login.flatMap(escapedForms).toSorted((a, b) => b.length - a.length);
    return faultOf(end, where, [...forms, ...textsOf(this.secrets.values)]);
  }

  #demand(end: HelmEnd, where: "cluster" | "repository"): HelmEnd {
    if (end.kind === "exited" && end.code === 0) return end;
    throw this.faultOf(end, where);
  }
}
