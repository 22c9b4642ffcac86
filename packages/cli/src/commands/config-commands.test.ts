import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { parseSecretsBundle, parseTalosconfig, referenceTalosVersion } from "@talos-operator/talos";
import { withAssignedSwitches } from "../assigned-switches.ts";
import { CliError } from "../cli-error.ts";
import { createProgram } from "../program.ts";
import { commandGroups, commands } from "./index.ts";
import { talosVersionFlag } from "./shared-flags.ts";

let folder = "";
before(() => (folder = mkdtempSync(join(tmpdir(), "talos-operator-config-"))));
after(() => rmSync(folder, { recursive: true, force: true }));

interface Said {
  readonly out: string;
  readonly err: string;
  readonly error: Error | undefined;
}

async function run(...words: readonly string[]): Promise<Said> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const context = {
    signal: new AbortController().signal,
    stdout: stdout as unknown as NodeJS.WriteStream,
    stderr: stderr as unknown as NodeJS.WriteStream,
  };
  let error: Error | undefined;
  try {
    await createProgram(commands, "0", context, commandGroups).parseAsync([...withAssignedSwitches(words, commands)], { from: "user" });
  } catch (thrown) {
    error = thrown as Error;
  }
  return { out: String(stdout.read() ?? ""), err: String(stderr.read() ?? ""), error };
}

const modeOf = (path: string): number => statSync(path).mode & 0o777;
const read = (path: string): string => readFileSync(path, "utf8");

describe("secrets and configs from the command line", () => {
  it("make a bundle, configs of it, and the bundle again from a config", async () => {
    const secrets = join(folder, "secrets.yaml");
    const made = await run("secrets", "generate", "-o", secrets, "--talos-version", "v1.6");
    assert.equal(made.error, undefined);
    assert.equal(modeOf(secrets), 0o600);
    parseSecretsBundle(read(secrets));

    const generated = await run(
      "config",
      "generate",
      "alpha",
      "https://192.0.2.1:6443",
      "--with-secrets",
      secrets,
      "-o",
      join(folder, "out"),
    );
    assert.equal(generated.error, undefined);
    assert.match(
      generated.err,
      /^generating PKI and tokens\nCreated .*controlplane\.yaml\nCreated .*worker\.yaml\nCreated .*talosconfig\n$/,
    );
    for (const name of ["controlplane.yaml", "worker.yaml", "talosconfig"]) assert.equal(modeOf(join(folder, "out", name)), 0o600);
    assert.equal(parseTalosconfig(read(join(folder, "out", "talosconfig"))).context, "alpha");

    const again = await run("secrets", "from-config", join(folder, "out", "controlplane.yaml"), "-o", "-");
    assert.equal(again.out, read(secrets));
    const flag = await run("secrets", "generate", "--from-controlplane-config", join(folder, "out", "controlplane.yaml"), "-o", "-");
    assert.equal(flag.out, again.out);
  });

  it("take a flag with an empty text for one that was not given", async () => {
    const words = [
      "config",
      "generate",
      "a",
      "https://192.0.2.1:6443",
      "--with-secrets=",
      "--talos-version=",
      "--output-dir=",
      "-t",
      "worker",
      "-o",
      "-",
    ];
    const { out, error } = await run(...words);
    assert.equal(error, undefined);
    assert.match(out, /^version: v1alpha1\n/);
    const config = join(folder, "empty-flags.yaml");
    writeFileSync(config, out);
    assert.equal((await run("config", "patch", config, "-o", "", "--talos-version=")).out, `${out}\n`);
    assert.equal((await run("config", "validate", "-c", config, "-m", "cloud", "--talos-version=")).error, undefined);
    assert.match((await run("config", "effects", config, config, "--talos-version=")).out, /^no effect/);
    assert.equal((await run("config", "diff", config, config, "--exit-code", "--talos-version=")).error, undefined);
    const none = ["--from-kubernetes-pki=", "--from-controlplane-config=", "--kubernetes-bootstrap-token=", "--talos-version="];
    const bundle = await run("secrets", "generate", ...none, "-o", "-");
    assert.equal(bundle.error, undefined);
    parseSecretsBundle(bundle.out);
  });

  it("take over the authorities of kubeadm, and say which file is missing", async () => {
    const pki = fileURLToPath(new URL("../../../talos/testdata/golden/secrets/pki-rsa/pki", import.meta.url));
    const { out, error } = await run("secrets", "generate", "-p", pki, "-t", "abcdef.0123456789abcdef", "-o", "-");
    assert.equal(error, undefined);
    assert.equal(parseSecretsBundle(out).certs.k8s.certificate, read(join(pki, "ca.crt")));
    assert.equal(parseSecretsBundle(out).secrets.bootstrapToken, "abcdef.0123456789abcdef");
    const missing = await run("secrets", "generate", "--from-kubernetes-pki", folder, "-o", "-");
    assert.ok(missing.error?.message.includes(`open ${folder}/ca.crt: no such file or directory`));
  });

  it("follow talosctl with an AES-CBC secret, and say what that costs", async () => {
    const secrets = join(folder, "older.yaml");
    await run("secrets", "generate", "-o", secrets, "--talos-version", "v1.2");
    const of = (version: string): Promise<Said> =>
      run(
        "config",
        "generate",
        "a",
        "https://192.0.2.1:6443",
        "--with-secrets",
        secrets,
        "-t",
        "controlplane",
        "-o",
        "-",
        "--talos-version",
        version,
      );
    const [older, newer] = [await of("v1.2"), await of("v1.13")];
    assert.match(older.out, /aescbcEncryptionSecret/);
    assert.doesNotMatch(older.err, /AES-CBC/);
    assert.doesNotMatch(newer.out, /EncryptionSecret/);
    assert.match(newer.err, /WARNING: the bundle holds an AES-CBC secret/);
  });

  it("never overwrite keys unless forced to, and keep a forced file private", async () => {
    const file = join(folder, "precious.yaml");
    writeFileSync(file, "keys of another cluster\n");
    chmodSync(file, 0o644);
    for (const words of [
      ["secrets", "generate", "-o", file],
      ["config", "generate", "a", "https://192.0.2.1:6443", "-t", "worker", "-o", file],
    ]) {
      const { error } = await run(...words);
      assert.ok(error instanceof CliError);
      assert.equal(error.message, `file ${JSON.stringify(file)} already exists, use --force to overwrite`);
    }
    assert.equal(read(file), "keys of another cluster\n");
    assert.equal((await run("secrets", "generate", "-o", file, "--force")).error, undefined);
    assert.equal(modeOf(file), 0o600);
    parseSecretsBundle(read(file));
  });

  it("write nothing at all when one of several files exists", async () => {
    const out = join(folder, "partly");
    await run("config", "generate", "a", "https://192.0.2.1:6443", "-o", out, "-t", "worker", "-t", "talosconfig");
    rmSync(join(out, "worker.yaml"));
    const { error } = await run("config", "generate", "a", "https://192.0.2.1:6443", "-o", out);
    assert.match(error?.message ?? "", /talosconfig" already exists/);
    assert.throws(() => statSync(join(out, "worker.yaml")), { code: "ENOENT" });
  });

  const refused: readonly (readonly [words: string, message: string])[] = [
    ["config generate a 192.0.2.1", 'no scheme and port specified for the cluster endpoint URL\ntry: "https://192.0.2.1:6443"'],
    ["config generate a 192.0.2.1:6443", 'no scheme specified for the cluster endpoint URL\ntry: "https://192.0.2.1:6443"'],
    ["config generate a https://b:70000", "error validating the cluster endpoint URL: port number must be between 1 and 65535"],
    ["config generate a https://", "error validating the cluster endpoint URL: hostname must not be blank"],
    ["config generate a http://b", 'the control plane endpoint URL should have scheme https://\ntry: "https://b:6443"'],
    ["config generate a https://b -t init", 'invalid output type: "init"'],
    ["config generate a https://b -o -", "can't use multiple output types with stdout"],
    ["config generate a https://b -o x --output-dir y", "can't use both output-dir and output"],
    ["config generate a https://b --registry-mirror docker.io", 'invalid registry mirror spec: "docker.io"'],
    ["config generate a https://b --version v2", 'unknown config version: "v2"'],
    ["config generate a https://b --with-docs", "--with-docs is not built"],
    ["config generate a https://b --config-patch @gone", "open gone: no such file or directory"],
    ["config patch gone", "open gone: no such file or directory"],
    ["config validate -c gone -m metal", "open gone: no such file or directory"],
  ];
  for (const [words, message] of refused) {
    it(`refuse: ${words}`, async () => assert.equal((await run(...words.split(" "))).error?.message, message));
  }
});

describe("one config from the command line", () => {
  const worker = "version: v1alpha1\nmachine:\n  type: worker\n  token: abcdef.0123456789abcdef\n  install:\n    disk: /dev/sda\n";
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  it("is patched by text, by @file and by a bare name of a file", async () => {
    const config = file("worker.yaml", worker);
    const patch = file("patch.yaml", "machine:\n  sysctls:\n    a: '1'\n");
    const first = await run("config", "patch", config, "-p", "machine: {sysctls: {a: '1'}}");
    assert.match(first.out, /\n {4}sysctls:\n {8}a: "1"\n/);
    assert.ok(first.out.endsWith("\n\n"), "one more new line, as talosctl prints it");
    for (const given of [`@${patch}`, patch]) assert.equal((await run("config", "patch", config, "-p", given)).out, first.out);
    const out = join(folder, "deep", "patched.yaml");
    assert.equal((await run("config", "patch", config, "-p", patch, "-o", out)).error, undefined);
    assert.equal(`${read(out)}\n`, first.out);
  });

  it("is validated with talosctl's report, and strictly", async () => {
    const { error, err } = await run("config", "validate", "--config", file("w.yaml", worker), "--mode", "metal");
    assert.match(err, /^1 error occurred:\n\t\* v1alpha1\.Config: /);
    assert.match(error?.message ?? "", /is not valid for metal mode$/);
    assert.match(
      (await run("config", "validate", "-c", file("w.yaml", worker), "-m", "bare")).error?.message ?? "",
      /unknown runtime mode: "bare"/,
    );
  });

  it("is valid with what Kubernetes refuses, and warned of", async () => {
    const flags = ["-t", "controlplane", "-o", "-", "--talos-version", "v1.13.9", "--install-disk", "/dev/sda"];
    const config = file("cp.yaml", (await run("config", "generate", "a", "https://192.0.2.1:6443", ...flags)).out);
    const patch = JSON.stringify({
      cluster: {
        apiServer: { admissionControl: [{ name: "PodSecurity", configuration: { exemptions: { namespaces: ["kube-system"] } } }] },
      },
    });
    const patched = file("patched.yaml", (await run("config", "patch", config, "-p", patch)).out);
    const { error, err, out } = await run("config", "validate", "-c", patched, "-m", "metal");
    assert.equal(error, undefined);
    assert.match(out, /is valid for metal mode\n$/);
    assert.match(
      err,
      /^WARNING: v1alpha1 cluster\.apiServer\.admissionControl\[0\]\.configuration\.exemptions\.namespaces\[1\]: kube-apiserver .* \(POD_SECURITY_EXEMPTION_TWICE\)\n$/m,
    );
  });

  it("is compared with another one, without its secrets", async () => {
    const old = file("old.yaml", worker);
    const next = file("new.yaml", worker.replace("/dev/sda", "/dev/sdb").replace("abcdef.", "ghijkl."));
    const diff = await run("config", "diff", old, next);
    assert.equal(diff.out, "v1alpha1\n~ machine.token: (secret) -> (secret)\n~ machine.install.disk: /dev/sda -> /dev/sdb\n");
    assert.equal((await run("config", "diff", old, old, "--exit-code")).error, undefined);
    assert.equal((await run("config", "diff", old, next, "--exit-code")).error?.message, "the configs differ");
    const table = await run("config", "effects", old, next);
    assert.match(table.out, /^worst: forbidden; the machine reboots by itself\n\nEFFECT +CHANGE +DOCUMENT +PATH +REASON\n/);
    const plain = JSON.parse((await run("config", "effects", old, next, "-o", "json")).out) as { worst: string; changes: unknown[] };
    assert.equal(plain.worst, "forbidden");
    assert.equal(plain.changes.length, 2);
    assert.match((await run("config", "effects", old, old)).out, /^no effect/);
    assert.match((await run("config", "effects", old, next, "-o", "yaml")).out, /^worst: forbidden\n/);
  });
});

it("a schematic has the id that the factory gives it", async () => {
  const path = join(folder, "schematic.yaml");
  writeFileSync(path, "customization: {}\n");
  assert.equal((await run("schematic", "id", path)).out, "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba\n");
});

it("help names the release whose rules are followed", () => {
  assert.ok(talosVersionFlag.summary.endsWith(referenceTalosVersion));
});
