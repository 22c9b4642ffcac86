import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createApiServer, createMemoryStore } from "@talos-operator/apiserver";
import { createKubeClient } from "@talos-operator/kube-runtime";
import type { ResourceType } from "@talos-operator/kube-runtime";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { createBackupJobRunner } from "../backups/job-runner.ts";
import { secretText, secretType } from "../secrets/secret.ts";
import type { Secret } from "../secrets/secret.ts";
import { jobFor, ownerOf } from "../workers/job.ts";
import type { JobSettings } from "../workers/job.ts";
import { createAddonJobRunner } from "./job-runner.ts";
import { addonRunId, addonRunName } from "./runner.ts";
import type { AddonRunRequest } from "./runner.ts";
import { addonWorkers } from "./workers.ts";

const settings: JobSettings = {
  image: "registry/operator:1",
  serviceAccountName: "addon",
  scratchSize: "1Gi",
  resources: { limits: { memory: "512Mi" } },
  env: [{ name: "HTTPS_PROXY", value: "http://proxy:3128" }],
};
const id = addonRunId("u-1", "uninstall", "1");
const request: AddonRunRequest = {
  name: addonRunName(id),
  owner: { namespace: "team", name: "demo-cni-addonrelease", uid: "u-1" },
  task: {
    kind: "uninstall",
    release: { name: "cni", namespace: "kube-system" },
    owner: "u-1",
    timeoutMs: 300_000,
    options: {},
    endedRuns: [],
    run: id,
  },
  secrets: { kubeconfig: "TOP-SECRET-1", values: ["TOP-SECRET-2"], repository: { password: "TOP-SECRET-3" } },
};

interface Container {
  readonly args: readonly string[];
  readonly env: readonly object[];
  readonly resources: object;
  readonly securityContext: { readonly readOnlyRootFilesystem: boolean };
}
interface Pod {
  readonly spec: {
    readonly activeDeadlineSeconds: number;
    readonly template: {
      readonly spec: Readonly<Record<string, unknown>> & { readonly containers: readonly [Container]; readonly volumes: readonly object[] };
    };
  };
}

describe("the Job of an addon", () => {
  const job = jobFor(addonWorkers, request, "system", settings);
  const { spec } = job as unknown as Pod;
  const [container] = spec.template.spec.containers;

  test("runs the worker of addons, which writes into its scratch alone", () => {
    assert.deepEqual(container.args, [
      "addon-worker",
      "--task=/run/addon/task.json",
      "--secrets=/run/addon/secrets.json",
      "--result=/dev/termination-log",
      "--scratch-directory=/scratch",
    ]);
    assert.equal(container.securityContext.readOnlyRootFilesystem, true);
    assert.deepEqual(container.env, [
      { name: "HOME", value: "/scratch" },
      { name: "TMPDIR", value: "/scratch" },
      { name: "HTTPS_PROXY", value: "http://proxy:3128" },
    ]);
    assert.deepEqual(container.resources, settings.resources);
    assert.deepEqual(spec.template.spec.volumes, [
      { name: "task", secret: { secretName: request.name, defaultMode: 0o440 } },
      { name: "scratch", emptyDir: { sizeLimit: "1Gi" } },
    ]);
  });

  test("holds no secret and mounts no token", () => {
    assert.doesNotMatch(JSON.stringify(job), /TOP-SECRET/);
    assert.equal(spec.template.spec["automountServiceAccountToken"], false);
    assert.equal(spec.activeDeadlineSeconds, 600);
  });

  test("leads to its release, and is no Job of a backup", () => {
    assert.match(request.name, /^addon-[0-9a-f]{12}$/);
    assert.deepEqual(ownerOf(addonWorkers, job), request.owner);
  });
});

test("runners of addons and of backups share a namespace, and neither sees or ends runs of the other", async () => {
  const time = createVirtualTime();
  const server = await createApiServer({
    store: createMemoryStore(),
    clock: time.clock,
    timers: time.timers,
    random: createSeededRandom(1),
  });
  try {
    const client = createKubeClient(server.transport({ name: "test", groups: ["system:masters"] }));
    const namespaces: ResourceType = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };
    await client.resource(namespaces).create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "system" } });
    const addons = createAddonJobRunner({ client, namespace: "system", settings });
    const backups = createBackupJobRunner({ client, namespace: "system", settings });
    const key = { namespace: "system", name: request.name };
    await addons.start(request);
    assert.deepEqual(await addons.list(), [{ name: request.name, owner: request.owner, hasEnded: false }]);
    assert.deepEqual(await backups.list(), []);
    await backups.remove(request.name);
    await backups.refresh?.(request.name, { store: { accessKeyID: "a", secretAccessKey: "b" } });
    const secret = await client.resource<Secret>(secretType).get(key);
    assert.deepEqual(JSON.parse(secretText(secret, "task.json") ?? ""), request.task);
    assert.deepEqual(JSON.parse(secretText(secret, "secrets.json") ?? ""), request.secrets);
    assert.equal((await addons.look(request.name)).kind, "waiting");
    await addons.remove(request.name);
    assert.deepEqual([await addons.list(), await client.resource<Secret>(secretType).tryGet(key)], [[], undefined]);
  } finally {
    server.close();
  }
});
