import { ConfigError } from "../config/errors.ts";
import { generateSecretsBundle } from "../secrets/generate.ts";
import { secretsBundleFromMachineConfig } from "../secrets/from-config.ts";
import { parseSecretsBundle } from "../secrets/parse.ts";
import { printSecretsBundle } from "../secrets/print.ts";
import {
  compareRefusals,
  compareText,
  failed,
  notRun,
  passed,
  textOf,
  type GoldenCase,
  type GoldenContext,
  type GoldenOutcome,
} from "./case.ts";

/** Parses, prints, generates and extracts secrets bundles. */
export function runSecrets(golden: GoldenCase, context: GoldenContext): GoldenOutcome | Promise<GoldenOutcome> {
  switch (golden.input["op"]) {
    case "generate": {
      const text = textOf(golden.expected["bundle"], context);
      return compareText(printSecretsBundle(parseSecretsBundle(text)), text, "bundle");
    }
    case "generate-properties":
      return runGenerate(golden, context);
    case "from-controlplane-config":
      return runFromConfig(golden, context);
    case "validate":
      return runValidate(golden, context);
    default:
      return notRun(`no code for ${String(golden.input["op"])}`);
  }
}

async function runGenerate(golden: GoldenCase, context: GoldenContext): Promise<GoldenOutcome> {
  const now = Date.parse(String(golden.input["clock"]));
  const contract = golden.input["contract"] === "current" ? "1.13" : String(golden.input["contract"]);
  let counter = 0;
  const random = {
    bytes: (length: number): Uint8Array => Uint8Array.from({ length }, () => (counter = (counter * 73 + 41) % 251)),
    fraction: (): number => 0.5,
  };
  const bundle = await generateSecretsBundle({ contract, clock: { now: () => now }, random, keys: context.keys });
  const wanted = golden.expected["properties"] as Readonly<Record<string, unknown>>;
  const token = new RegExp(String(wanted["bootstrap_token_pattern"]));
  if (!token.test(bundle.secrets.bootstrapToken) || !token.test(bundle.trustdInfo.token)) return failed("a token has another form");
  const authorities = {
    certs_etcd: bundle.certs.etcd,
    certs_k8s: bundle.certs.k8s,
    certs_k8saggregator: bundle.certs.k8sAggregator,
    certs_os: bundle.certs.os,
  };
  for (const [name, pair] of Object.entries(authorities)) {
    const { issuer_o: organizations, validity_hours: hours } = wanted[name] as {
      issuer_o: readonly string[] | null;
      validity_hours: number;
    };
    const facts = context.keys.describeCertificate(pair.certificate);
    if (facts.organizations.join() !== (organizations ?? []).join()) return failed(`${name} has the subject ${facts.organizations.join()}`);
    if (Math.abs((facts.notAfter - facts.notBefore) / 3_600_000 - hours) > 0.01) return failed(`${name} has another validity`);
    if (facts.notBefore !== now || !context.keys.isPair(pair))
      return failed(`${name} starts at another time or its key does not belong to it`);
  }
  return passed;
}

function runFromConfig(golden: GoldenCase, context: GoldenContext): GoldenOutcome {
  const wantsValid = golden.expected["validate_error"] === null;
  try {
    const text = printSecretsBundle(secretsBundleFromMachineConfig(textOf(golden.input["config"], context)));
    return wantsValid ? compareText(text, textOf(golden.expected["bundle"], context), "bundle") : failed("got a bundle, want a refusal");
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    if (wantsValid) return failed(error.message);
    const wanted = golden.expected["error"];
    return typeof wanted === "string" ? compareRefusals(error.detail, wanted) : passed;
  }
}

/** Ours stops at the first thing that is wrong; theirs lists all. */
function runValidate(golden: GoldenCase, context: GoldenContext): GoldenOutcome {
  const refusal = golden.expected["load_error"] ?? golden.expected["validate_error"];
  try {
    parseSecretsBundle(textOf(golden.input["bundle"], context));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return typeof refusal === "string" ? passed : failed(error.message);
  }
  if (typeof refusal !== "string") return passed;
  return refusal.includes("failed to parse PEM block")
    ? notRun("PEM texts are opaque here; the Keys port looks into them")
    : failed(`got a bundle, want ${JSON.stringify(refusal)}`);
}
