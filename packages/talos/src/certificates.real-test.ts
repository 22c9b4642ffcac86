// Genuine parts: talosctl
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { createX509Keys, systemClock, systemRandom } from "@talos-operator/adapters";
import type { KeyPair } from "@talos-operator/ports";
import { generateMachineConfig } from "./config/generate/generate.ts";
import { generateAdminKubeconfig } from "./kubeconfig/admin-kubeconfig.ts";
import type { SecretsBundle } from "./secrets/bundle.ts";
import { checkSecretsBundle } from "./secrets/check.ts";
import { secretsBundleFromKubernetesPki } from "./secrets/from-kubernetes-pki.ts";
import { generateSecretsBundle } from "./secrets/generate.ts";
import { parseSecretsBundle } from "./secrets/parse.ts";
import { signClientCertificate } from "./talosconfig/client-certificate.ts";
import { printTalosconfig } from "./talosconfig/print.ts";
import { createTalosconfig } from "./talosconfig/talosconfig.ts";

const tools = process.env["TALOS_OPERATOR_TOOLS"];
const run = promisify(execFile);
const keys = createX509Keys();
const ports = { clock: { now: () => systemClock.now() - 60_000 }, random: systemRandom, keys };
const fiveMinutes = 300_000;
let folder: string;
let bundle: SecretsBundle;

/** OpenSSL's own words, whether it takes or refuses. A machine without it fails: nothing here is skipped. */
async function openssl(...args: readonly string[]): Promise<string> {
  try {
    const { stdout, stderr } = await run("openssl", [...args], { cwd: folder });
    return stdout + stderr;
  } catch (error) {
    const { code, stdout, stderr } = error as { readonly code: unknown; readonly stdout: string; readonly stderr: string };
    if (code === "ENOENT") throw new Error("this test checks certificates with OpenSSL: install openssl", { cause: error });
    return stdout + stderr;
  }
}

async function file(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text, { mode: 0o600 });
  return name;
}

function verify(certificate: string, authority: string, ...more: readonly string[]): Promise<string> {
  return Promise.all([file("leaf.crt", certificate), file("ca.crt", authority)]).then(() =>
    openssl("verify", "-x509_strict", "-check_ss_sig", "-CAfile", "ca.crt", ...more, "leaf.crt"),
  );
}

/** The values of one extension, `undefined` where the certificate has none. */
async function extension(certificate: string, name: string): Promise<string | undefined> {
  await file("inspected.crt", certificate);
  const text = await openssl("x509", "-noout", "-ext", name, "-in", "inspected.crt");
  return text.includes("No extensions") ? undefined : text.split("\n").slice(1).join("\n").trim();
}

async function subjectOf(certificate: string): Promise<string> {
  await file("inspected.crt", certificate);
  return (await openssl("x509", "-noout", "-subject", "-nameopt", "RFC2253", "-in", "inspected.crt")).replace(/^subject=\s*/, "");
}

before(async () => {
  assert.ok(tools !== undefined, "TALOS_OPERATOR_TOOLS names the folder of the genuine tools: use npm run test:real");
  folder = await mkdtemp(join(tmpdir(), "certificates-"));
  bundle = await generateSecretsBundle({ contract: "1.6", ...ports });
});

after(async () => {
  await rm(folder, { recursive: true });
});

describe("authorities", () => {
  for (const name of ["etcd", "k8s", "os"] as const) {
    test(`of ${name} stand OpenSSL's strictest look`, async () => {
      const { certificate } = bundle.certs[name];
      assert.match(await verify(certificate, certificate), /leaf\.crt: OK/);
      assert.equal(await extension(certificate, "basicConstraints"), "CA:TRUE");
      assert.equal(await extension(certificate, "keyUsage"), "Digital Signature, Certificate Sign");
    });
  }

  test("of the aggregator do so without a subject, as Talos makes them", async () => {
    const { certificate } = bundle.certs.k8sAggregator;
    assert.match(await verify(certificate, certificate), /leaf\.crt: OK/);
    assert.equal((await subjectOf(certificate)).trim(), "");
  });
});

describe("client certificates of the Talos API", () => {
  const roles = ["os:admin", "os:operator", "os:reader", "os:etcd:backup", "os:impersonator", "os:meta:writer", "os:image:verifier"];
  for (const role of roles) {
    test(`for ${role} are what apid asks for, and live five minutes`, async () => {
      const pair = await signClientCertificate({
        keys,
        authority: bundle.certs.os,
        roles: [role],
        notBefore: systemClock.now() - 1000,
        lifetimeMs: fiveMinutes,
      });
      assert.match(await verify(pair.certificate, bundle.certs.os.certificate, "-purpose", "sslclient"), /leaf\.crt: OK/);
      assert.match(
        await verify(pair.certificate, bundle.certs.os.certificate, "-purpose", "sslserver"),
        /unsuitable certificate purpose|unsupported certificate purpose/,
      );
      assert.equal(await extension(pair.certificate, "extendedKeyUsage"), "TLS Web Client Authentication");
      assert.equal(await extension(pair.certificate, "keyUsage"), "Digital Signature");
      assert.equal(await extension(pair.certificate, "basicConstraints"), undefined);
      assert.equal(await extension(pair.certificate, "subjectAltName"), undefined);
      assert.equal((await subjectOf(pair.certificate)).trim(), `O=${role}`);
      const later = String(Math.floor((systemClock.now() + fiveMinutes) / 1000));
      assert.match(await verify(pair.certificate, bundle.certs.os.certificate, "-attime", later), /certificate has expired/);
    });
  }

  test("show their roles to the genuine talosctl", async () => {
    const pair = await signClientCertificate({
      keys,
      authority: bundle.certs.os,
      roles: ["os:reader", "os:etcd:backup"],
      notBefore: systemClock.now() - 1000,
      lifetimeMs: 3_600_000,
    });
    const talosconfig = createTalosconfig({ clusterName: "alpha", endpoints: ["192.0.2.10"], ca: bundle.certs.os.certificate, ...pair });
    await file("talosconfig", printTalosconfig(talosconfig));
    const { stdout } = await run(join(tools ?? "", "talosctl"), [
      "--talosconfig",
      join(folder, "talosconfig"),
      "config",
      "info",
      "--output",
      "json",
    ]);
    const { context, roles: shown } = JSON.parse(stdout) as { readonly context: string; readonly roles: readonly string[] };
    assert.deepEqual([context, [...shown].toSorted()], ["alpha", ["os:etcd:backup", "os:reader"]]);
  });

  test("of an authority whose identifier is not the hash of its key verify too", async () => {
    await run(join(tools ?? "", "talosctl"), ["gen", "secrets", "--talos-version", "v1.6", "--output-file", join(folder, "genuine.yaml")]);
    const genuine = parseSecretsBundle(await readFile(join(folder, "genuine.yaml"), "utf8"));
    assert.deepEqual(checkSecretsBundle(genuine, { now: systemClock.now() + 1000 }), []);
    const pair = await signClientCertificate({ keys, authority: genuine.certs.os, notBefore: systemClock.now(), lifetimeMs: fiveMinutes });
    assert.match(await verify(pair.certificate, genuine.certs.os.certificate, "-purpose", "sslclient"), /leaf\.crt: OK/);
  });
});

describe("administrators of Kubernetes", () => {
  async function adminOf(authority: KeyPair): Promise<string> {
    const secrets = await secretsBundleFromKubernetesPki({
      contract: "1.13",
      ...ports,
      files: {
        "ca.crt": authority.certificate,
        "ca.key": authority.key,
        "etcd/ca.crt": bundle.certs.etcd.certificate,
        "etcd/ca.key": bundle.certs.etcd.key,
        "front-proxy-ca.crt": bundle.certs.k8sAggregator.certificate,
        "front-proxy-ca.key": bundle.certs.k8sAggregator.key,
        "sa.key": bundle.certs.k8sServiceAccount.key,
      },
    });
    const machineConfig = generateMachineConfig({
      role: "controlplane",
      clusterName: "alpha",
      endpoint: "https://192.0.2.10:6443",
      contract: "1.13",
      kubernetesVersion: "1.36.1",
      secrets,
    });
    const kubeconfig = await generateAdminKubeconfig({ machineConfig, keys, now: systemClock.now() });
    return Buffer.from(/client-certificate-data: (\S+)/.exec(kubeconfig)?.[1] ?? "", "base64").toString();
  }

  test("have a certificate that stands OpenSSL's strictest look", async () => {
    const certificate = await adminOf(bundle.certs.k8s);
    assert.match(await verify(certificate, bundle.certs.k8s.certificate, "-purpose", "sslclient"), /leaf\.crt: OK/);
    assert.equal((await subjectOf(certificate)).trim(), "CN=admin,O=system:masters");
    assert.equal(await extension(certificate, "keyUsage"), "Digital Signature, Key Encipherment");
  });

  test("have one of an RSA authority that kubeadm made, too", async () => {
    const request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=kubernetes", "-days", "3650"];
    const usage = ["-addext", "keyUsage=critical,digitalSignature,keyEncipherment,keyCertSign"];
    await openssl(...request, ...usage, "-keyout", "kubeadm.key", "-out", "kubeadm.crt");
    const authority = {
      certificate: await readFile(join(folder, "kubeadm.crt"), "utf8"),
      key: await readFile(join(folder, "kubeadm.key"), "utf8"),
    };
    const certificate = await adminOf(authority);
    assert.match(await verify(certificate, authority.certificate, "-purpose", "sslclient"), /leaf\.crt: OK/);
  });
});

test("server certificates verify for their names and addresses alone", async () => {
  const pair = await keys.signCertificate(bundle.certs.os, {
    usage: "server",
    commonName: "node-1",
    notBefore: systemClock.now() - 1000,
    lifetimeMs: fiveMinutes,
    dnsNames: ["node-1", "node-1.example.org"],
    ipAddresses: ["192.0.2.10", "2001:db8::10"],
  });
  const { certificate } = bundle.certs.os;
  const check = (...more: readonly string[]): Promise<string> => verify(pair.certificate, certificate, "-purpose", "sslserver", ...more);
  for (const name of [
    ["-verify_ip", "192.0.2.10"],
    ["-verify_ip", "2001:db8::10"],
    ["-verify_hostname", "node-1.example.org"],
  ]) {
    assert.match(await check(...name), /leaf\.crt: OK/, name.join(" "));
  }
  assert.match(await check("-verify_ip", "192.0.2.11"), /IP address mismatch/);
  assert.match(await check("-verify_hostname", "node-2"), /hostname mismatch/);
});
