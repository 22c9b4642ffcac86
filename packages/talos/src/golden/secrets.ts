import type { RandomSource } from "@talos-operator/ports";
import { ConfigError } from "../config/errors.ts";
import type { SecretsBundle } from "../secrets/bundle.ts";
import { pemChecks } from "../secrets/check.ts";
import { bundlePartsOfMachineConfig } from "../secrets/from-config.ts";
import { secretsBundleFromKubernetesPki } from "../secrets/from-kubernetes-pki.ts";
import { generateSecretsBundle } from "../secrets/generate.ts";
import { parseSecretsBundleJson, printSecretsBundleJson } from "../secrets/json.ts";
import { parseSecretsBundle } from "../secrets/parse.ts";
import { bundleOfParts, bundleProblems, listProblems, type BundleParts } from "../secrets/parts.ts";
import { printSecretsBundle } from "../secrets/print.ts";
import { readBundleParts } from "../secrets/read.ts";
import { compareCertificate, keyProperties, type CertificateProperties } from "./certificates.ts";
import {
  answersOf,
  compareRefusals,
  compareText,
  failed,
  notRun,
  passed,
  textOf,
  worstOf,
  type GoldenCase,
  type GoldenContext,
  type GoldenOutcome,
} from "./case.ts";

/** Parses, prints, generates, checks and extracts secrets bundles. */
export function runSecrets(golden: GoldenCase, context: GoldenContext): GoldenOutcome | Promise<GoldenOutcome> {
  switch (golden.input["op"]) {
    case "generate":
      return runSample(golden, context);
    case "generate-properties":
      return runGenerate(golden, context);
    case "from-kubernetes-pki":
      return runFromPki(golden, context);
    case "from-controlplane-config":
      return runFromConfig(golden, context);
    case "validate":
      return runValidate(golden, context);
    default:
      return notRun(`no code for ${String(golden.input["op"])}`);
  }
}

/** A sample bundle in both forms, and one of ours with its service account key: RSA keys take long. */
async function runSample(golden: GoldenCase, context: GoldenContext): Promise<GoldenOutcome> {
  const text = textOf(golden.expected["bundle"], context);
  const json = textOf(golden.expected["bundle_json"], context);
  const sample = parseSecretsBundle(text);
  const ours = await generateSecretsBundle({
    contract: contractOf(golden),
    clock: { now: () => context.now },
    random: countingRandom(),
    keys: context.keys,
    serviceAccountKey: sample.certs.k8sServiceAccount.key,
  });
  const properties = golden.expected["properties"] as Readonly<Record<string, unknown>>;
  return worstOf([
    compareText(printSecretsBundle(sample), text, "bundle"),
    compareText(printSecretsBundleJson(sample), json.replace(/\n$/, ""), "JSON form"),
    compareText(printSecretsBundle(parseSecretsBundleJson(json)), text, "bundle read as JSON"),
    await compareBundle(sample, properties, context, []),
    await compareBundle(ours, properties, context, ["not_before", "not_after"]),
    compareProblems(sample, golden.expected["validate_error"]),
  ]);
}

async function runGenerate(golden: GoldenCase, context: GoldenContext): Promise<GoldenOutcome> {
  const now = Date.parse(String(golden.input["clock"]));
  const bundle = await generateSecretsBundle({
    contract: contractOf(golden),
    clock: { now: () => now },
    random: countingRandom(),
    keys: context.keys,
  });
  return compareBundle(bundle, golden.expected["properties"] as Readonly<Record<string, unknown>>, context, []);
}

async function compareBundle(
  bundle: SecretsBundle,
  wanted: Readonly<Record<string, unknown>>,
  context: GoldenContext,
  except: readonly string[],
): Promise<GoldenOutcome> {
  const { cluster, secrets, trustdInfo, certs } = bundle;
  const encryption = secrets.secretboxEncryptionSecret ?? secrets.aescbcEncryptionSecret ?? "";
  const facts: Readonly<Record<string, unknown>> = {
    cluster_id_decoded_bytes: bytesIn(cluster.id),
    cluster_secret_decoded_bytes: bytesIn(cluster.secret),
    encryption: secrets.secretboxEncryptionSecret === undefined ? "aescbc" : "secretbox",
    encryption_secret_decoded_bytes: bytesIn(encryption),
  };
  for (const [name, value] of Object.entries(facts)) {
    if (value !== wanted[name]) return failed(`${name} is ${String(value)}, want ${JSON.stringify(wanted[name])}`);
  }
  const tokens = { bootstrap_token_pattern: secrets.bootstrapToken, trustd_token_pattern: trustdInfo.token };
  for (const [name, token] of Object.entries(tokens)) {
    if (!new RegExp(String(wanted[name])).test(token)) return failed(`a token does not fit ${name}`);
  }
  const serviceAccount = JSON.stringify(keyProperties(certs.k8sServiceAccount.key));
  if (serviceAccount !== JSON.stringify(wanted["certs_k8sserviceaccount"])) return failed(`the service account key is ${serviceAccount}`);
  const pairs = { certs_etcd: certs.etcd, certs_k8s: certs.k8s, certs_k8saggregator: certs.k8sAggregator, certs_os: certs.os };
  const outcomes: GoldenOutcome[] = [];
  for (const [name, pair] of Object.entries(pairs)) {
    outcomes.push(await compareCertificate(name, pair, wanted[name] as CertificateProperties, context, except));
    if (!context.keys.isPair(pair)) outcomes.push(failed(`the key of ${name} does not belong to it`));
  }
  return worstOf(outcomes);
}

async function runFromPki(golden: GoldenCase, context: GoldenContext): Promise<GoldenOutcome> {
  const { input, expected } = golden;
  const files = Object.entries(input["files"] as Readonly<Record<string, unknown>>).map(([path, file]) => [path, textOf(file, context)]);
  try {
    const bundle = await secretsBundleFromKubernetesPki({
      files: Object.fromEntries(files) as Readonly<Record<string, string>>,
      bootstrapToken: String(input["bootstrap_token"]),
      folder: "<pki dir>",
      contract: contractOf(golden),
      clock: { now: () => context.now },
      random: countingRandom(),
      keys: context.keys,
    });
    if (typeof expected["error"] === "string") return failed(`got a bundle, want ${JSON.stringify(expected["error"])}`);
    const printed = printSecretsBundle(bundle);
    const certs = printed.slice(printed.indexOf("certs:\n") + 7).replace(/^ {4}/gm, "");
    const token = String(expected["bootstrap_token"]);
    const isTokenRight = token.startsWith("random, pattern ")
      ? new RegExp(token.slice(16)).test(bundle.secrets.bootstrapToken)
      : token === bundle.secrets.bootstrapToken;
    return worstOf([
      compareText(certs.slice(0, certs.indexOf("os:\n")), textOf(expected["certs"], context), "certs"),
      isTokenRight ? passed : failed("another bootstrap token"),
      compareText(
        bundle.secrets.secretboxEncryptionSecret === undefined ? "aescbc" : "secretbox",
        String(expected["encryption"]),
        "encryption",
      ),
      await compareCertificate("the Talos authority", bundle.certs.os, expected["os_ca_properties"] as CertificateProperties, context),
      compareProblems(bundle, expected["validate_error"]),
    ]);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return typeof expected["error"] === "string" ? compareRefusals(error.detail, expected["error"]) : failed(error.message);
  }
}

function runFromConfig(golden: GoldenCase, context: GoldenContext): GoldenOutcome {
  let parts: BundleParts;
  try {
    parts = bundlePartsOfMachineConfig(textOf(golden.input["config"], context));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const wanted = golden.expected["error"];
    return typeof wanted === "string" ? compareRefusals(error.detail, wanted) : failed(error.message);
  }
  if (golden.expected["error"] !== undefined) return failed(`got a bundle, want ${JSON.stringify(golden.expected["error"])}`);
  const problems = bundleProblems(parts, "1.13", pemChecks);
  const wanted = golden.expected["validate_error"];
  // A bundle that Talos itself refuses is not printed: nothing could be done with it.
  if (typeof wanted === "string") return compareText(listProblems(problems), wanted, "problems");
  if (problems.length > 0) return failed(listProblems(problems));
  return compareText(printSecretsBundle(bundleOfParts(parts)), textOf(golden.expected["bundle"], context), "bundle");
}

function runValidate(golden: GoldenCase, context: GoldenContext): GoldenOutcome {
  const text = textOf(golden.input["bundle"], context);
  return worstOf(
    answersOf(golden).map(({ generation, expected }) => {
      const loadError = expected["load_error"];
      try {
        const problems = bundleProblems(readBundleParts(text, generation), generation, pemChecks);
        if (typeof loadError === "string") return failed(`got a bundle, want ${JSON.stringify(loadError)}`);
        const wanted = expected["validate_error"];
        return compareText(problems.length === 0 ? "" : listProblems(problems), typeof wanted === "string" ? wanted : "", "problems");
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        return typeof loadError === "string" ? compareRefusals(error.detail, loadError) : failed(error.message);
      }
    }),
  );
}

function compareProblems(bundle: SecretsBundle, wanted: unknown): GoldenOutcome {
  const parts = readBundleParts(printSecretsBundle(bundle), "1.13");
  const problems = bundleProblems(parts, "1.13", pemChecks);
  return compareText(problems.length === 0 ? "" : listProblems(problems), typeof wanted === "string" ? wanted : "", "problems");
}

function contractOf(golden: GoldenCase): string {
  return golden.input["contract"] === "current" ? "1.13" : String(golden.input["contract"]);
}

function bytesIn(text: string): number {
  return Buffer.from(text, "base64url").length;
}

function countingRandom(): RandomSource {
  let counter = 0;
  return {
    bytes: (length) => Uint8Array.from({ length }, () => (counter = (counter * 73 + 41) % 251)),
    fraction: () => 0.5,
  };
}
