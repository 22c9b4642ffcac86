import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { annotations, findCondition, talosEtcdBackupResource, talosEtcdBackupScheduleResource } from "@talos-operator/api";
import type { TalosCluster, TalosEtcdBackup, TalosEtcdBackupSchedule } from "@talos-operator/api";
import { KubeApiError } from "@talos-operator/kube-runtime";
import type { KubeObject, ResourceType } from "@talos-operator/kube-runtime";
import type { BackupRunState } from "@talos-operator/operator";
import { createScriptedRunner, takenBy } from "../world/scripted-runner.ts";
import type { ScriptedRunner } from "../world/scripted-runner.ts";
import { createStory, demoCluster, kinds } from "./story.ts";
import type { Story } from "./story.ts";

/*
 * What people write, and what members, stores and disks give, that no backup can be made of: each has its reason, in a word and a sentence, and none of it makes a
 * backup Ready, stops the operator or is told with a secret in it.
 */

type Result = NonNullable<Extract<BackupRunState, { readonly kind: "ended" }>["result"]>;
type Failed = Extract<Result, { readonly kind: "failed" }>;

const SECRET = "a-key-that-nobody-may-see";
const namespaceType: ResourceType = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };
const key = (name: string, of = "store") => ({ name: of, key: name });
const s3 = { bucket: "etcd-backups", region: "eu-central-1", accessKeyID: key("id"), secretAccessKey: key("secret") };
const spec = (
  storage: Partial<typeof s3> & Record<string, unknown> = {},
  rest: Partial<TalosEtcdBackup["spec"]> = {},
): TalosEtcdBackup["spec"] => ({
  clusterRef: { name: "demo" },
  backupStorage: { s3: { ...s3, ...storage } },
  ...rest,
});
const failed = (reason: Failed["reason"], over: Partial<Failed> = {}): Failed => ({
  kind: "failed",
  reason,
  message: "What it was.",
  mayRepeat: false,
  ...over,
});

describe("bad input of backups", () => {
  let world: Story;
  let runner: ScriptedRunner;

  before(async () => {
    world = await createStory({
      backups: () => ({ runner: (runner ??= createScriptedRunner(world.time.clock)), backupDirectory: "/backups" }),
    });
    await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(["10.5.0.1"]));
    const data = { id: Buffer.from("id").toString("base64"), secret: Buffer.from(SECRET).toString("base64") };
    const secret = (name: string, namespace = "default", type = "Opaque") =>
      world.client
        .resource(kinds.secret)
        .create({ apiVersion: "v1", kind: "Secret", metadata: { namespace, name }, type, data } as KubeObject);
    for (const name of ["other", "going"])
      await world.client.resource(namespaceType).create({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
    await secret("store");
    await secret("of-another-namespace", "other");
    await secret("of-another-type", "default", "bootstrap.kubernetes.io/token");
    await world.start();
    await world.untilReady();
  });
  after(() => world.end());

  const backups = () => world.client.resource<TalosEtcdBackup>(talosEtcdBackupResource);
  const schedules = () => world.client.resource<TalosEtcdBackupSchedule>(talosEtcdBackupScheduleResource);
  const ask = (name: string, wanted: TalosEtcdBackup["spec"]) =>
    backups().create({
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosEtcdBackup",
      metadata: { namespace: "default", name },
      spec: wanted,
    });
  const schedule = (name: string, over: Record<string, unknown> = {}, namespace = "default") =>
    schedules().create({
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosEtcdBackupSchedule",
      metadata: { namespace, name },
      spec: { schedule: "0 2 * * *", backupTemplate: { spec: spec() }, ...over },
    });
  /** The condition once it has this reason; fails with what it says instead. */
  const becomes = async (
    read: () => Promise<TalosEtcdBackup | TalosEtcdBackupSchedule | undefined>,
    reason: string,
    type = "Ready",
  ): Promise<string> => {
    let said: string | undefined;
    for (let second = 0; second < 90; second += 1) {
      const condition = findCondition((await read())?.status?.conditions, type);
      if (condition?.reason === reason) return condition.message;
      said = JSON.stringify(condition);
      await world.time.advance(1_000);
    }
    assert.fail(`${type} does not become ${reason}: ${said}`);
  };
  const name = (title: string): string =>
    title
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replaceAll(/^-|-$/g, "")
      .slice(0, 40);
  const runOf = async (of: string, task: string) => {
    for (let second = 0; second < 90; second += 1) {
      const run = runner.begun.findLast((one) => one.owner.name === of && one.task.kind === task);
      if (run !== undefined) return run;
      await world.time.advance(1_000);
    }
    assert.fail(`no run of ${of}`);
  };

  const written: readonly (readonly [title: string, spec: TalosEtcdBackup["spec"], reason: string, says: RegExp])[] = [
    ["an endpoint that is no url", spec({ endpoint: "s3 example" }), "SpecRefused", /s3\.endpoint/],
    ["http that nobody allowed", spec({ endpoint: "http://minio.storage:9000" }), "InsecureObjectStorage", /allow-insecure-object-storage/],
    ["the bucket ..", spec({ bucket: ".." }), "SpecRefused", /s3\.bucket/],
    ["a prefix with a line break", spec({ prefix: "a\nb" }), "SpecRefused", /s3\.prefix/],
    ["recipients that are no age keys", spec({}, { encryption: { recipients: ["ssh-ed25519 AAAA"] } }), "SpecRefused", /recipients\[0\]/],
    ["an identity as recipient", spec({}, { encryption: { recipients: ["AGE-SECRET-KEY-1QQQ"] } }), "SpecRefused", /make another key pair/],
    ["a folder above the one of backups", { ...spec(), backupStorage: { directory: { path: "../x" } } }, "SpecRefused", /directory\.path/],
    [
      "a secret of another namespace",
      spec({ accessKeyID: key("id", "of-another-namespace") }),
      "KeysNotReadable",
      /not found \(spec\.backupStorage\.s3\.accessKeyID\)/,
    ],
    ["a secret of another type", spec({ accessKeyID: key("id", "of-another-type") }), "KeysNotReadable", /of another use/],
    ["a secret without the key", spec({ accessKeyID: key("none") }), "KeysNotReadable", /no text under none/],
    ["a cluster that is not there", { ...spec(), clusterRef: { name: "absent" } }, "ControlPlaneNotFound", /absent/],
  ];
  for (const [title, wanted, reason, says] of written)
    it(`${title}: ${reason}`, async () => {
      await ask(name(title), wanted);
      const message = await becomes(() => backups().tryGet({ namespace: "default", name: name(title) }), reason);
      assert.match(message, says);
      assert.doesNotMatch(message, new RegExp(`${SECRET}|SECRET-KEY-1Q`));
      assert.deepEqual(runner?.begun.filter(({ owner }) => owner.name === name(title)) ?? [], []);
      await backups().delete({ namespace: "default", name: name(title) });
    });

  const given: readonly (readonly [title: string, result: Result, reason: string])[] = [
    ["a redirect to another host", failed("store-failed", { store: "redirected" }), "BackupFailed"],
    ["a store that refuses its keys", failed("store-failed", { store: "denied" }), "BackupFailed"],
    ["a clock that differs", failed("store-failed", { store: "clock", mayRepeat: true }), "StoreRefused"],
    ["a store that is full", failed("store-failed", { store: "full", mayRepeat: true }), "StoreFull"],
    ["a store that does not answer", failed("store-failed", { store: "unreachable", mayRepeat: true }), "StoreUnreachable"],
    ["a snapshot that is cut", failed("snapshot-damaged", { mayRepeat: true }), "SnapshotDamaged"],
    ["a snapshot of another cluster", failed("source-changed", { mayRepeat: true }), "SourceUnreachable"],
    ["a snapshot larger than the disk", failed("too-large", { mayRepeat: true }), "SnapshotTooLarge"],
    ["a snapshot larger than it may be", failed("too-large"), "BackupFailed"],
    ["a manifest of somebody else", failed("manifest-refused"), "BackupFailed"],
  ];
  for (const [title, result, reason] of given)
    it(`${title}: ${reason}`, async () => {
      await ask(name(title), spec());
      const run = await runOf(name(title), "take");
      runner.end(run.name, result);
      const message = await becomes(() => backups().tryGet({ namespace: "default", name: name(title) }), reason);
      assert.match(message, /What it was\./);
      await backups().delete({ namespace: "default", name: name(title) });
    });

  it("an identity that does not fit: ProofNotRun, and the backup stays Ready", async () => {
    await ask("unfit", spec({}, { drill: { identitySecretRef: key("id") } }));
    const take = await runOf("unfit", "take");
    runner.end(take.name, takenBy(take, world.time.now()));
    await becomes(() => backups().tryGet({ namespace: "default", name: "unfit" }), "BackupSucceeded");
    await backups().patch(
      { namespace: "default", name: "unfit" },
      { type: "merge", value: { metadata: { annotations: { [annotations.proveNow]: "1" } } } },
    );
    const prove = await runOf("unfit", "prove");
    assert.equal(prove.secrets.identity, "id");
    runner.end(prove.name, failed("bad-identity"));
    assert.match(await becomes(() => backups().tryGet({ namespace: "default", name: "unfit" }), "ProofNotRun", "Proved"), /What it was\./);
    await becomes(() => backups().tryGet({ namespace: "default", name: "unfit" }), "BackupSucceeded");
  });

  it("IN91: no recipient: the backup is made, and says how to have the keys in it", async () => {
    await ask("without-recipients", spec());
    const message = await becomes(
      () => backups().tryGet({ namespace: "default", name: "without-recipients" }),
      "NoRecipients",
      "KeysNotBackedUp",
    );
    assert.match(message, /spec\.encryption\.recipients/);
    const run = await runOf("without-recipients", "take");
    assert.equal(run.secrets.clusterKeys, undefined);
    runner.end(run.name, takenBy(run, world.time.now()));
    await becomes(() => backups().tryGet({ namespace: "default", name: "without-recipients" }), "BackupSucceeded");
  });

  for (const [field, value] of [
    ["retention", 0],
    ["retention", -1],
    ["keepDaily", -1],
    ["keepWeekly", -1],
    ["keepMonthly", -1],
    ["schedule", ""],
  ] as const)
    it(`IN92: ${field} ${JSON.stringify(value)}: refused by the API`, async () => {
      await assert.rejects(
        schedule("refused", { [field]: value }),
        (thrown) => thrown instanceof KubeApiError && thrown.status === 422 && thrown.message.includes(`spec.${field}`),
      );
    });

  const ofSchedules: readonly (readonly [title: string, over: Record<string, unknown>, reason: string])[] = [
    ["a schedule of four fields", { schedule: "0 2 * *" }, "InvalidSchedule"],
    ["a time zone that is none", { timeZone: "Mars/Olympus" }, "InvalidSchedule"],
    ["a schedule that never fires", { schedule: "0 0 30 2 *" }, "NeverFires"],
    ["a template that cannot be", { backupTemplate: { spec: spec({ bucket: ".." }) } }, "SpecRefused"],
  ];
  for (const [title, over, reason] of ofSchedules)
    it(`${title}: ${reason}`, async () => {
      await schedule(name(title), over);
      await becomes(() => schedules().tryGet({ namespace: "default", name: name(title) }), reason);
    });

  // That one which is not deleted itself says NamespaceTerminating: `controllers/talosetcdbackupschedule/decide.test.ts`.
  it("a schedule in a namespace that is going away makes nothing, and holds nothing up", async () => {
    await schedule(
      "late",
      { schedule: "* * * * *", backupTemplate: { spec: { clusterRef: { name: "demo" }, backupStorage: { directory: {} } } } },
      "going",
    );
    await becomes(() => schedules().tryGet({ namespace: "going", name: "late" }), "ScheduleActive");
    const hold = (names: readonly string[]) =>
      schedules().patch({ namespace: "going", name: "late" }, { type: "merge", value: { metadata: { finalizers: names } } });
    await hold(["example.dev/somebody-else"]);
    await world.client.resource(namespaceType).delete({ name: "going" });
    await world.time.advance(300_000);
    assert.deepEqual((await backups().list({ namespace: "going" })).items, []);
    await hold([]);
    await world.until(
      "the namespace is gone",
      async () => (await world.client.resource(namespaceType).tryGet({ name: "going" })) === undefined,
    );
  });
});
