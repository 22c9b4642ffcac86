import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import type { KeyObject } from "node:crypto";
import { before, describe, test } from "node:test";
import { format, inspect } from "node:util";
import { createLogger, createX509Keys, systemRandom } from "@talos-operator/adapters";
import type { KeyPair } from "@talos-operator/ports";
import { describeMachineConfig } from "./config/describe.ts";
import { ConfigError } from "./config/errors.ts";
import { generateMachineConfig } from "./config/generate/generate.ts";
import { patchMachineConfig } from "./config/patch/patch.ts";
import { redactMachineConfig } from "./config/redact.ts";
import { generateAdminKubeconfig } from "./kubeconfig/admin-kubeconfig.ts";
import { readPrivateKey } from "./pki/private-key.ts";
import { ConfigText } from "./resources/config-text.ts";
import { parseSchematic } from "./schematic/parse.ts";
import type { SecretsBundle } from "./secrets/bundle.ts";
import { checkSecretsBundle } from "./secrets/check.ts";
import { secretsBundleFromMachineConfig } from "./secrets/from-config.ts";
import { generateSecretsBundle } from "./secrets/generate.ts";
import { parseSecretsBundleJson, printSecretsBundleJson } from "./secrets/json.ts";
import { parseSecretsBundle } from "./secrets/parse.ts";
import { printSecretsBundle } from "./secrets/print.ts";
import { signClientCertificate } from "./talosconfig/client-certificate.ts";
import { mergeTalosconfigs } from "./talosconfig/merge.ts";
import { parseTalosconfig } from "./talosconfig/parse.ts";
import { printTalosconfig } from "./talosconfig/print.ts";
import { createTalosconfig } from "./talosconfig/talosconfig.ts";

const keys = createX509Keys();
const now = Date.parse("2026-03-01T12:00:00Z");

/** Everything that may not be seen, in every form in which it could be: as text, as bytes in base64 at each offset and in hex, as PEM. */
class Secrets {
  readonly #needles = new Map<string, string>();

  /** A token or another short text. */
  addText(name: string, secret: string): void {
    this.#addBytes(name, Buffer.from(secret));
    this.#needles.set(secret, name);
  }

  addKey(name: string, pem: string): void {
    const lines = pem.split("\n").filter((text) => !text.startsWith("-----"));
    // Beginning and end of a body are the same for all keys of a kind, or hold the public key.
    const [inner = ""] = lines.length > 3 ? lines.slice(2) : [lines[0]?.slice(-24)];
    this.#needles.set(inner.slice(0, 24), `${name}, PEM`);
    this.#addBytes(`${name}, PEM in base64`, Buffer.from(inner));
    const { key } = readPrivateKey(pem, "authority") as { readonly key: KeyObject };
    this.#addBytes(`${name}, private number`, Buffer.from(key.export({ format: "jwk" }).d ?? "", "base64url"));
  }

  #addBytes(name: string, bytes: Buffer): void {
    this.#needles.set(bytes.toString("hex").slice(0, 32), `${name}, hex`);
    for (let offset = 0; offset < 3; offset++) {
      // Whole groups only: what stands before and after changes the first and the last letters.
      const inner = bytes.subarray(offset, offset + 15);
      if (inner.length === 15) this.#needles.set(inner.toString("base64"), `${name}, base64`);
    }
  }

  /** Names of the secrets that a text shows. */
  shownBy(text: string): readonly string[] {
    return [...this.#needles].flatMap(([needle, name]) => (text.includes(needle) ? [name] : []));
  }
}

const secrets = new Secrets();
let bundle: SecretsBundle;
let admin: KeyPair;
let config: string;
let talosconfigText: string;
let kubeconfig: string;

before(async () => {
  bundle = await generateSecretsBundle({ contract: "1.6", clock: { now: () => now }, random: systemRandom, keys });
  admin = await signClientCertificate({ keys, authority: bundle.certs.os, notBefore: now });
  config = generateMachineConfig({
    role: "controlplane",
    clusterName: "alpha",
    endpoint: "https://192.0.2.10:6443",
    contract: "1.13",
    kubernetesVersion: "1.36.1",
    secrets: bundle,
  });
  talosconfigText = printTalosconfig(createTalosconfig({ clusterName: "alpha", ca: bundle.certs.os.certificate, ...admin }));
  kubeconfig = await generateAdminKubeconfig({ machineConfig: config, keys, now });
  secrets.addText("discovery key", bundle.cluster.secret);
  secrets.addText("bootstrap token", bundle.secrets.bootstrapToken);
  secrets.addText("encryption key", bundle.secrets.secretboxEncryptionSecret ?? "");
  secrets.addText("join token", bundle.trustdInfo.token);
  for (const [name, pair] of Object.entries({ ...bundle.certs, admin })) secrets.addKey(name, pair.key);
});

test("the search finds keys in every form", () => {
  const { os } = bundle.certs;
  const der = Buffer.from(os.key.replace(/-----[^-]+-----|\s/g, ""), "base64");
  for (const text of [
    os.key,
    Buffer.from(os.key).toString("base64"),
    der.toString("hex"),
    `x${der.toString("base64")}`,
    bundle.certs.k8sServiceAccount.key,
  ]) {
    assert.ok(secrets.shownBy(text).length > 0, text);
  }
  assert.deepEqual(secrets.shownBy(os.certificate + bundle.cluster.id), []);
});

/** All ways in which a value gets into a text without anyone asking for its secrets. */
async function facesOf(value: unknown): Promise<string> {
  const stream = new PassThrough();
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  const logger = createLogger({ level: "debug", destination: stream });
  logger.info({ value, err: value }, "seen");
  const options = { depth: Infinity, showHidden: true, maxArrayLength: Infinity, maxStringLength: Infinity };
  await new Promise((resolve) => setImmediate(resolve));
  return [
    JSON.stringify({ value }),
    String(value),
    inspect({ value }, options),
    inspect(value, { ...options, showHidden: false }),
    format("%s %o %O %j", value, value, value, value),
    value instanceof Error
      ? `${value.message} ${value.stack ?? ""} ${JSON.stringify(Object.entries(value))} ${inspect(value.cause, options)}`
      : "",
    Buffer.concat(chunks).toString(),
  ].join("\n");
}

describe("values that hold keys show none", () => {
  const values: readonly (readonly [name: string, value: () => unknown])[] = [
    ["a bundle", () => bundle],
    ["each part of a bundle", () => [bundle.cluster, bundle.secrets, bundle.trustdInfo, bundle.certs, ...Object.values(bundle.certs)]],
    ["a copy of a bundle", () => ({ ...bundle })],
    ["a bundle that was parsed", () => Object.values(parseSecretsBundle(printSecretsBundle(bundle)))],
    ["a bundle that was parsed as JSON", () => Object.values(parseSecretsBundleJson(printSecretsBundleJson(bundle)))],
    ["a bundle from a config", () => Object.values(secretsBundleFromMachineConfig(config))],
    ["a client certificate", () => admin],
    ["an authority", () => [bundle.certs.os]],
    ["a talosconfig", () => parseTalosconfig(talosconfigText)],
    ["each context of a talosconfig", () => [...parseTalosconfig(talosconfigText).contexts]],
    ["a merged talosconfig", () => mergeTalosconfigs(parseTalosconfig(talosconfigText), parseTalosconfig(talosconfigText))],
    ["the facts of a config", () => describeMachineConfig(config)],
    ["authorities among the facts of a config", () => [describeMachineConfig(config).osCa, describeMachineConfig(config).etcdCa]],
    ["the text of a config", () => new ConfigText(config)],
    ["a config without its secrets", () => redactMachineConfig(config)],
    [
      "a schematic with a config in it",
      () => parseSchematic(`customization:\n  embeddedMachineConfiguration: ${JSON.stringify(config)}\n`),
    ],
    ["what is wrong with a bundle", () => checkSecretsBundle({ ...bundle, certs: { ...bundle.certs, k8s: bundle.certs.os } }, { now: 0 })],
  ];
  for (const [name, value] of values) {
    test(name, async () => {
      assert.deepEqual(secrets.shownBy(await facesOf(value())), []);
    });
  }
});

/** What happens to one line of a text that somebody broke. */
const damages: readonly ((line: string) => string)[] = [
  (line) => line.replace(/: (.+)$/, ": [$1]"),
  (line) => line.replace(/: (.+)$/, ": {a: $1}"),
  (line) => line.replace(/: (.+)$/, ": x$1: y"),
  (line) => line.replace(/: (.+)$/, ': "$1'),
  (line) => line.replace(/: (.+)$/, ": *$1"),
  (line) => line.replace(/: (.+)$/, ": !$1"),
  (line) => line.replace(/(\w+):/, "$1x:"),
  (line) => line.replace(/^ /, "\t"),
  (line) => ` ${line}`,
  (line) => `${line}\n${line}`,
  (line) => line.replace(/:.*/, ""),
  (line) => `${line}\u0000`,
];

function failuresOf(text: string, read: (text: string) => unknown): readonly Error[] {
  const lines = text.split("\n");
  const failures: Error[] = [];
  for (const index of lines.keys()) {
    for (const damage of damages) {
      try {
        read(lines.map((line, at) => (at === index ? damage(line) : line)).join("\n"));
      } catch (error) {
        failures.push(error as Error);
      }
    }
  }
  return failures;
}

describe("refusals of texts that hold keys show none", () => {
  const readers: readonly (readonly [name: string, text: () => string, read: (text: string) => unknown])[] = [
    ["a bundle", () => printSecretsBundle(bundle), parseSecretsBundle],
    ["a bundle as JSON", () => printSecretsBundleJson(bundle), parseSecretsBundleJson],
    ["a talosconfig", () => talosconfigText, parseTalosconfig],
    ["a machine config", () => config, (text) => patchMachineConfig(text, ["machine:\n  sysctls:\n    a: b\n"])],
    ["a config for its facts", () => config, describeMachineConfig],
    ["a config for its bundle", () => config, secretsBundleFromMachineConfig],
    ["a patch", () => config, (text) => patchMachineConfig(config, [text])],
    [
      "a JSON patch",
      () => `[{"op": "add", "path": "/machine/token", "value": "${bundle.trustdInfo.token}"}]`,
      (text) => patchMachineConfig(config, [text]),
    ],
    [
      "a config in a schematic",
      () => config,
      (text) => parseSchematic(`customization:\n  embedded:\n    ${text.replaceAll("\n", "\n    ")}`),
    ],
  ];
  for (const [name, text, read] of readers) {
    test(name, async () => {
      const failures = failuresOf(text(), read);
      assert.ok(failures.length > 0);
      assert.ok(failures.every((failure) => failure instanceof ConfigError));
      const distinct = new Map(failures.map((failure) => [`${failure.message}${inspect(failure)}`, failure]));
      for (const failure of distinct.values()) assert.deepEqual(secrets.shownBy(await facesOf(failure)), [], inspect(failure));
    });
  }
});

test("a kubeconfig and a talosconfig are texts, and are meant to hold keys", () => {
  secrets.addKey("kubeconfig", Buffer.from(/client-key-data: (\S+)/.exec(kubeconfig)?.[1] ?? "", "base64").toString());
  assert.deepEqual(secrets.shownBy(kubeconfig).length > 0, true);
  assert.deepEqual(secrets.shownBy(talosconfigText).length > 0, true);
});
