import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { createSeededRandom } from "@talos-operator/kube-runtime/testing";
import {
  canonicalMachineConfig,
  classifyConfigEffects,
  createTalosconfig,
  describeMachineConfig,
  generateMachineConfig,
  generateSecretsBundle,
  parseSecretsBundle,
  parseSecretsBundleJson,
  parseTalosconfig,
  patchMachineConfig,
  printSecretsBundle,
  printSecretsBundleJson,
  printTalosconfig,
  redactMachineConfig,
  secretsBundleFromMachineConfig,
  validateMachineConfig,
} from "@talos-operator/talos";
import { createSecretScan, secretsIn } from "../simulate/secret-scan.ts";
import { createValueKeys } from "../world/value-keys.ts";

const keys = createValueKeys(createSeededRandom(1));
const bundle = await generateSecretsBundle({ contract: "1.13", clock: { now: () => 0 }, random: createSeededRandom(2), keys });
const config = generateMachineConfig({
  role: "controlplane",
  clusterName: "demo",
  endpoint: "https://10.0.0.100:6443",
  contract: "1.13",
  kubernetesVersion: "v1.36.3",
  secrets: bundle,
  install: { disk: "/dev/sda", image: "ghcr.io/siderolabs/installer:v1.13.9" },
});
const { certificate: ca } = bundle.certs.os;
const talosconfig = printTalosconfig(createTalosconfig({ clusterName: "demo", ca, certificate: ca, key: bundle.certs.os.key }));
const [yaml, json] = [printSecretsBundle(bundle), printSecretsBundleJson(bundle)];

const scan = createSecretScan();
for (const text of [yaml, json, config]) for (const { name, secret } of secretsIn(text)) scan.add(name, secret);

/** What a hand, a tool or a cut connection makes of a line that holds a secret. */
const damages: Readonly<Record<string, (line: string, value: string) => string>> = {
  "is a list": (line, value) => line.replace(value, `[${value}]`),
  "is a mapping": (line, value) => line.replace(value, `{a: ${value}}`),
  "is an alias": (line, value) => line.replace(value, `*${value}`),
  "has a tag": (line, value) => line.replace(value, `!!int ${value}`),
  "has a tag of somebody": (line, value) => line.replace(value, `!mine ${value}`),
  "is quoted on one side": (line, value) => line.replace(value, `"${value}`),
  "holds a tab": (line, value) => line.replace(value, `\t${value}`),
  "holds a colon": (line, value) => line.replace(value, `${value}: ${value}`),
  "is cut": (line, value) => line.replace(value, value.slice(0, value.length / 2)),
  "is no base64": (line, value) => line.replace(value, `${value}%`),
  "stands deeper": (line) => `  ${line}`,
  "stands twice": (line) => `${line}\n${line}`,
  "has another name": (line) => line.replace(/[a-z]+:/i, "other:"),
  "is a name": (line, value) => line.replace(/[a-z]+:.*/i, `${value}: 1`),
  "has control characters": (line, value) => line.replace(value, `${value}\u0007`),
};

function damaged(text: string): readonly (readonly [string, string])[] {
  const lines = text.split("\n");
  return lines.flatMap((line, at) => {
    const value = /[A-Za-z0-9+/=._-]{23,}/.exec(line)?.[0];
    if (value === undefined || scan.find(line) === undefined) return [];
    return Object.entries(damages).map(([how, damage]) => {
      const changed = [...lines.slice(0, at), damage(line, value), ...lines.slice(at + 1)].join("\n");
      return [`line ${at + 1} ${how}`, changed] as const;
    });
  });
}

/** What is found is told people as errors are. */
const tell = (found: unknown): never => {
  throw new Error(JSON.stringify(found));
};
const patch = (text: string): string => patchMachineConfig(config, [text]);
const readers: Readonly<Record<string, readonly [string, ...((text: string) => unknown)[]]>> = {
  "a secrets bundle": [yaml, parseSecretsBundle],
  "a secrets bundle in JSON": [json, parseSecretsBundleJson],
  "a talosconfig": [talosconfig, parseTalosconfig],
  "a machine config": [
    config,
    secretsBundleFromMachineConfig,
    describeMachineConfig,
    canonicalMachineConfig,
    (text) => tell(redactMachineConfig(text)),
    (text) => tell(validateMachineConfig(text, { mode: "metal", contract: "1.13" })),
    (text) => classifyConfigEffects(config, text, "v1.13.9"),
    (text) => patchMachineConfig(text, ["machine:\n  env: {A: b}\n"]),
    patch,
  ],
};

describe("no error tells a part of a secret, whatever is wrong with the line that holds it", () => {
  for (const [what, [text, ...reads]] of Object.entries(readers))
    test(what, () => {
      const told: string[] = [];
      let errors = 0;
      for (const [how, changed] of damaged(text))
        for (const read of reads)
          try {
            read(changed);
          } catch (thrown) {
            errors += 1;
            // As logs, consoles and answers show it. Its `detail` is for who wrote the text.
            for (let error = thrown; error instanceof Error; error = error.cause)
              for (const said of [error.message, error.stack ?? "", inspect(error), JSON.stringify(error)])
                if (scan.find(said) !== undefined) told.push(`${how}: ${said.slice(0, 200)}`);
          }
      assert.ok(errors >= 10, `${errors} errors`);
      assert.deepEqual([...new Set(told)], []);
    });
});
