import { isDeepStrictEqual } from "node:util";
import { labels } from "@talos-operator/api";
import type { ObjectMeta } from "@talos-operator/api";
import type { StoreKeys, TaskResult, TaskSecrets } from "@talos-operator/backup";
import { secretData, secretText } from "../secrets/secret.ts";
import type { Secret } from "../secrets/secret.ts";
import { BEGINS_WITHIN_MS } from "./runner.ts";
import type { RunOwner, RunRequest, RunState } from "./runner.ts";

/** What Jobs of backups are made of, as the environment variable `BACKUP_JOB` gives it. */
export interface JobSettings {
  readonly image: string;
  readonly imagePullPolicy?: string;
  readonly imagePullSecrets?: readonly object[];
  readonly serviceAccountName: string;
  readonly resources?: object;
  /** Quantity: about twice the size of the largest snapshot. */
  readonly scratchSize: string;
  /** A volume for the time of the run. Absent: an emptyDir on the node. */
  readonly scratchStorageClass?: string;
  /** Claim of the volume for `backupStorage.directory`, which is mounted at `backupDirectory`. */
  readonly directoryClaim?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly object[];
  readonly priorityClassName?: string;
}

/** Namespace and name of the TalosEtcdBackup, on its Jobs and Secrets: labels are too short for both. */
export const OWNER_ANNOTATION = "talos-operator.dev/backup";

/** The operator takes ended Jobs away itself; this is for those that it never sees again. Seconds. */
const TTL_S = 3_600;

const SECRETS_FILE = "secrets.json";

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
export function jobSecret({ name, task, secrets, owner }: RunRequest, namespace: string): Secret {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace, name, labels: marks(owner, task.kind), annotations: ownerMark(owner) },
    type: "Opaque",
    data: secretData({ "task.json": JSON.stringify(task), [SECRETS_FILE]: JSON.stringify(secrets) }),
  };
}

/** The Secret of a run with other keys of the store; `undefined` where they are the same. */
export function withStore(secret: Secret, store: StoreKeys): Secret | undefined {
  const secrets = JSON.parse(secretText(secret, SECRETS_FILE) ?? "{}") as TaskSecrets;
  if (isDeepStrictEqual(secrets.store, store)) return undefined;
  return { ...secret, data: { ...secret.data, ...secretData({ [SECRETS_FILE]: JSON.stringify({ ...secrets, store }) }) } };
}

/**
 * The Job of one run: one pod, once, with no right and no token in the Kubernetes API. Nothing of {@link RunRequest.secrets} stands in it.
 *
 * @param backupDirectory where the volume of {@link JobSettings.directoryClaim} is mounted
 */
export function jobFor({ name, task, owner }: RunRequest, namespace: string, settings: JobSettings, backupDirectory?: string): Job {
  const own = marks(owner, task.kind);
  const folder = settings.directoryClaim === undefined ? undefined : backupDirectory;
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { namespace, name, labels: own, annotations: ownerMark(owner) },
    spec: {
      // Whether a try is repeated the controller decides: it asks another member then.
      backoffLimit: 0,
      completions: 1,
      parallelism: 1,
      activeDeadlineSeconds: Math.ceil((task.timeoutMs + BEGINS_WITHIN_MS) / 1_000),
      ttlSecondsAfterFinished: TTL_S,
      template: {
        metadata: { labels: { ...settings.labels, ...own }, annotations: { ...settings.annotations, ...ownerMark(owner) } },
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
              name: "backup",
              image: settings.image,
              ...(settings.imagePullPolicy === undefined ? {} : { imagePullPolicy: settings.imagePullPolicy }),
              args: [
                "backup-worker",
                "--task=/run/backup/task.json",
                "--secrets=/run/backup/secrets.json",
                "--result=/dev/termination-log",
                "--scratch-directory=/scratch",
                ...(folder === undefined ? [] : [`--backup-directory=${folder}`]),
              ],
              ...(settings.resources === undefined ? {} : { resources: settings.resources }),
              securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
              terminationMessagePath: "/dev/termination-log",
              terminationMessagePolicy: "File",
              volumeMounts: [
                { name: "task", mountPath: "/run/backup", readOnly: true },
                { name: "scratch", mountPath: "/scratch" },
                ...(folder === undefined ? [] : [{ name: "backups", mountPath: folder }]),
              ],
            },
          ],
          volumes: [
            { name: "task", secret: { secretName: name, defaultMode: 0o440 } },
            { name: "scratch", ...scratch(settings) },
            ...(folder === undefined ? [] : [{ name: "backups", persistentVolumeClaim: { claimName: settings.directoryClaim } }]),
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

function marks({ uid }: RunOwner, task: string): Readonly<Record<string, string>> {
  return { [labels.component]: "backup", [labels.backupUid]: uid, [labels.backupTask]: task };
}

function ownerMark({ namespace, name }: RunOwner): Readonly<Record<string, string>> {
  return { [OWNER_ANNOTATION]: `${namespace}/${name}` };
}

/** The backup that a Job was made for; `undefined` for one of somebody else. */
export function ownerOf({ metadata }: Job): RunOwner | undefined {
  const [namespace, name] = metadata.annotations?.[OWNER_ANNOTATION]?.split("/") ?? [];
  const uid = metadata.labels?.[labels.backupUid];
  return namespace === undefined || name === undefined || uid === undefined ? undefined : { namespace, name, uid };
}

/** True when nothing of the Job goes on any more. */
export function hasJobEnded({ status }: Job): boolean {
  return endOf(status) !== undefined;
}

/** How a run is, by its Job and the pods of it. Pure. */
export function stateOfJob(job: Job | undefined, pods: readonly JobPod[]): RunState {
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

/** What a worker told; `undefined` for anything that is no result. Whether it is to be believed is another question. */
export function readResult(message: string | undefined): TaskResult | undefined {
  try {
    const told: unknown = JSON.parse(message ?? "");
    if (typeof told !== "object" || told === null || !("kind" in told)) return undefined;
    return isResult(told) ? told : undefined;
  } catch {
    // The kubelet cuts what is too long, and a worker that is killed tells nothing.
    return undefined;
  }
}

function isResult(told: { readonly kind: unknown }): told is TaskResult {
  const has = (...fields: readonly string[]): boolean =>
    fields.every((field) => Object.hasOwn(told, field) && Object.getOwnPropertyDescriptor(told, field)?.value !== null);
  const isObject = (field: string): boolean => typeof Object.getOwnPropertyDescriptor(told, field)?.value === "object";
  switch (told.kind) {
    case "taken":
    case "proved":
      return has("facts", "proof") && isObject("facts") && isObject("proof");
    case "removed":
      return has("slots", "kept") && isObject("slots") && isObject("kept");
    case "failed":
      return has("reason", "message", "mayRepeat") && typeof Object.getOwnPropertyDescriptor(told, "message")?.value === "string";
    default:
      return false;
  }
}
