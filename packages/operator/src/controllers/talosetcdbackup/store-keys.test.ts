import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { labels } from "@talos-operator/api";
import type { BackupStorage } from "@talos-operator/api";
import { createApiServer, createMemoryStore } from "@talos-operator/apiserver";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { secretData, secretType } from "../../secrets/secret.ts";
import type { Secret } from "../../secrets/secret.ts";
import { readStoreKeys } from "./store-keys.ts";

const HIDDEN = "what-nobody-may-see";

describe("keys of a store", async () => {
  const time = createVirtualTime();
  const server = await createApiServer({
    store: createMemoryStore(),
    clock: time.clock,
    timers: time.timers,
    random: createSeededRandom(1),
  });
  const client = createKubeClient(server.transport({ name: "test", groups: ["system:masters"] }));
  const secrets = client.resource<Secret>(secretType);
  const make = (
    name: string,
    texts: Readonly<Record<string, string>>,
    over: Partial<Secret> = {},
    marks: Readonly<Record<string, string>> = {},
  ) =>
    secrets.create({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: over.metadata?.namespace ?? "default", name, labels: marks },
      type: "Opaque",
      data: secretData(texts),
      ...(over.type === undefined ? {} : { type: over.type }),
    });
  before(async () => {
    await client
      .resource({ group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false })
      .create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "other" } });
    await make("good", { id: " KEY\n", secret: HIDDEN, empty: " " });
    await make("of-another-namespace", { id: HIDDEN }, { metadata: { name: "", namespace: "other" } });
    await make("two-lines", { id: `${HIDDEN}\r\nx-amz-acl: public-read` });
    await make("letters", { id: "schlüssel" });
    await make("huge", { id: HIDDEN.repeat(5_000) });
    await make("tls", { id: HIDDEN, "tls.crt": "", "tls.key": "" }, { type: "kubernetes.io/tls" });
    await make("bootstrap", { id: HIDDEN }, { type: "bootstrap.kubernetes.io/token" });
    await make("release", { id: HIDDEN }, { type: "helm.sh/release.v1" });
    await make("login", { id: "KEY", username: "", password: "" }, { type: "kubernetes.io/basic-auth" });
    await make("bundle", { id: HIDDEN }, {}, { [labels.secretKind]: "bundle" });
    await make("run", { id: HIDDEN }, {}, { [labels.component]: "backup" });
    await make("labelled", { id: "KEY", secret: HIDDEN }, {}, { [labels.backupStore]: "true" });
    await make("denied", { id: HIDDEN }, {}, { [labels.backupStore]: "false" });
  });
  after(() => server.close());

  const read = (name: string, key = "id", optional?: boolean) => {
    const selector = { name, key, ...(optional === undefined ? {} : { optional }) };
    const storage: BackupStorage = {
      s3: { bucket: "b", region: "r", accessKeyID: selector, secretAccessKey: { name: "good", key: "secret" } },
    };
    return readStoreKeys(storage, "default", client);
  };
  test("are read without what surrounds them", async () => {
    assert.deepEqual(await read("labelled"), {
      kind: "read",
      value: { accessKeyID: "KEY", secretAccessKey: HIDDEN },
      unlabelled: ["good"],
    });
    assert.equal((await read("login")).kind, "read");
    assert.deepEqual(await read("absent", "id", true), { kind: "read", value: undefined, unlabelled: ["good"] });
  });

  test("name the Secrets without their label, once each, and none that are absent or of another use", async () => {
    assert.deepEqual((await read("good")).unlabelled, ["good"]);
    assert.deepEqual((await read("denied")).unlabelled, ["denied", "good"]);
    assert.deepEqual((await read("absent")).unlabelled, ["good"]);
    assert.deepEqual((await read("tls")).unlabelled, ["good"]);
  });

  test("are read from Secrets with their label alone, where that is demanded", async () => {
    const of = (id: string, secret: string) =>
      readStoreKeys(
        {
          s3: { bucket: "b", region: "r", accessKeyID: { name: id, key: "id" }, secretAccessKey: { name: secret, key: "secret" } },
        },
        "default",
        client,
        true,
      );
    assert.equal((await of("labelled", "labelled")).kind, "read");
    for (const [id, secret, names] of [
      ["good", "good", "Secret good has"],
      ["good", "labelled", "Secret good has"],
      ["labelled", "good", "Secret good has"],
      ["denied", "good", "Secrets denied, good have"],
    ] as const) {
      const answer = await of(id, secret);
      assert.ok(answer.kind === "missing", `${id} ${secret}`);
      assert.equal(
        answer.message,
        `${names} no label talos-operator.dev/backup-store=true, which --require-backup-store-label demands. Label what backups may use.`,
      );
    }
  });

  test("of a session are not read without the label either, where that is demanded", async () => {
    const labelled = (key: string) => ({ name: "labelled", key });
    const s3 = {
      bucket: "b",
      region: "r",
      accessKeyID: labelled("id"),
      secretAccessKey: labelled("secret"),
      sessionToken: { name: "good", key: "secret" },
    };
    assert.equal((await readStoreKeys({ s3 }, "default", client, true)).kind, "missing");
    assert.deepEqual((await readStoreKeys({ s3 }, "default", client)).unlabelled, ["good"]);
  });

  const refused: readonly (readonly [name: string, key: string, says: RegExp])[] = [
    ["absent", "id", /^Secret default\/absent not found \(spec\.backupStorage\.s3\.accessKeyID\)\.$/],
    ["of-another-namespace", "id", /not found/],
    ["good", "other", /^Secret good has no text under other\.$/],
    ["good", "empty", /has no text/],
    ...["two-lines", "letters", "huge"].map(
      (name) => [name, "id", new RegExp(`^What Secret ${name} has under id is no key of a store`)] as const,
    ),
    ...["tls", "bootstrap", "release", "bundle", "run"].map((name) => [name, "id", /is of another use/] as const),
  ];
  for (const [name, key, says] of refused)
    test(`are not taken from ${name}, key ${key}`, async () => {
      const answer = await read(name, key);
      assert.ok(answer.kind === "missing");
      assert.match(answer.message, says);
      assert.ok(!answer.message.includes(HIDDEN));
    });

  test("a Secret that is absent is named with all fields that name it", async () => {
    const selector = { name: "absent", key: "id" };
    const storage: BackupStorage = { s3: { bucket: "b", region: "r", accessKeyID: selector, secretAccessKey: selector } };
    const answer = await readStoreKeys(storage, "default", client);
    assert.equal(
      answer.kind === "missing" ? answer.message : "",
      "Secret default/absent not found (spec.backupStorage.s3.accessKeyID, secretAccessKey).",
    );
  });

  test("what is wrong with both of one Secret is said once", async () => {
    const selector = { name: "tls", key: "id" };
    const storage: BackupStorage = { s3: { bucket: "b", region: "r", accessKeyID: selector, secretAccessKey: selector } };
    const answer = await readStoreKeys(storage, "default", client);
    assert.ok(answer.kind === "missing");
    assert.equal(answer.message.split("of another use").length, 2);
  });
});
