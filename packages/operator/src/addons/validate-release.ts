import { oneOfBoth } from "@talos-operator/api";
import type { Finding, HelmSpec, TalosClusterAddonRelease } from "@talos-operator/api";
import { driftIntervalMs } from "./drift-interval.ts";
import { goDurationMs } from "./helm-options.ts";
import { validateAfterManifests, validateManifests } from "./validate-manifests.ts";
import { LONGEST_VALUES } from "./values-template.ts";

/** What a release may ask for. */
export interface ReleaseLimits {
  /** Repositories by http. Default: false. */
  readonly allowPlainText?: boolean;
  /** `--allow-insecure-chart-repositories`: certificates that nobody checks. Default: false. */
  readonly allowUnchecked?: boolean;
}

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** As Helm demands it. */
const RELEASE_NAME = /^[a-z0-9]([-a-z0-9.]{0,51}[a-z0-9])?$/;

const CHART_NAME = /^[A-Za-z0-9][\w.-]{0,199}$/;
const CHART_VERSION = /^[\w.+*^~<>=|, -]{1,100}$/;

/** What is wrong with the spec of a release beyond its schema. Names alone: no part of a value is in it. Pure. */
export function validateRelease(
  { metadata, spec, status }: Pick<TalosClusterAddonRelease, "metadata" | "spec" | "status">,
  { allowPlainText = false, allowUnchecked = false }: ReleaseLimits = {},
): readonly Finding[] {
  const { helmSpec, manifests } = spec;
  if ((helmSpec === undefined) === (manifests === undefined)) return [oneOfBoth(helmSpec !== undefined)];
  if (manifests !== undefined) return validateManifests(manifests, status);
  const findings: Finding[] = [...validateAfterManifests(status), ...uncheckedFindings(helmSpec, allowUnchecked)];
  const refuse = (field: string, message: string, remedy: string): void =>
    void findings.push({ field, message, remedy, reason: "SpecRefused" });
  if (helmSpec === undefined) return findings;
  const {
    repoURL,
    chartName,
    releaseName = "",
    namespace = "default",
    version = "",
    options = {},
    values,
    credentials,
    tlsConfig,
  } = helmSpec;
  const at = (name: string): string => `spec.helmSpec.${name}`;
  const url = URL.parse(repoURL);
  if (url === null || !["https:", "oci:", ...(allowPlainText ? ["http:"] : [])].includes(url.protocol) || url.host === "")
    refuse(
      at("repoURL"),
      "it is no address with https:// or oci://",
      "Write the address of the repository, such as https://charts.example.org",
    );
  else if (url.username !== "" || url.password !== "")
    refuse(at("repoURL"), "it holds a user name or a password", "Put them into a Secret, and name it in helmSpec.credentials");
  if (!CHART_NAME.test(chartName))
    refuse(at("chartName"), "it can be the name of no chart", "Write the name alone, without repository and version");
  const name = releaseName === "" ? chartName : releaseName;
  if (!RELEASE_NAME.test(name))
    refuse(
      at("releaseName"),
      `${JSON.stringify(name.slice(0, 60))} can be the name of no release`,
      "Write at most 53 characters of a-z, 0-9 and -",
    );
  if (namespace !== "" && !DNS_LABEL.test(namespace)) refuse(at("namespace"), "it is no name of a namespace", "Write it in a-z, 0-9 and -");
  const installed = status?.releaseName === undefined ? undefined : `${status.releaseNamespace ?? ""}/${status.releaseName}`;
  if (installed !== undefined && installed !== `${namespace || "default"}/${name}`)
    refuse(
      at("releaseName"),
      `it is installed as ${installed}, and a release keeps its name and namespace`,
      "Go back to these, or delete the TalosClusterAddonRelease. It is uninstalled, and an addon recreates it under the other name",
    );
  if (version !== "" && !CHART_VERSION.test(version))
    refuse(at("version"), "it is neither a version nor a range", "Write it as Helm does, such as 1.2.3 or ^1.2");
  if (options.timeout !== undefined && options.timeout !== "" && goDurationMs(options.timeout) === undefined)
    refuse(at("options.timeout"), "it is no duration of at most six hours", "Write it as Go does, such as 5m0s");
  if (spec.drift?.interval !== undefined && driftIntervalMs(spec.drift.interval) === undefined)
    refuse("spec.drift.interval", "it is no duration of 1 hour to 30 days", "Write it as Go does, such as 6h");
  if ((options.upgrade?.maxHistory ?? 10) < 0) refuse(at("options.upgrade.maxHistory"), "it is negative", "Write 0 for no limit, or more");
  if (values !== undefined && JSON.stringify(values).length > LONGEST_VALUES)
    refuse(
      at("values"),
      `they have more than ${LONGEST_VALUES} characters`,
      "A release has to fit into a Secret: leave out what the chart has as its defaults",
    );
  for (const [field, secret] of [
    ["credentials.secret", credentials?.secret],
    ["tlsConfig.caSecret", tlsConfig?.caSecret],
  ] as const)
    if (secret?.namespace !== undefined && secret.namespace !== "" && secret.namespace !== metadata.namespace)
      refuse(
        at(`${field}.namespace`),
        "only Secrets of the release's own namespace are read",
        "Make the Secret there, and leave the namespace out",
      );
  return findings;
}

function uncheckedFindings(helmSpec: HelmSpec | undefined, allowUnchecked: boolean): readonly Finding[] {
  if (helmSpec?.tlsConfig?.insecureSkipTLSVerify !== true || allowUnchecked) return [];
  return [
    {
      field: "spec.helmSpec.tlsConfig.insecureSkipTLSVerify",
      message: "an attacker on the network path could replace the chart",
      remedy: "Give the repository's authority in tlsConfig.caSecret, or start the operator with --allow-insecure-chart-repositories",
      reason: "SpecRefused",
    },
  ];
}
