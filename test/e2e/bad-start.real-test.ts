// Genuine parts: none
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { HANGS_AFTER_MS } from "@talos-operator/adapters/testing";
import { run, startOurs, temporaryFolder } from "./processes.ts";
import type { CommandResult } from "./processes.ts";

const main = join(import.meta.dirname, "../../packages/cli/src/main.ts");

/** Addresses of this test process alone: demos that run beside it keep theirs. */
const address = (n: number): string => `127.${100 + (process.pid % 100)}.${(process.pid >> 8) % 256}.${n}`;

function cluster(machine: string): string {
  return `apiVersion: talos.alperen.cloud/v1alpha1
kind: TalosCluster
metadata: {name: one, namespace: default}
spec:
  controlPlane:
    version: v1.13.9
    kubeVersion: v1.36.3
    mode: metal
    endpoint: https://${machine}:6443
    metalSpec: {machines: [{address: ${machine}}], machineSpec: {installDisk: /dev/sda}}
`;
}

/** Runs `demo` with one machine until it ends by itself. */
function demo(folder: string, manifest: string, ...flags: string[]): Promise<CommandResult> {
  const file = join(folder, "manifest.yaml");
  writeFileSync(file, manifest);
  const fixed = ["demo", "--exit-when-ready", "--timeout", String(HANGS_AFTER_MS / 1_000), "--machines", "1", "--manifest", file];
  return run(process.execPath, [main, ...fixed, "--data-dir", join(folder, "data"), "--listen", "127.0.0.1:0", ...flags]);
}

/** One line that says what is wrong, one that says what to do, no stack, exit 1. */
function assertRefused(result: CommandResult, what: RegExp, remedy: RegExp, code = 1): void {
  assert.equal(result.code, code, result.stderr);
  assert.match(result.stderr, what);
  assert.match(result.stderr, remedy);
  assert.doesNotMatch(result.stderr, /^\s+at .*:\d+:\d+/m);
}

/** Something else that listens. */
async function occupy(host: string, port: number): Promise<{ readonly port: number; [Symbol.dispose](): void }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return { port: (server.address() as AddressInfo).port, [Symbol.dispose]: () => server.close() };
}

/** A small file system of its own; `undefined` where this process may not mount one. */
function mountSmall(path: string, size: string): { remountReadOnly(): void; [Symbol.dispose](): void } | undefined {
  mkdirSync(path);
  const mount = (...args: string[]): unknown => execFileSync("mount", args, { stdio: "ignore" });
  try {
    mount("-t", "tmpfs", "-o", `size=${size}`, "tmpfs", path);
  } catch {
    // Not root, or a container without the right: the test says that it is skipped.
    return undefined;
  }
  return {
    remountReadOnly: () => void mount("-o", "remount,ro", path),
    [Symbol.dispose]: () => void execFileSync("umount", [path], { stdio: "ignore" }),
  };
}

describe("a demo that cannot start says why and what to do", () => {
  it("when the API's port is taken", async () => {
    using folder = temporaryFolder();
    using other = await occupy("127.0.0.1", 0);
    const result = await demo(folder.path, cluster(address(1)), "--listen", `127.0.0.1:${other.port}`);
    assertRefused(result, new RegExp(`PORT_IN_USE.*127\\.0\\.0\\.1:${other.port}`), /--listen/);
  });

  for (const port of [50_000, 6443])
    it(`when a machine's port ${port} is taken, before anything is written`, async () => {
      using folder = temporaryFolder();
      using _other = await occupy(address(2), port);
      const result = await demo(folder.path, cluster(address(2)));
      assertRefused(result, new RegExp(`cannot listen on ${address(2).replaceAll(".", "\\.")}:${port}`), /Stop it/);
      assert.ok(!existsSync(join(folder.path, "data")));
    });

  it("when the data folder is a file, or lies in one", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "file");
    writeFileSync(file, "mine");
    assertRefused(await demo(folder.path, cluster(address(3)), "--data-dir", file), /data folder .*file \(EEXIST\)/, /--data-dir/);
    assertRefused(await demo(folder.path, cluster(address(3)), "--data-dir", join(file, "sub")), /data folder .*\(ENOTDIR\)/, /--data-dir/);
    assert.equal(readFileSync(file, "utf8"), "mine");
  });

  it("when the data folder is read-only", async (context) => {
    using folder = temporaryFolder();
    const path = join(folder.path, "read-only");
    using small = mountSmall(path, "1m");
    if (small !== undefined) small.remountReadOnly();
    else if (process.getuid?.() === 0) return context.skip("root may write everywhere, and cannot mount here");
    else chmodSync(path, 0o500);
    assertRefused(await demo(folder.path, cluster(address(4)), "--data-dir", path), /data folder .*\((EROFS|EACCES)\)/, /--data-dir/);
  });

  it("when the disk is full, or fills while it runs", async (context) => {
    using folder = temporaryFolder();
    const path = join(folder.path, "small");
    using small = mountSmall(path, "512k");
    if (small === undefined) return context.skip("this process may not mount a small file system");
    const filling = await demo(folder.path, cluster(address(5)), "--data-dir", path);
    assertRefused(filling, /ENOSPC|disk is full/, /free (some )?space/i);
    writeFileSync(join(path, "rest"), "");
    const full = await demo(folder.path, cluster(address(5)), "--data-dir", path);
    assertRefused(full, /ENOSPC|disk is full/, /free (some )?space/i);
  });

  it("when another process works on its data folder, which stays as it is", async () => {
    using folder = temporaryFolder();
    const data = join(folder.path, "data");
    const first = startOurs("apiserver", "--data-dir", data, "--listen", "127.0.0.1:0");
    try {
      await first.says(/KUBECONFIG|kubeconfig|listen/i);
      const kubeconfig = readFileSync(join(data, "kubeconfig"), "utf8");
      assertRefused(await demo(folder.path, cluster(address(6))), /DATA_FOLDER_IN_USE.*data/, /--data-dir/);
      assertRefused(await demo(folder.path, cluster(address(6)), "--no-persist"), /DATA_FOLDER_IN_USE.*data/, /--data-dir/);
      assert.equal(readFileSync(join(data, "kubeconfig"), "utf8"), kubeconfig);
    } finally {
      await first.end("SIGTERM");
    }
  });

  it("when another demo that keeps nothing writes into its data folder, which stays as it is", async () => {
    using folder = temporaryFolder();
    const data = join(folder.path, "data");
    const manifest = join(folder.path, "first.yaml");
    writeFileSync(manifest, cluster(address(7)));
    const flags = ["--machines", "1", "--manifest", manifest, "--data-dir", data, "--listen", "127.0.0.1:0"];
    const first = startOurs("demo", "--no-persist", ...flags);
    try {
      await first.says(/KUBECONFIG/);
      const files = ["kubeconfig", "demo.log"].map((name) => readFileSync(join(data, name), "utf8"));
      assertRefused(await demo(folder.path, cluster(address(6)), "--no-persist"), /DATA_FOLDER_IN_USE.*data/, /--data-dir/);
      assertRefused(await demo(folder.path, cluster(address(6))), /DATA_FOLDER_IN_USE.*data/, /--data-dir/);
      assert.equal(readFileSync(join(data, "kubeconfig"), "utf8"), files[0]);
      assert.ok(readFileSync(join(data, "demo.log"), "utf8").startsWith(files[1] ?? ""));
    } finally {
      await first.end("SIGTERM");
    }
  });

  const manifests: readonly (readonly [string, string, RegExp, RegExp])[] = [
    [
      "names a machine that is not on loopback",
      cluster("192.0.2.7"),
      /cannot simulate machines at 192\.0\.2\.7/,
      /127\.1\.0\.1.*standalone/,
    ],
    ["is no YAML", "a: [", /manifest\.yaml is not valid YAML: line \d/, /Mend the line/],
    ["is empty", "---\n", /holds no object/, /at least one/],
    ["is no Kubernetes object", "a: 1\n", /document 1 .*lacks apiVersion, kind or metadata\.name/, /Kubernetes object/],
    [
      "names a kind nobody serves",
      cluster(address(10)).replaceAll("talos.alperen.cloud", "example.com"),
      /talosclusters? .*example\.com|example\.com.*TalosCluster/i,
      /.+/,
    ],
    [
      "names a version that is none",
      cluster(address(7)).replace("v1.13.9", "1.13.9"),
      /spec\.controlPlane\.version.*must be a version such as v1\.13\.9/,
      /Correct the named fields/,
    ],
    ["is a bomb", bomb(), /not valid YAML/, /Mend/],
  ];
  for (const [what, manifest, message, remedy] of manifests)
    it(`when the manifest ${what}`, async () => {
      using folder = temporaryFolder();
      assertRefused(await demo(folder.path, manifest), message, remedy);
    });

  it("when time is up: by what it still waits for, with an exit code of its own", async () => {
    using folder = temporaryFolder();
    const result = await demo(folder.path, cluster(address(8)), "--timeout", "0.001", "--no-persist");
    assertRefused(result, /not Ready after 0\.001 s; still waits for:\n {2}- TalosCluster default\/one: \S+/, /--timeout/, 3);
  });

  it("when the flag is not understood", async () => {
    using folder = temporaryFolder();
    for (const flags of [["--listen", "nowhere"], ["--timeout", "soon"], ["--machines", "-1"], ["--nonsense"]]) {
      const result = await demo(folder.path, cluster(address(9)), ...flags);
      assertRefused(result, new RegExp(flags.at(0) === "--listen" ? "nowhere" : (flags.at(0) ?? "")), /.+/, 2);
      assert.deepEqual(readdirSync(folder.path), ["manifest.yaml"]);
    }
  });
});

describe("a manager that cannot start", () => {
  it("says which flag or variable is wrong before it asks any API, and one that can start asks (B112)", async () => {
    using folder = temporaryFolder();
    using api = await countingApi(folder.path, "a");
    using other = await countingApi(folder.path, "b");
    const flagsFor = (kubeconfig: string): readonly string[] => ["manager", "--kubeconfig", kubeconfig, "--health-probe-bind-address", "0"];
    const wrong: readonly (readonly [RegExp, readonly string[], Record<string, string>?])[] = [
      [/--bogus/, ["--bogus"]],
      [/--lease-namespace/, ["--lease-namespace", "a b"]],
      [/RECONCILE_INTERVAL/, [], { RECONCILE_INTERVAL: "soon" }],
    ];
    const sound = startOurs(...flagsFor(other.kubeconfig), "--metrics-bind-address", "0");
    const results = await Promise.all(
      wrong.map(([, flags, env = {}]) =>
        run(process.execPath, [main, ...flagsFor(api.kubeconfig), ...flags], { env: { ...process.env, ...env } }),
      ),
    );
    for (const [index, result] of results.entries()) assertRefused(result, wrong[index]?.[0] ?? assert.fail(), /.+/, 2);
    assert.equal(api.connections(), 0);
    await sound.says(/NO_ANSWER/);
    await sound.end("SIGTERM");
    assert.ok(other.connections() > 0);
  });
});

/** Something that takes connections, ends and counts them, and a kubeconfig that leads to it. */
async function countingApi(
  folder: string,
  name: string,
): Promise<{ readonly kubeconfig: string; connections(): number; [Symbol.dispose](): void }> {
  let count = 0;
  const server = createServer((socket) => ((count += 1), socket.destroy()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const kubeconfig = join(folder, name);
  const cluster = `{server: "https://127.0.0.1:${(server.address() as AddressInfo).port}", insecure-skip-tls-verify: true}`;
  const lists = `clusters: [{name: a, cluster: ${cluster}}]\nusers: [{name: a, user: {token: a}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]`;
  writeFileSync(kubeconfig, `apiVersion: v1\nkind: Config\n${lists}\ncurrent-context: a\n`);
  return { kubeconfig, connections: () => count, [Symbol.dispose]: () => void server.close() };
}

function bomb(): string {
  const lines = ["a0: &a0 [x]"];
  for (let level = 1; level < 10; level += 1)
    lines.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(", ")}]`);
  return `${lines.join("\n")}\n`;
}
