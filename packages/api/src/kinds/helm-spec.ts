import { boolean, integer, list, object, oneOf, rawObject, required, string } from "../schema/field.ts";
import type { Field, Infer } from "../schema/field.ts";
import { digestField } from "./fields.ts";

const secretReference = object(
  {
    name: string({ description: "Name of the Secret." }),
    namespace: string({ description: "Namespace of the Secret: only that of the object itself is allowed. Default: that one." }),
  },
  { description: "A Secret in the same namespace.", mapType: "atomic" },
);

const options = object(
  {
    atomic: boolean({ description: "A failed install is removed, a failed upgrade goes back. Helm 4 calls it rollback-on-failure." }),
    dependencyUpdate: boolean({ description: "Charts that the chart depends on and does not contain are fetched first." }),
    disableHooks: boolean({ description: "Hooks of the chart do not run." }),
    disableOpenAPIValidation: boolean({ description: "Objects are not held to the schemas of the cluster before they are sent." }),
    enableClientCache: boolean({
      description: "Has no effect: each run is a process of its own. Default: false.",
      default: false,
    }),
    install: object(
      {
        createNamespace: boolean({ description: "The namespace is made where it is not there. Default: true.", default: true }),
        includeCRDs: boolean({ description: "Has no effect: Helm installs CRDs of a chart unless skipCRDs is true." }),
      },
      { description: "Only for the first revision." },
    ),
    options: boolean({ description: "True shows notes of the charts inside the chart as well. Has no effect: no notes are shown." }),
    skipCRDs: boolean({ description: "CRDs in the folder crds of the chart are not installed." }),
    takeOwnership: boolean({
      description: "Objects that exist already, and that no other release owns or another one does, are taken over.",
    }),
    timeout: string({
      description: "How long Helm waits for one step, such as hooks or wait, as Go writes durations: 5m0s. Default: 5m.",
    }),
    uninstall: object(
      {
        description: string({ description: "Text that Helm keeps of the removal, where the history is kept." }),
        keepHistory: boolean({ description: "What Helm knows of the release stays in the cluster after it was removed." }),
      },
      { description: "Only for the removal." },
    ),
    upgrade: object(
      {
        cleanupOnFail: boolean({ description: "Objects that a failed upgrade made are removed again." }),
        force: boolean({ description: "Objects that cannot be changed are replaced." }),
        maxHistory: integer({ description: "How many revisions Helm keeps. Default: 10.", default: 10 }),
        recreate: boolean({ description: "Has no effect: Helm restarts no pods." }),
        resetThenReuseValues: boolean({ description: "Values begin with the chart's, then those of the last revision, then these." }),
        resetValues: boolean({ description: "Values begin with the chart's, whatever the last revision had." }),
        reuseValues: boolean({ description: "Values begin with those of the last revision." }),
      },
      { description: "Only for upgrades." },
    ),
    wait: boolean({ description: "A revision counts as installed once its objects are ready." }),
    waitForJobs: boolean({ description: "With wait: its Jobs have to be complete, too." }),
  },
  { description: "Switches of Helm." },
);

/** Switches of Helm, as published. */
export interface HelmOptionsSpec extends Infer<typeof options> {}

const helm = object(
  {
    chartName: required(string({ description: "Name of the chart in its repository." })),
    repoURL: required(
      string({ description: "Repository of the chart: https:// with an index, or oci:// up to the folder that holds the chart." }),
    ),
    releaseName: string({ description: "Name of the Helm release, at most 53 characters. Default: the name of the chart." }),
    namespace: string({ description: "Namespace of the release in the cluster. Default: default.", default: "default" }),
    version: string({
      description:
        "Version of the chart, or a range as Helm reads it. A range, and an absent version, is resolved once at each edit of chart, repository or version; status.chart names what came of it. Default: the newest.",
    }),
    digest: digestField("SHA-256 that the archive of the chart has to have, 64 hex digits. Another archive is refused."),
    valuesTemplate: string({
      description:
        "Values as YAML, in which {{ .Cluster.Name }} and other facts of the cluster stand; docs/howto/addons.md lists them. Text of the form a=b,c=d is read as Helm reads --set.",
    }),
    valuesFrom: list(
      object(
        {
          kind: required(oneOf(["ConfigMap", "Secret"], { description: "Kind of the object." })),
          name: required(string({ description: "Its name, in the same namespace.", minLength: 1, maxLength: 253 })),
          key: string({ description: "Key whose value is YAML. Default: values.yaml.", maxLength: 253 }),
          optional: boolean({ description: "True lets object and key be absent." }),
        },
        { description: "Values that stand in another object." },
      ),
      {
        description:
          "Values from ConfigMaps and Secrets of the same namespace: they win over valuesTemplate, and each over those before it.",
        listType: "atomic",
        maxItems: 16,
      },
    ),
    values: rawObject({ description: "Values. They win over valuesTemplate and valuesFrom." }),
    options,
    credentials: object(
      {
        key: required(
          string({
            description:
              "Key of the Secret with the password. The user name stands under the key username; without it the password is a token.",
          }),
        ),
        secret: required(secretReference),
      },
      { description: "Access to the repository." },
    ),
    tlsConfig: object(
      {
        caSecret: secretReference,
        insecureSkipTLSVerify: boolean({
          description:
            "True does not check the certificate of the repository: an attacker on the network path can replace the chart. Only with the operator's flag --allow-insecure-chart-repositories; prefer caSecret.",
        }),
      },
      { description: "TLS to the repository. The Secret of caSecret holds the authority as PEM under the key ca.crt." },
    ),
  },
  { description: "The chart, and how it is installed." },
);

/** A Helm chart, and how it is installed. */
export interface HelmSpec extends Infer<typeof helm> {}
export const helmSpecField: Field<HelmSpec, false> = helm;
