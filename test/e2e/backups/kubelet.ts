import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isConflict, isNotFound, type KubeClient, type KubeObject, type ResourceType } from "@talos-operator/kube-runtime";

const podType: ResourceType = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };
const jobType: ResourceType = { group: "batch", version: "v1", plural: "jobs", kind: "Job", namespaced: true };
const secretType: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };

interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly command?: readonly string[];
  readonly terminationMessagePath: string;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Pod extends KubeObject {
  readonly spec: {
    readonly containers: readonly [Container];
    readonly volumes: readonly {
      readonly name: string;
      readonly secret?: { readonly secretName: string };
      readonly emptyDir?: object;
      readonly persistentVolumeClaim?: { readonly claimName: string };
    }[];
  };
  readonly status?: { readonly phase?: string };
}

/** One worker that ran, or runs. */
export interface WorkerRun {
  readonly pod: string;
  /** `<namespace>/<name>` of the object that it works for. */
  readonly owner: string;
  readonly task: string;
  /** The Pod as the API had it. */
  readonly object: KubeObject;
  /** Its Job, as it was when the pod began. */
  readonly job: KubeObject | undefined;
  /** The termination message. */
  told?: string;
  /** What was in its Secret, file by file. */
  readonly files: Readonly<Record<string, string>>;
  readonly output: () => string;
  readonly child: ChildProcess;
  /** Its end stands in the status of its Pod. */
  hasEnded: boolean;
}

export interface KubeletOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  /** For the volumes of pods. */
  readonly folder: string;
  /** Behind the claims of volumes. */
  readonly claims: Readonly<Record<string, string>>;
  /** What the image has in place of its program. */
  readonly program: readonly string[];
  /** The image's environment. */
  readonly env: NodeJS.ProcessEnv;
}

/** Runs the pods of a namespace as processes, and tells what a kubelet tells of them. */
export interface Kubelet {
  readonly runs: readonly WorkerRun[];
  /** The newest one of an owner that has not ended. */
  running(owner: string): WorkerRun | undefined;
  close(): Promise<void>;
}

const LOOK_EVERY_MS = 100;
/** A kubelet reads no more of a termination message. */
const MESSAGE_BYTES = 4096;

export function startKubelet({ client, namespace, folder, claims, program, env }: KubeletOptions): Kubelet {
  const pods = client.resource<Pod>(podType);
  const secrets = client.resource<KubeObject & { data?: Readonly<Record<string, string>> }>(secretType);
  const runs: WorkerRun[] = [];
  const known = new Set<string>();
  const ends: Promise<void>[] = [];
  const closed = new AbortController();

  const tell = async (pod: Pod, status: object): Promise<void> => {
    try {
      await pods.patchStatus({ namespace, name: pod.metadata?.name ?? "" }, { type: "merge", value: { status } });
    } catch (thrown) {
      // It was deleted meanwhile: nobody is to be told.
      if (!isNotFound(thrown) && !isConflict(thrown)) throw thrown;
    }
  };

  /** Folders for the volumes; `undefined` while a Secret is missing. */
  const mount = async (pod: Pod): Promise<ReadonlyMap<string, string> | undefined> => {
    const folders = new Map<string, string>();
    for (const { name, secret, persistentVolumeClaim } of pod.spec.volumes) {
      const path =
        persistentVolumeClaim === undefined ? join(folder, pod.metadata?.uid ?? "", name) : claims[persistentVolumeClaim.claimName];
      if (path === undefined) throw new Error(`no volume is behind the claim ${persistentVolumeClaim?.claimName}`);
      mkdirSync(path, { recursive: true });
      folders.set(name, path);
      if (secret === undefined) continue;
      const found = await secrets.tryGet({ namespace, name: secret.secretName });
      if (found === undefined) return undefined;
      for (const [file, value] of Object.entries(found.data ?? {}))
        writeFileSync(join(path, file), Buffer.from(value, "base64"), { mode: 0o440 });
    }
    return folders;
  };

  const play = async (pod: Pod): Promise<void> => {
    const { name = "", uid = "" } = pod.metadata ?? {};
    const [container] = pod.spec.containers;
    const waiting = { name: container.name, image: "", imageID: "", ready: false, restartCount: 0 };
    const containerStatus = (state: object): object => ({ containerStatuses: [{ ...waiting, state }] });
    let folders = await mount(pod);
    if (folders === undefined) await tell(pod, { phase: "Pending", ...containerStatus({ waiting: { reason: "ContainerCreating" } }) });
    while (folders === undefined) {
      if (closed.signal.aborted || (await pods.tryGet({ namespace, name }))?.metadata?.uid !== uid) return;
      await delay(LOOK_EVERY_MS);
      folders = await mount(pod);
    }
    const message = join(folder, uid, "termination-log");
    writeFileSync(message, "");
    const args = container.args.map((arg) => inside(arg, container, folders, message));
    const job = await client.resource(jobType).tryGet({ namespace, name: pod.metadata?.ownerReferences?.[0]?.name ?? "" });
    const startedAt = new Date().toISOString();
    const own = Object.fromEntries((container.env ?? []).map(({ name, value }) => [name, inside(value, container, folders, message)]));
    const child = spawn(program[0] ?? "", [...program.slice(1), ...args], { stdio: ["ignore", "pipe", "pipe"], env: { ...env, ...own } });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
      child.once("close", (code, signal) => resolve({ code, signal })),
    );
    const task = [...folders.values()].find((path) => path.endsWith("/task")) ?? "";
    const marks = pod.metadata?.annotations;
    const run: WorkerRun = {
      pod: name,
      owner: marks?.["talos-operator.dev/backup"] ?? marks?.["talos-operator.dev/addon-release"] ?? "",
      task: pod.metadata?.labels?.["talos-operator.dev/backup-task"] ?? pod.metadata?.labels?.["talos-operator.dev/addon-task"] ?? "",
      object: pod,
      job,
      files: Object.fromEntries(["task.json", "secrets.json"].map((file) => [file, readFileSync(join(task, file), "utf8")])),
      output: () => output,
      child,
      hasEnded: false,
    };
    runs.push(run);
    await tell(pod, { phase: "Running", startTime: startedAt, ...containerStatus({ running: { startedAt } }) });
    const { code, signal } = await ended;
    const exitCode = code ?? 128 + (signal === "SIGKILL" ? 9 : 15);
    const told = readFileSync(message).subarray(0, MESSAGE_BYTES).toString();
    const finishedAt = new Date().toISOString();
    const terminated = {
      exitCode,
      reason: exitCode === 0 ? "Completed" : "Error",
      startedAt,
      finishedAt,
      ...(told === "" ? {} : { message: told }),
    };
    await tell(pod, { phase: exitCode === 0 ? "Succeeded" : "Failed", ...containerStatus({ terminated }) });
    run.told = told;
    run.hasEnded = true;
  };

  /** What it has of a pod that goes: first the process, then the object. */
  const end = async (pod: Pod): Promise<void> => {
    const { name = "" } = pod.metadata ?? {};
    const run = runs.find((one) => one.pod === name);
    run?.child.kill("SIGTERM");
    if (run === undefined || run.hasEnded)
      await pods.delete({ namespace, name }, { gracePeriodSeconds: 0 }).catch((thrown: unknown) => {
        if (!isNotFound(thrown)) throw thrown;
      });
  };

  const loop = async (): Promise<void> => {
    while (!closed.signal.aborted) {
      for (const pod of (await pods.list({ namespace })).items) {
        const { uid = "", name = "" } = pod.metadata ?? {};
        if (pod.metadata?.deletionTimestamp !== undefined) await end(pod);
        else if (!known.has(uid)) {
          known.add(uid);
          // As a scheduler does: from now on the pod goes only when its kubelet says so.
          const target = { apiVersion: "v1", kind: "Node", name: "kubelet-of-the-test" };
          await pods.createSubresource({ namespace, name }, "binding", {
            apiVersion: "v1",
            kind: "Binding",
            metadata: { namespace, name },
            target,
          } as KubeObject);
          ends.push(play(pod));
        }
      }
      await delay(LOOK_EVERY_MS);
    }
  };
  const looping = loop();
  // Met by whoever closes it.
  looping.catch(() => undefined);
  return {
    runs,
    running: (owner) => runs.findLast((run) => run.owner === owner && !run.hasEnded),
    async close() {
      closed.abort();
      for (const { child } of runs) child.kill("SIGKILL");
      await looping;
      await Promise.all(ends);
    },
  };
}

/** Paths of a container as those of this machine. */
function inside(
  arg: string,
  { volumeMounts, terminationMessagePath }: Container,
  folders: ReadonlyMap<string, string>,
  message: string,
): string {
  const at = arg.indexOf("=") + 1;
  const path = arg.slice(at);
  if (path === terminationMessagePath) return arg.slice(0, at) + message;
  const mount = volumeMounts.find(({ mountPath }) => path === mountPath || path.startsWith(`${mountPath}/`));
  return mount === undefined ? arg : arg.slice(0, at) + (folders.get(mount.name) ?? "") + path.slice(mount.mountPath.length);
}
