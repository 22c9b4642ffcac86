import { boolean, integer, list, object, oneOf, required, string, textLike } from "../schema/field.ts";
import type { Field, Infer } from "../schema/field.ts";
import { digestField } from "./fields.ts";

const source = object(
  {
    inline: string({ description: "Objects as YAML, separated by ---.", minLength: 1, maxLength: 524_288 }),
    configMapRef: object(
      {
        name: required(string({ description: "Its name, in the same namespace.", minLength: 1, maxLength: 253 })),
        key: string({ description: "Key whose value is YAML. Default: manifests.yaml.", maxLength: 253 }),
      },
      { description: "Objects that stand in a ConfigMap of the same namespace." },
    ),
    url: textLike("^https://[^/?#@ ]+([/?#][^ ]*)?$", "must be an https URL, for example https://example.com/manifests.yaml", {
      description: "Address with https:// of YAML of at most 4 MiB, fetched at each run. Redirects lead to https:// alone.",
      maxLength: 2_048,
    }),
    sha256: digestField("SHA-256 that what stands at url has to have, 64 hex digits. Anything else is refused."),
  },
  {
    description: "Where objects are from: exactly one of inline, configMapRef and url.",
    rules: [
      {
        rule: "(has(self.inline) ? 1 : 0) + (has(self.configMapRef) ? 1 : 0) + (has(self.url) ? 1 : 0) == 1",
        message: "give exactly one of inline, configMapRef and url",
      },
      {
        rule: "has(self.url) == has(self.sha256)",
        message: "url and sha256 belong together: what is fetched is used only with its digest",
      },
    ],
  },
);

const manifests = object(
  {
    sources: required(
      list(source, { description: "All objects of all sources are one set.", listType: "atomic", minItems: 1, maxItems: 16 }),
    ),
    namespace: string({
      description: "Namespace of objects that need one and name none; made where it is not there. Default: default.",
      maxLength: 63,
    }),
    mode: oneOf(["Continuously", "Once"], {
      description:
        "Continuously applies when the desired state changes, ConfigMaps too, and about every hour; Once applies once for each edit of this spec. Default: Continuously.",
    }),
    prune: boolean({
      description:
        "True deletes what the set made and no longer holds, and all of it when the release is deleted, but for protected objects. False never deletes anything. Default: true.",
    }),
    pruneProtected: boolean({
      description:
        "True prunes Namespaces, CustomResourceDefinitions, PersistentVolumeClaims and PersistentVolumes as well, and so what is in them. Default: false.",
    }),
    takeOwnership: boolean({
      description:
        "True takes over fields that another manager has, objects of another addon, and objects that were there before: those are pruned, too. Default: false.",
    }),
  },
  { description: "Objects that are applied without Helm, in place of helmSpec: exactly one of the two." },
);

/** Objects that are applied without Helm. */
export interface ManifestsSpec extends Infer<typeof manifests> {}
export const manifestsSpecField: Field<ManifestsSpec, false> = manifests;

/** What a release of manifests knows of its set. */
export const manifestsStatusField = object(
  {
    inventory: required(
      string({
        description: "ConfigMap in the namespace kube-system of the cluster that lists what was applied. Deleting it ends pruning.",
      }),
    ),
    appliedAt: string({ description: "When all objects were last applied.", format: "date-time" }),
    pruned: integer({ description: "Objects that were deleted by then because they had left the set.", minimum: 0 }),
    kept: integer({ description: "Objects that left the set and stay: protected ones, or all where prune is false.", minimum: 0 }),
    keptObjects: list(string({ description: "Kind, namespace and name." }), {
      description: "The first of them, at most 10.",
      listType: "atomic",
    }),
  },
  { description: "The set of objects. Absent for a Helm release." },
);
