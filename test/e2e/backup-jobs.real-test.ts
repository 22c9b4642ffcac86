// Genuine parts: etcd, etcdutl, helm, kube-apiserver, kube-controller-manager, kubectl, versitygw
import assert from "node:assert/strict";
import { closeSync, openSync, readFileSync, readSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createX509Keys } from "@talos-operator/adapters";
import { findCondition, talosEtcdBackupResource, type TalosEtcdBackup } from "@talos-operator/api";
import { backupCodec } from "@talos-operator/backup/adapters";
import { createTestIdentity } from "@talos-operator/backup/testing";
import { parseKubernetesYaml } from "@talos-operator/kube-runtime/yaml";
import type { KeyPair } from "@talos-operator/ports";
import { KUBECTL_WAITS, ownAddress, tool, until } from "@talos-operator/adapters/testing";
import { findTraces, secretTexts } from "./backups/secret-traces.ts";
import type { StoreRequest } from "./backups/store-gate.ts";
import { startVersitygw } from "./backups/versitygw.ts";
import { JOB_ACCOUNT, NAMESPACE, startBackupWorld, type BackupWorld } from "./backups/world.ts";
import { must, run } from "./processes.ts";

const PREFIX = "talos-operator-etcd-backups/default";
/** Where a worker is killed: by the requests that it makes, of which the store did the last one or did not. */
const moments: Readonly<Record<string, (request: StoreRequest) => boolean>> = {
  "before-the-first-byte": ({ method, key, moment }) => method === "GET" && key.endsWith(".json") && moment === "asked",
  // Two parts of three lie in memory, so the member is not heard to its end.
  "while-streaming": ({ query, moment }) => query.get("partNumber") === "1" && moment === "answered",
  "before-it-is-read-back": ({ method, query, moment }) => method === "POST" && query.has("uploadId") && moment === "answered",
  "before-the-manifest": ({ method, key, moment }) => method === "PUT" && key.endsWith(".json") && moment === "asked",
  "before-the-result": ({ method, key, moment }) => method === "PUT" && key.endsWith(".json") && moment === "answered",
};

describe("backups by Jobs, on a genuine Kubernetes API and a genuine S3 server", { concurrency: false }, () => {
  let world: BackupWorld;
  /** Called with the requests of the backup of this name. */
  const watchers = new Map<string, (request: StoreRequest) => Promise<void> | void>();
  const pair = createTestIdentity();

  before(async () => {
    world = await startBackupWorld();
    world.gate.onRequest = (request) => watchers.get(/\/\d{8}T\d{6}Z-([a-z-]+)\./.exec(request.key)?.[1] ?? "")?.(request);
    await world.apply(world.cluster, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "default", name: "talos-backup-s3" },
      stringData: world.store.keys,
    });
    await world.kubectl("wait", "--for=condition=Ready", "taloscluster/first", KUBECTL_WAITS);
  });
  after(async () => world?.[Symbol.asyncDispose]());

  const backup = (name: string, spec: object = {}): object => ({
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosEtcdBackup",
    metadata: { namespace: "default", name },
    spec: {
      talosControlPlaneRef: { name: "first" },
      backupStorage: {
        s3: {
          bucket: "backups",
          region: "us-east-1",
          endpoint: world.gate.endpoint,
          accessKeyID: { name: "talos-backup-s3", key: "accessKeyID" },
          secretAccessKey: { name: "talos-backup-s3", key: "secretAccessKey" },
        },
      },
      ...spec,
    },
  });
  const seen = (name: string): Promise<TalosEtcdBackup> =>
    world.client.resource<TalosEtcdBackup>(talosEtcdBackupResource).get({ namespace: "default", name });
  const statusOf = async (name: string): Promise<NonNullable<TalosEtcdBackup["status"]>> => (await seen(name)).status ?? {};
  const conditionOf = async (name: string, type: string) => findCondition((await statusOf(name)).conditions, type);
  const becomesReady = async (...names: readonly string[]): Promise<void> => {
    try {
      await world.kubectl("wait", "--for=condition=Ready", ...names.map((name) => `teb/${name}`), KUBECTL_WAITS);
    } catch (error) {
      const workers = world.kubelet.runs.map(({ owner: of, output }) => `=== worker of ${of}\n${output()}`);
      process.stderr.write(
        `${await world.kubectl("get", "teb", "-o", "yaml")}\n${workers.join("\n")}\n=== manager\n${world.logs().slice(-10_000)}\n`,
      );
      throw error;
    }
  };
  /** Names of the objects of one backup, without what they have in common. */
  const stored = (name: string): readonly string[] =>
    world.store.objects().flatMap((path) => {
      const file = path.split("/").at(-1) ?? "";
      return new RegExp(`^\\d{8}T\\d{6}Z-${name}\\.`).test(file) ? [file.slice(file.indexOf(`-${name}.`) + name.length + 2)] : [];
    });
  const runsOf = (name: string) => world.kubelet.runs.filter((one) => one.owner === `default/${name}`);
  const attemptOf = (name: string, index: number): string =>
    (JSON.parse(runsOf(name)[index]?.files["task.json"] ?? "{}") as { attempt?: string }).attempt ?? "";
  /** The attempt whose files these are. */
  const winnerOf = (name: string, filename = ""): string => {
    const [, winner = ""] = new RegExp(`^${PREFIX}/first-[0-9a-f]{12}/\\d{8}T\\d{6}Z-${name}\\.([^.]+)\\.db\\.zst$`).exec(filename) ?? [];
    assert.ok(
      runsOf(name).some((_run, index) => attemptOf(name, index) === winner),
      `${filename} is of no attempt of ${name}`,
    );
    return winner;
  };
  const leavesNothing = (): Promise<unknown> =>
    until("no Job, no pod and no Secret of a run is left", async () => {
      const left = await world.kubectl(
        "get",
        "jobs,pods,secrets",
        "-n",
        NAMESPACE,
        "-l",
        "talos-operator.dev/component=backup",
        "-o",
        "name",
      );
      return left.trim() === "";
    });
  /** The plain snapshot of what is stored, restored by genuine etcdutl. */
  const restores = async (name: string, chunks: AsyncIterable<Uint8Array>): Promise<void> => {
    const status = await statusOf(name);
    const plain: Uint8Array[] = [];
    for await (const chunk of backupCodec.decompress(chunks)) plain.push(chunk);
    const file = join(world.folder, `${name}.db`);
    writeFileSync(file, Buffer.concat(plain));
    const told = JSON.parse(await must(tool("etcdutl"), ["snapshot", "status", file, "-w", "json"])) as Readonly<Record<string, unknown>>;
    assert.deepEqual([told["revision"], told["totalKey"]], [status.revision, status.totalKey]);
    assert.equal(statSync(file).size, status.size);
    await must(tool("etcdutl"), ["snapshot", "restore", file, "--data-dir", join(world.folder, `${name}.restored`)]);
  };
  const storedBytes = async function* (path: string): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(readFileSync(join(world.store.bucket, path)));
  };

  it("one becomes Ready, kubectl prints the published columns, and what is stored restores in genuine etcdutl", async () => {
    await world.apply(backup("plain"));
    await becomesReady("plain");
    const status = await statusOf("plain");
    const [head = "", row = ""] = (await world.kubectl("get", "teb", "plain")).trim().split("\n");
    assert.deepEqual(head.split(/\s+/), ["NAME", "FILENAME", "AGE", "READY", "STATUS", "SIZE", "REVISION", "PROVED"]);
    const [name, filename, _age, ready, word, ...rest] = row.split(/\s+/);
    assert.deepEqual([name, filename, ready], ["plain", status.filename, "True"]);
    assert.equal(word, status.conditions?.find(({ type }) => type === "Ready")?.reason);
    assert.deepEqual(rest, [String(status.size), String(status.revision), "Restored"]);
    assert.deepEqual(stored("plain"), [`${attemptOf("plain", 0)}.db.zst`, "json"]);
    await restores("plain", storedBytes(status.filename ?? ""));
    await leavesNothing();
  });

  it("its pod is one that a namespace of restricted pods takes, and such a namespace refuses others", async () => {
    const [ran] = runsOf("plain");
    const { metadata: _own, status: _told, ...pod } = (ran?.object ?? {}) as { metadata?: object; status?: object; spec: object };
    const dry = async (spec: object): Promise<string> => {
      const file = join(world.folder, "pod.json");
      writeFileSync(
        file,
        JSON.stringify({
          ...pod,
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: "x", namespace: NAMESPACE },
          spec: { ...pod.spec, ...spec },
        }),
      );
      const { stdout, stderr } = await run(tool("kubectl"), ["--kubeconfig", world.kubeconfig, "create", "--dry-run=server", "-f", file]);
      return stdout + stderr;
    };
    assert.match(await dry({ nodeName: undefined }), /pod\/x created/);
    assert.match(await dry({ nodeName: undefined, hostNetwork: true }), /violates PodSecurity "restricted:latest"/);
  });

  it("the account of a Job may do what every account may, and no more", async () => {
    const rights = async (account: string): Promise<string> => world.kubectl("auth", "can-i", "--list", "-n", NAMESPACE, `--as=${account}`);
    assert.equal(await rights(JOB_ACCOUNT), await rights(`system:serviceaccount:${NAMESPACE}:nobody`));
    assert.doesNotMatch(await rights(JOB_ACCOUNT), /secrets|jobs|pods|alperen|\*\.\*/);
    const [ran] = runsOf("plain");
    assert.doesNotMatch(JSON.stringify(ran?.object), /serviceaccount\/token|kube-api-access/);
  });

  it("a worker that is killed at any moment is followed by another one: one manifest, nothing beside it, no open upload", async () => {
    const killed = new Map<string, { readonly uploads: number }>();
    for (const [name, isNow] of Object.entries(moments))
      watchers.set(name, async (request) => {
        if (killed.has(name) || !isNow(request)) return;
        const worker = world.kubelet.running(`default/${name}`);
        assert.ok(worker !== undefined);
        killed.set(name, { uploads: world.store.openUploads().length });
        worker.child.kill("SIGKILL");
        await until("its end is told", () => worker.hasEnded);
      });
    const names = Object.keys(moments);
    await world.apply(...names.map((name) => backup(name)));
    await becomesReady(...names);
    assert.deepEqual([...killed.keys()].toSorted(), names.toSorted());
    assert.ok((killed.get("while-streaming")?.uploads ?? 0) > 0);
    for (const name of names) {
      const status = await statusOf(name);
      assert.deepEqual([name, status.attempts], [name, runsOf(name).length]);
      assert.ok(runsOf(name).length >= 2, name);
      // Whoever wrote the manifest has won, although nobody heard of it.
      const winner = winnerOf(name, status.filename);
      assert.equal(winner === attemptOf(name, 0), name === "before-the-result", name);
      assert.deepEqual([name, stored(name)], [name, [`${winner}.db.zst`, "json"]]);
      await restores(name, storedBytes(status.filename ?? ""));
    }
    assert.deepEqual(world.store.openUploads(), []);
    await leavesNothing();
  });

  it("an operator that is killed in the middle finds its worker again, at work or done", async () => {
    const first = async (release: () => void): Promise<void> => {
      world.startManager();
      await until("the next operator leads", () => (world.logs().match(/Became leader/g)?.length ?? 0) >= 2);
      release();
    };
    const second = async (release: () => void): Promise<void> => {
      release();
      await until("the worker told its result to nobody", () => runsOf("operator-killed-done")[0]?.hasEnded === true);
      world.startManager();
    };
    for (const [name, goesOn] of [
      ["operator-killed-at-work", first],
      ["operator-killed-done", second],
    ] as const) {
      let isAtWork = false;
      const held = Promise.withResolvers<void>();
      watchers.set(name, async ({ query, moment }) => {
        if (query.get("partNumber") !== "1" || moment !== "asked") return;
        isAtWork = true;
        await held.promise;
      });
      await world.apply(backup(name));
      await until("it is at work", () => isAtWork);
      await world.killManager();
      await goesOn(held.resolve);
      await until("its worker has ended", () => runsOf(name)[0]?.hasEnded === true);
      assert.equal(runsOf(name).length, 1, "another one was begun beside it");
      await becomesReady(name);
      assert.equal(winnerOf(name, (await statusOf(name)).filename), attemptOf(name, 0));
    }
    await leavesNothing();
  });

  it("a store that is killed under an upload and comes back has the whole backup", async () => {
    let isKilled = false;
    let isBack: Promise<void> | undefined;
    watchers.set("store-killed", async ({ query, moment }) => {
      if (isKilled || query.get("partNumber") !== "2" || moment !== "asked") return;
      isKilled = true;
      await world.store.kill();
      isBack = world.store.start();
      throw new Error("the store is gone");
    });
    await world.apply(backup("store-killed"));
    await becomesReady("store-killed");
    await isBack;
    const status = await statusOf("store-killed");
    assert.ok(isKilled);
    await restores("store-killed", storedBytes(status.filename ?? ""));
  });

  it("encrypted, the store holds no plain byte and no key, and whoever has the identity has both", async () => {
    const { identity, recipient } = await pair;
    await world.apply(backup("encrypted", { encryption: { recipients: [recipient] } }));
    await becomesReady("encrypted");
    const { filename = "", stateFilename = "" } = await statusOf("encrypted");
    assert.deepEqual(stored("encrypted"), [`${attemptOf("encrypted", 0)}.db.zst.age`, `${attemptOf("encrypted", 0)}.keys.age`, "json"]);
    const bundle = await bundleTexts();
    assert.ok(bundle.length > 10);
    for (const path of world.store.objects().filter((one) => one.includes("-encrypted.")))
      assert.deepEqual(findTraces(readFileSync(join(world.store.bucket, path)), [...bundle, "/registry/", identity]), [], path);
    await restores("encrypted", backupCodec.decrypt(storedBytes(filename), identity));
    const keys: Uint8Array[] = [];
    for await (const chunk of backupCodec.decrypt(storedBytes(stateFilename), identity)) keys.push(chunk);
    const { bundle: given } = JSON.parse(Buffer.concat(keys).toString()) as { bundle: string };
    assert.deepEqual(secretTexts(parseKubernetesYaml(given)).toSorted(), bundle.toSorted());
    await proveNow("encrypted");
    assert.equal((await conditionOf("encrypted", "Proved"))?.reason, "BytesCompared");
  });

  it("a byte that is flipped in the store fails the next proof, and an event says so", async () => {
    const { filename = "" } = await statusOf("plain");
    await proveNow("plain");
    assert.deepEqual((await statusOf("plain")).proof?.on, "FromStore");
    flipByte(join(world.store.bucket, filename), 1_000_000);
    await proveNow("plain");
    const proved = await conditionOf("plain", "Proved");
    assert.deepEqual([proved?.status, proved?.reason], ["False", "ProofFailed"]);
    assert.match(proved?.message ?? "", /is not what was stored: the SHA-256/);
    await until("the event is there", async () =>
      (await world.kubectl("get", "events", "-o", "custom-columns=O:.regarding.name,N:.involvedObject.name,R:.reason")).includes(
        "ProofFailed",
      ),
    );
  });

  it("in a folder, a Job has the volume of it; what is deleted with deletionPolicy delete goes from there", async () => {
    await world.apply(backup("in-a-folder", { backupStorage: { directory: { path: "team" } }, deletionPolicy: "delete" }));
    await becomesReady("in-a-folder");
    const files = async (): Promise<string> => must("find", [world.directory, "-name", "*in-a-folder*"]);
    assert.equal((await files()).trim().split("\n").length, 2);
    await world.kubectl("delete", "teb", "in-a-folder", KUBECTL_WAITS);
    assert.equal(await files(), "");
  });

  it("a store with an authority of its own takes them with its caBundle; without it, or with another's, it is named and no key is sent", async () => {
    const keys = createX509Keys();
    const authority = (): Promise<KeyPair> => keys.createAuthority({ kind: "p256", organization: "store", notBefore: Date.now() - 60_000 });
    const [own, other] = await Promise.all([authority(), authority()]);
    const lasting = { usage: "server", notBefore: Date.now() - 60_000, lifetimeMs: 3_600_000 } as const;
    const folder = join(world.folder, "tls");
    const address = ownAddress();
    const store = await startVersitygw(folder, { address, tls: await keys.signCertificate(own, { ...lasting, ipAddresses: [address] }) });
    try {
      const secret = { accessKeyID: store.keys.accessKeyID, secretAccessKey: store.keys.secretAccessKey };
      const name = "store-with-tls";
      await world.apply({ apiVersion: "v1", kind: "Secret", metadata: { namespace: "default", name }, stringData: secret });
      const s3 = {
        bucket: "backups",
        region: "us-east-1",
        endpoint: `https://${store.host}`,
        accessKeyID: { name, key: "accessKeyID" },
        secretAccessKey: { name, key: "secretAccessKey" },
      };
      const at = (caBundle: string | undefined): object => ({
        backupStorage: { s3: { ...s3, ...(caBundle === undefined ? {} : { caBundle }) } },
      });
      await world.apply(backup("tls-unknown", at(undefined)), backup("tls-other", at(other.certificate)));
      for (const untrusted of ["tls-unknown", "tls-other"])
        await until(`${untrusted} names the certificate`, async () =>
          /certificate is not trusted: name its CA in caBundle/.test((await conditionOf(untrusted, "Ready"))?.message ?? ""),
        );
      assert.deepEqual(store.objects(), []);
      await world.kubectl("delete", "teb", "tls-unknown", "tls-other");
      await world.apply(backup("tls", at(own.certificate)));
      await becomesReady("tls");
      const status = await statusOf("tls");
      const bytes = async function* (): AsyncGenerator<Uint8Array> {
        yield await Promise.resolve(readFileSync(join(store.bucket, status.filename ?? "")));
      };
      await restores("tls", bytes());
      assert.equal(await conditionOf("tls", "InsecureObjectStorage"), undefined);
      await leavesNothing();
    } finally {
      await store.kill();
    }
  });

  it("nothing secret stands in objects, logs and tasks, in any writing, and the operator has every right that it needs", async () => {
    await leavesNothing();
    const secrets = new Set([...(await bundleTexts()), (await pair).identity, world.store.keys.secretAccessKey]);
    for (const { files } of world.kubelet.runs)
      for (const text of secretTexts(JSON.parse(files["secrets.json"] ?? "{}"))) secrets.add(text);
    assert.ok(secrets.size > 30);
    const shown: Readonly<Record<string, string>> = {
      "objects for everybody": await world.kubectl(
        "get",
        "teb,events,clusterrecords,jobs,pods",
        "-A",
        "-o",
        "json",
        "--show-managed-fields",
      ),
      manager: world.logs(),
      "manifests in the store": world.store
        .objects()
        .filter((path) => path.endsWith(".json"))
        .map((path) => readFileSync(join(world.store.bucket, path), "utf8"))
        .join("\n"),
      ...Object.fromEntries(
        world.kubelet.runs.map(({ pod, object, job, told, files, output }) => [
          pod,
          JSON.stringify({ object, job, told, task: files["task.json"], output: output() }),
        ]),
      ),
    };
    for (const [where, text] of Object.entries(shown)) assert.deepEqual(findTraces(Buffer.from(text), [...secrets]), [], where);
    // What must be found is found.
    const [ran] = world.kubelet.runs;
    assert.ok(findTraces(Buffer.from(ran?.files["secrets.json"] ?? ""), [...secrets]).length > 0);
    assert.doesNotMatch(world.logs(), /forbidden/i);
  });

  async function proveNow(name: string): Promise<void> {
    const value = `${performance.now()}`;
    await world.kubectl("annotate", "teb", name, `talos-operator.dev/prove-now=${value}`, "--overwrite");
    await until("it is proved", async () => (await statusOf(name)).provedNow === value && (await statusOf(name)).run === undefined);
  }

  async function bundleTexts(): Promise<readonly string[]> {
    const { data } = JSON.parse(await world.kubectl("get", "secret", "first-bundle-1", "-o", "json")) as { data: Record<string, string> };
    return Object.values(data).flatMap((value) => secretTexts(parseKubernetesYaml(Buffer.from(value, "base64").toString())));
  }
});

function flipByte(path: string, at: number): void {
  const file = openSync(path, "r+");
  const byte = Buffer.alloc(1);
  readSync(file, byte, 0, 1, at);
  byte[0] = (byte[0] ?? 0) ^ 1;
  writeSync(file, byte, 0, 1, at);
  closeSync(file);
}
