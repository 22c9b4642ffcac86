import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createApiServer, createMemoryStore } from "@talos-operator/apiserver";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import type { ResourceType } from "@talos-operator/kube-runtime";
import { secretText, secretType } from "../secrets/secret.ts";
import type { Secret } from "../secrets/secret.ts";
import { backupFolder, createBackupJobRunner } from "../backups/job-runner.ts";
import type { BackupJobSettings } from "../backups/job-runner.ts";
import { readBackupResult } from "../backups/read-result.ts";
import type { BackupRunRequest, BackupRunState } from "../backups/runner.ts";
import { backupWorkers } from "../backups/workers.ts";
import { hasJobEnded, jobFor, jobSecret, ownerOf, stateOfJob } from "./job.ts";
import type { Job, JobPod } from "./job.ts";

const settings: BackupJobSettings = {
  image: "registry/operator:1",
  serviceAccountName: "backup",
  scratchSize: "20Gi",
  directoryClaim: "backups",
};
const request: BackupRunRequest = {
  name: "backup-0123456789ab",
  owner: { namespace: "team", name: "nightly", uid: "u-1" },
  task: {
    kind: "remove",
    owner: { namespace: "team", controlPlane: "demo", clusterId: "c" },
    place: { kind: "directory", path: "", prefix: "p" },
    timeoutMs: 300_000,
    slots: ["s"],
  },
  secrets: { manifestKey: "TOP-SECRET-1", store: { accessKeyID: "TOP-SECRET-2", secretAccessKey: "TOP-SECRET-3" } },
};

interface PodSpec {
  readonly spec: {
    readonly activeDeadlineSeconds: number;
    readonly backoffLimit: number;
    readonly template: {
      readonly spec: Readonly<Record<string, unknown>> & {
        readonly containers: readonly { readonly args: readonly string[]; readonly securityContext: object }[];
        readonly volumes: readonly Readonly<Record<string, unknown>>[];
      };
    };
  };
}
const built = (over: Partial<BackupJobSettings> = {}): PodSpec =>
  jobFor(backupWorkers, request, "system", { ...settings, ...over }, backupFolder(settings, "/backups")) as unknown as PodSpec;

describe("the Job of a run", () => {
  test("holds no secret and mounts no token, on no host's network", () => {
    const text = JSON.stringify(built());
    for (const secret of ["TOP-SECRET", Buffer.from("TOP-SECRET").toString("base64").slice(0, 12)]) assert.ok(!text.includes(secret));
    const { spec } = built().spec.template;
    assert.deepEqual([spec["automountServiceAccountToken"], spec["hostNetwork"], spec["restartPolicy"]], [false, undefined, "Never"]);
  });

  test("is allowed in a namespace of restricted pod security", () => {
    const { spec } = built().spec.template;
    assert.deepEqual(spec["securityContext"], {
      runAsNonRoot: true,
      runAsUser: 65_532,
      runAsGroup: 65_532,
      fsGroup: 65_532,
      seccompProfile: { type: "RuntimeDefault" },
    });
    assert.deepEqual(spec.containers[0]?.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  });

  test("is tried once, and ends after the time of its task and what it may take to begin", () => {
    const { spec } = built();
    assert.deepEqual([spec.backoffLimit, spec.activeDeadlineSeconds], [0, 600]);
  });

  test("has its scratch on the node, or on a volume of its own", () => {
    const scratch = (job: PodSpec) => job.spec.template.spec.volumes.find(({ name }) => name === "scratch");
    assert.deepEqual(scratch(built()), { name: "scratch", emptyDir: { sizeLimit: "20Gi" } });
    assert.match(JSON.stringify(scratch(built({ scratchStorageClass: "fast" }))), /"storageClassName":"fast".*"storage":"20Gi"/);
  });

  test("mounts the folder of backups only where there is a volume for it", () => {
    assert.ok(built().spec.template.spec.containers[0]?.args.includes("--backup-directory=/backups"));
    const { directoryClaim: _none, ...without } = settings;
    const job = jobFor(backupWorkers, request, "system", without, backupFolder(without, "/backups"));
    assert.ok(!JSON.stringify(job).includes("/backups"));
  });

  test("leads to its backup", () => {
    assert.deepEqual(ownerOf(backupWorkers, jobFor(backupWorkers, request, "system", settings)), request.owner);
    assert.equal(ownerOf(backupWorkers, { metadata: { name: "x" } }), undefined);
    assert.ok(JSON.stringify(jobSecret(backupWorkers, request, "system").metadata).includes("team/nightly"));
  });
});

const job = (type?: "Complete" | "Failed"): Job => ({
  metadata: { name: "x" },
  ...(type === undefined ? {} : { status: { conditions: [{ type, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }] } }),
});
const pod = (state: object, conditions: readonly { type: string; status: string; message?: string }[] = []): JobPod => ({
  metadata: { name: "p" },
  status: { conditions, containerStatuses: [{ state }] },
});
const removed = { kind: "removed", slots: ["s"], kept: [] } as const;
const at = Date.UTC(2026, 0, 1);
const cases: readonly (readonly [string, Job | undefined, readonly JobPod[], BackupRunState])[] = [
  ["no Job", undefined, [], { kind: "absent" }],
  ["no pod yet", job(), [], { kind: "waiting", why: "its pod is not made yet" }],
  [
    "an image that cannot be pulled",
    job(),
    [pod({ waiting: { reason: "ImagePullBackOff" } })],
    { kind: "waiting", why: "ImagePullBackOff" },
  ],
  [
    "a pod without a node",
    job(),
    [{ metadata: { name: "p" }, status: { conditions: [{ type: "PodScheduled", status: "False", message: "0/3 nodes are available" }] } }],
    { kind: "waiting", why: "0/3 nodes are available" },
  ],
  ["it runs", job(), [pod({ running: { startedAt: "2026-01-01T00:00:00Z" } })], { kind: "running", since: at }],
  [
    "it told a result",
    job("Complete"),
    [pod({ terminated: { message: JSON.stringify(removed), finishedAt: "2026-01-01T00:00:00Z" } })],
    { kind: "ended", result: removed, at },
  ],
  ["it was killed", job(), [pod({ terminated: { finishedAt: "2026-01-01T00:00:00Z" } })], { kind: "ended", result: undefined, at }],
  ["its pod is gone", job("Failed"), [], { kind: "ended", result: undefined, at }],
];
for (const [name, given, pods, want] of cases)
  test(`state of a Job: ${name}`, () => {
    assert.deepEqual(stateOfJob(backupWorkers.readResult, given, pods), want);
    assert.equal(given !== undefined && hasJobEnded(given), given?.status !== undefined);
  });

for (const message of [
  undefined,
  "",
  "{",
  "null",
  "7",
  "{}",
  '{"kind":"taken"}',
  '{"kind":"taken","facts":null,"proof":{}}',
  '{"kind":"other"}',
  '{"kind":"failed","reason":"x","message":7,"mayRepeat":true}',
])
  test(`no result: ${message}`, () => assert.equal(readBackupResult(message), undefined));

test("a runner begins a Job with its Secret, once, and takes both away", async () => {
  const time = createVirtualTime();
  const server = await createApiServer({
    store: createMemoryStore(),
    clock: time.clock,
    timers: time.timers,
    random: createSeededRandom(1),
  });
  const client = createKubeClient(server.transport({ name: "test", groups: ["system:masters"] }));
  const jobType: ResourceType = { group: "batch", version: "v1", plural: "jobs", kind: "Job", namespaced: true };
  const crd = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };
  for (const name of ["system", "team"]) await client.resource(crd).create({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  const runner = createBackupJobRunner({ client, namespace: "system", settings, backupDirectory: "/backups" });
  const key = { namespace: "system", name: request.name };
  const secrets = client.resource<Secret>(secretType);
  try {
    assert.deepEqual(await runner.look(request.name), { kind: "absent" });
    await runner.start(request);
    const { uid } = (await client.resource<Job>(jobType).get(key)).metadata;
    await runner.start(request);
    assert.equal((await client.resource<Job>(jobType).get(key)).metadata.uid, uid);
    assert.equal((await secrets.get(key)).metadata.ownerReferences?.[0]?.uid, uid);
    // Whoever may make Jobs in another namespace is not believed what it says of them.
    const { metadata, ...job } = await client.resource<Job>(jobType).get(key);
    const forged = { namespace: "team", name: "forged", labels: { ...metadata.labels }, annotations: { ...metadata.annotations } };
    await client.resource<Job>(jobType).create({ ...job, metadata: forged });
    assert.deepEqual(await runner.list(), [{ name: request.name, owner: request.owner, hasEnded: false }]);
    assert.equal((await runner.look(request.name)).kind, "waiting");
    // Whoever died before the Secret was made left half a run.
    await secrets.delete(key);
    assert.equal((await runner.look(request.name)).kind, "absent");
    await runner.start(request);
    assert.equal((await runner.look(request.name)).kind, "waiting");
    // The keys of the store were renewed; everything else is as before.
    const before = await secrets.get(key);
    await runner.refresh?.(request.name, { store: { accessKeyID: "TOP-SECRET-2", secretAccessKey: "TOP-SECRET-3" } });
    assert.equal((await secrets.get(key)).metadata.resourceVersion, before.metadata.resourceVersion);
    await runner.refresh?.(request.name, { store: { accessKeyID: "NEW", secretAccessKey: "NEWER", sessionToken: "NEWEST" } });
    const renewed = await secrets.get(key);
    assert.equal(renewed.data?.["task.json"], before.data?.["task.json"]);
    assert.deepEqual(JSON.parse(secretText(renewed, "secrets.json") ?? ""), {
      manifestKey: "TOP-SECRET-1",
      store: { accessKeyID: "NEW", secretAccessKey: "NEWER", sessionToken: "NEWEST" },
    });
    await runner.refresh?.("backup-ba9876543210", { store: { accessKeyID: "NEW", secretAccessKey: "NEWER" } });
    await runner.remove(request.name);
    assert.deepEqual(await runner.list(), []);
    assert.equal(await secrets.tryGet(key), undefined);
    await runner.remove(request.name);
  } finally {
    server.close();
  }
});
