import { isDeepStrictEqual } from "node:util";
import { labels } from "@talos-operator/api";
import type { ObjectMeta } from "@talos-operator/api";
import { secretData, secretText } from "../secrets/secret.ts";
import type { Secret } from "../secrets/secret.ts";
import { BEGINS_WITHIN_MS } from "./runner.ts";
import type { RunOwner, RunRequest, RunState, WorkerTask } from "./runner.ts";
import type { WorkerKind } from "./worker-kind.ts";

/** What Jobs of workers are made of, as an environment variable gives it. */
export interface JobSettings {
  readonly image: string;
  readonly imagePullPolicy?: string;
  readonly imagePullSecrets?: readonly object[];
  readonly serviceAccountName: string;
  readonly resources?: object;
  /** Environment of the container, as a container has it. */
  readonly env?: readonly object[];
  /** Of `/scratch`, as a quantity. */
  readonly scratchSize: string;
  /** A volume for the time of the run. Absent: an emptyDir on the node. */
  readonly scratchStorageClass?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly object[];
  readonly priorityClassName?: string;
}

/** A volume that workers of one installation have beside their scratch, and the flag that tells them where. */
export interface JobFolder {
  /** Of the volume. */
  readonly name: string;
  readonly claim: string;
  readonly mountPath: string;
  /** Without dashes. */
  readonly flag: string;
}

/** The operator takes ended Jobs away itself; this is for those that it never sees again. Seconds. */
const TTL_S = 3_600;

const SECRETS_FILE = "secrets.json";

/** Where a worker writes: all else of its file system is read-only. */
const SCRATCH = "/scratch";

/** The user of the image. */
const USER = 65_532;

/** A Job, as far as it is read. */
export interface Job {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: object;
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly lastTransitionTime?: string }[];
  };
}

/** A pod of a Job, as far as it is read. */
export interface JobPod {
  readonly metadata: ObjectMeta;
  readonly status?: {
    readonly startTime?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
    readonly containerStatuses?: readonly {
      readonly state?: {
        readonly waiting?: { readonly reason?: string; readonly message?: string };
        readonly running?: { readonly startedAt?: string };
        readonly terminated?: { readonly message?: string; readonly finishedAt?: string };
      };
    }[];
  };
}

/** The task and its secrets, for one run. It goes with its Job. */
export function jobSecret(kind: Marks, { name, task, secrets, owner }: RunRequest<WorkerTask, unknown>, namespace: string): Secret {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace, name, labels: marks(kind, owner, task.kind), annotations: ownerMark(kind, owner) },
    type: "Opaque",
    data: secretData({ "task.json": JSON.stringify(task), [SECRETS_FILE]: JSON.stringify(secrets) }),
  };
}

/** The Secret of a run with newer secrets in place of those of the same names; `undefined` where they are the same. */
export function withRenewed(secret: Secret, renewed: object): Secret | undefined {
  const secrets = JSON.parse(secretText(secret, SECRETS_FILE) ?? "{}") as Readonly<Record<string, unknown>>;
  const next = { ...secrets, ...renewed };
  if (isDeepStrictEqual(secrets, next)) return undefined;
  return { ...secret, data: { ...secret.data, ...secretData({ [SECRETS_FILE]: JSON.stringify(next) }) } };
}

/** The Job of one run: one pod, once, with no right and no token in the Kubernetes API. Nothing of {@link RunRequest.secrets} stands in it. */
export function jobFor(
  kind: Omit<WorkerKind<unknown>, "readResult">,
  { name, task, owner }: RunRequest<WorkerTask, unknown>,
  namespace: string,
  settings: JobSettings,
  folder?: JobFolder,
): Job {
  const own = marks(kind, owner, task.kind);
  const mark = ownerMark(kind, owner);
  const place = `/run/${kind.component}`;
  const environment = Object.entries(kind.environment ?? {}).map(([variable, value]) => ({ name: variable, value }));
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { namespace, name, labels: own, annotations: mark },
    spec: {
      // Whether a try is repeated the controller decides.
      backoffLimit: 0,
      completions: 1,
      parallelism: 1,
      activeDeadlineSeconds: Math.ceil((task.timeoutMs + BEGINS_WITHIN_MS) / 1_000),
      ttlSecondsAfterFinished: TTL_S,
      template: {
        metadata: { labels: { ...settings.labels, ...own }, annotations: { ...settings.annotations, ...mark } },
        spec: {
          restartPolicy: "Never",
          serviceAccountName: settings.serviceAccountName,
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          ...(settings.imagePullSecrets === undefined ? {} : { imagePullSecrets: settings.imagePullSecrets }),
          ...(settings.nodeSelector === undefined ? {} : { nodeSelector: settings.nodeSelector }),
          ...(settings.tolerations === undefined ? {} : { tolerations: settings.tolerations }),
          ...(settings.priorityClassName === undefined ? {} : { priorityClassName: settings.priorityClassName }),
          securityContext: {
            runAsNonRoot: true,
            runAsUser: USER,
            runAsGroup: USER,
            fsGroup: USER,
            seccompProfile: { type: "RuntimeDefault" },
          },
          containers: [
            {
              name: kind.component,
              image: settings.image,
              ...(settings.imagePullPolicy === undefined ? {} : { imagePullPolicy: settings.imagePullPolicy }),
              args: [
                kind.command,
                `--task=${place}/task.json`,
                `--secrets=${place}/secrets.json`,
                "--result=/dev/termination-log",
                `--scratch-directory=${SCRATCH}`,
                ...(folder === undefined ? [] : [`--${folder.flag}=${folder.mountPath}`]),
              ],
              ...(environment.length === 0 && settings.env === undefined ? {} : { env: [...environment, ...(settings.env ?? [])] }),
              ...(settings.resources === undefined ? {} : { resources: settings.resources }),
              securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
              terminationMessagePath: "/dev/termination-log",
              terminationMessagePolicy: "File",
              volumeMounts: [
                { name: "task", mountPath: place, readOnly: true },
                { name: "scratch", mountPath: SCRATCH },
                ...(folder === undefined ? [] : [{ name: folder.name, mountPath: folder.mountPath }]),
              ],
            },
          ],
          volumes: [
            { name: "task", secret: { secretName: name, defaultMode: 0o440 } },
            { name: "scratch", ...scratch(settings) },
            ...(folder === undefined ? [] : [{ name: folder.name, persistentVolumeClaim: { claimName: folder.claim } }]),
          ],
        },
      },
    },
  };
}

function scratch({ scratchSize, scratchStorageClass }: JobSettings): object {
  if (scratchStorageClass === undefined) return { emptyDir: { sizeLimit: scratchSize } };
  const spec = { accessModes: ["ReadWriteOnce"], storageClassName: scratchStorageClass, resources: { requests: { storage: scratchSize } } };
  return { ephemeral: { volumeClaimTemplate: { spec } } };
}

type Marks = Pick<WorkerKind<unknown>, "component" | "uidLabel" | "taskLabel" | "ownerAnnotation">;

function marks({ component, uidLabel, taskLabel }: Marks, { uid }: RunOwner, task: string): Readonly<Record<string, string>> {
  return { [labels.component]: component, [uidLabel]: uid, [taskLabel]: task };
}

function ownerMark({ ownerAnnotation }: Marks, { namespace, name }: RunOwner): Readonly<Record<string, string>> {
  return { [ownerAnnotation]: `${namespace}/${name}` };
}

/** The object that a Job was made for; `undefined` for a Job of somebody else. */
export function ownerOf({ ownerAnnotation, uidLabel }: Marks, { metadata }: Job): RunOwner | undefined {
  const [namespace, name] = metadata.annotations?.[ownerAnnotation]?.split("/") ?? [];
  const uid = metadata.labels?.[uidLabel];
  return namespace === undefined || name === undefined || uid === undefined ? undefined : { namespace, name, uid };
}

/** True when nothing of the Job goes on any more. */
export function hasJobEnded({ status }: Job): boolean {
  return endOf(status) !== undefined;
}

/** How a run is, by its Job and the pods of it. Pure. */
export function stateOfJob<Result>(
  readResult: (message: string | undefined) => Result | undefined,
  job: Job | undefined,
  pods: readonly JobPod[],
): RunState<Result> {
  if (job === undefined) return { kind: "absent" };
  const states = pods.flatMap(({ status }) => status?.containerStatuses?.map(({ state }) => state) ?? []);
  const ended = states.find((state) => state?.terminated !== undefined)?.terminated;
  const end = endOf(job.status);
  if (ended !== undefined || end !== undefined) {
    const at = Date.parse(ended?.finishedAt ?? end ?? "");
    return { kind: "ended", result: readResult(ended?.message), at: Number.isNaN(at) ? 0 : at };
  }
  const running = states.find((state) => state?.running !== undefined)?.running;
  if (running !== undefined) return { kind: "running", since: Date.parse(running.startedAt ?? "") || 0 };
  const waiting = states.find((state) => state?.waiting !== undefined)?.waiting;
  const held = pods
    .flatMap(({ status }) => status?.conditions ?? [])
    .find(({ type, status }) => type === "PodScheduled" && status === "False");
  const why =
    waiting?.message ?? waiting?.reason ?? held?.message ?? (pods.length === 0 ? "its pod is not made yet" : "its pod is not started yet");
  return { kind: "waiting", why: why.slice(0, 200) };
}

function endOf(status: Job["status"]): string | undefined {
  const over = status?.conditions?.find((one) => (one.type === "Complete" || one.type === "Failed") && one.status === "True");
  return over === undefined ? undefined : (over.lastTransitionTime ?? "");
}
