// extract-openapi.ts KUBECTL KUBECONFIG OUT: writes definitions.ts and kinds.ts from what a kube-apiserver publishes, and beside them in
// auth/gen the Roles and bindings that it creates when it starts. See hack/openapi/update.sh.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { brotliCompressSync } from "node:zlib";
import { load } from "js-yaml";

type Json = Record<string, any>; // oxlint-disable-line typescript/no-explicit-any

const [kubectl = "", kubeconfig = "", out = ""] = process.argv.slice(2);

/** Kinds that the embedded API serves: group-version, then plurals. */
const wanted: Record<string, string[]> = {
  v1: [
    "namespaces",
    "nodes",
    "pods",
    "services",
    "endpoints",
    "secrets",
    "configmaps",
    "serviceaccounts",
    "events",
    "persistentvolumeclaims",
    "persistentvolumes",
    "podtemplates",
    "replicationcontrollers",
    "resourcequotas",
    "limitranges",
  ],
  "apps/v1": ["deployments", "daemonsets", "statefulsets", "replicasets", "controllerrevisions"],
  "admissionregistration.k8s.io/v1": [
    "validatingadmissionpolicies",
    "validatingadmissionpolicybindings",
    "validatingwebhookconfigurations",
    "mutatingwebhookconfigurations",
  ],
  "apiregistration.k8s.io/v1": ["apiservices"],
  "flowcontrol.apiserver.k8s.io/v1": ["flowschemas", "prioritylevelconfigurations"],
  "autoscaling/v2": ["horizontalpodautoscalers"],
  "autoscaling/v1": ["horizontalpodautoscalers"],
  "batch/v1": ["jobs", "cronjobs"],
  "discovery.k8s.io/v1": ["endpointslices"],
  "networking.k8s.io/v1": ["ingresses", "ingressclasses", "networkpolicies"],
  "node.k8s.io/v1": ["runtimeclasses"],
  "scheduling.k8s.io/v1": ["priorityclasses"],
  "storage.k8s.io/v1": ["storageclasses", "csidrivers", "csinodes", "csistoragecapacities", "volumeattachments", "volumeattributesclasses"],
  "certificates.k8s.io/v1": ["certificatesigningrequests"],
  "policy/v1": ["poddisruptionbudgets"],
  "coordination.k8s.io/v1": ["leases"],
  "events.k8s.io/v1": ["events"],
  "apiextensions.k8s.io/v1": ["customresourcedefinitions"],
  "rbac.authorization.k8s.io/v1": ["roles", "rolebindings", "clusterroles", "clusterrolebindings"],
  "authentication.k8s.io/v1": ["tokenreviews", "selfsubjectreviews"],
  "authorization.k8s.io/v1": ["subjectaccessreviews", "localsubjectaccessreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews"],
};

function raw(path: string): Json {
  const text = execFileSync(kubectl, ["--kubeconfig", kubeconfig, "get", "--raw", path], { encoding: "utf8", maxBuffer: 64 << 20 });
  return JSON.parse(text) as Json;
}

/** kubectl cannot ask for a Table by raw path, so this one request is made by hand. */
async function table(path: string): Promise<Json> {
  const config = load(readFileSync(kubeconfig, "utf8")) as Json;
  const bytes = (value: string): Buffer => Buffer.from(value, "base64");
  const { cluster } = config["clusters"][0];
  const { user } = config["users"][0];
  return new Promise((resolve, reject) => {
    const call = request(
      `${cluster.server}${path}`,
      {
        ca: bytes(cluster["certificate-authority-data"]),
        cert: bytes(user["client-certificate-data"]),
        key: bytes(user["client-key-data"]),
        headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" },
      },
      (response) => {
        let body = "";
        response.on("data", (chunk) => (body += String(chunk)));
        response.on("end", () => resolve(JSON.parse(body) as Json));
      },
    );
    call.on("error", reject);
    call.end();
  });
}

/** Times that are no pointers in Go, so that they are printed as null when unset; OpenAPI does not tell. */
const alwaysPrintedTimes = new Set([
  "lastHeartbeatTime",
  "lastTransitionTime",
  "lastUpdateTime",
  "firstTimestamp",
  "lastTimestamp",
  "eventTime",
  "startedAt",
  "finishedAt",
]);
const definitions: Record<string, Json> = {};
/** The schemas of those kinds and of all they refer to, word for word. */
const published: Record<string, Json> = {};
const kinds: Json[] = [];
for (const [groupVersion, plurals] of Object.entries(wanted)) {
  const root = groupVersion.includes("/") ? `apis/${groupVersion}` : `api/${groupVersion}`;
  const document = raw(`/openapi/v3/${root}`);
  const schemas = document["components"]["schemas"] as Json;
  const resources = raw(`/${root}`)["resources"] as Json[];
  for (const plural of plurals) {
    const resource = resources.find((candidate) => candidate["name"] === plural) as Json;
    const gvk = {
      group: groupVersion.includes("/") ? groupVersion.split("/")[0] : "",
      kind: resource["kind"],
      version: groupVersion.split("/").at(-1),
    };
    const [name] = Object.entries(schemas).find(([, schema]) =>
      ((schema as Json)["x-kubernetes-group-version-kind"] ?? []).some(
        (x: Json) => x["kind"] === gvk.kind && x["group"] === gvk.group && x["version"] === gvk.version,
      ),
    ) as [string, Json];
    collect(name, schemas);
    publish(name, schemas);
    if (`${name}List` in schemas) publish(`${name}List`, schemas);
    const hasList = (resource["verbs"] as string[]).includes("list");
    const columns = hasList ? (await table(`/${root}/${plural}?limit=1`))["columnDefinitions"] : [];
    kinds.push({
      ...gvk,
      definition: name,
      plural,
      singular: resource["singularName"],
      shortNames: resource["shortNames"] ?? [],
      categories: resource["categories"] ?? [],
      namespaced: resource["namespaced"],
      status: resources.some((candidate) => candidate["name"] === `${plural}/status`),
      scale: resources.some((candidate) => candidate["name"] === `${plural}/scale`),
      columns: (columns as Json[]).map(({ name: column, type, format, priority }) => ({
        name: column,
        type,
        ...(format ? { format } : {}),
        ...(priority ? { priority } : {}),
      })),
    });
  }
}

function publish(name: string, schemas: Json): void {
  if (name in published) return;
  published[name] = schemas[name] as Json;
  for (const [, reference = ""] of JSON.stringify(schemas[name]).matchAll(/"#\/components\/schemas\/([^"]+)"/g))
    publish(reference, schemas);
}

function collect(name: string, schemas: Json): void {
  if (name in definitions) return;
  definitions[name] = {};
  definitions[name] = shape(schemas[name] as Json, schemas);
}

/** The schema without texts and Go zero values; references by bare name. */
function shape(schema: Json, schemas: Json, isField = false): Json {
  const reference = schema["$ref"] ?? schema["allOf"]?.[0]?.["$ref"];
  const kept: Json = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key.startsWith("x-kubernetes-") && !["x-kubernetes-group-version-kind", "x-kubernetes-unions"].includes(key)) kept[key] = value;
  }
  if (reference !== undefined) {
    // Go prints a struct that is no pointer even when it is empty.
    const isStruct = isField && JSON.stringify(schema["default"]) === "{}";
    const name = String(reference).split("/").at(-1) as string;
    if (name.endsWith(".IntOrString")) return { ...kept, "x-kubernetes-int-or-string": true };
    if (name.endsWith(".Quantity")) return { ...kept, format: "quantity" };
    if (/\.(?:Micro)?Time$/.test(name)) {
      return { ...kept, ...(isStruct ? { "x-go-struct": true } : {}), type: "string", format: "date-time", nullable: true };
    }
    if (name.endsWith(".ObjectMeta") || name.endsWith(".FieldsV1") || name.endsWith(".RawExtension") || name.endsWith(".JSON"))
      return { ...kept, ...(isStruct && name.endsWith(".ObjectMeta") ? { "x-go-struct": true } : {}), $open: name.split(".").at(-1) };
    if (name.includes(".JSONSchemaPropsOr")) {
      // A schema, or a list of schemas, or a boolean: the server checks CRDs itself.
      return { ...kept, $open: "JSON" };
    }
    collect(name, schemas);
    return { ...kept, ...(isStruct ? { "x-go-struct": true } : {}), $ref: name };
  }
  for (const key of ["type", "format", "required", "enum"]) if (schema[key] !== undefined) kept[key] = schema[key];
  if (schema["format"] === "int-or-string") return { ...kept, type: undefined, format: undefined, "x-kubernetes-int-or-string": true };
  const zero = schema["default"];
  if (zero !== undefined && zero !== "" && zero !== 0 && zero !== false && JSON.stringify(zero) !== "{}") kept["default"] = zero;
  if (schema["properties"] !== undefined) {
    kept["properties"] = Object.fromEntries(
      Object.entries(schema["properties"] as Json).map(([key, child]) => [
        key,
        { ...shape(child as Json, schemas, true), ...(alwaysPrintedTimes.has(key) ? { "x-go-struct": true } : {}) },
      ]),
    );
  }
  if (schema["items"] !== undefined) kept["items"] = shape(schema["items"] as Json, schemas);
  if (schema["additionalProperties"] !== undefined) kept["additionalProperties"] = shape(schema["additionalProperties"] as Json, schemas);
  return kept;
}

const head = `// Generated by hack/openapi/update.sh from the OpenAPI of kube-apiserver ${(raw("/version") as { gitVersion: string }).gitVersion}. Do not edit.\n`;
const print = (record: Record<string, unknown>): string =>
  `{\n${Object.entries(record)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`)
    .join("")}}`;
writeFileSync(
  `${out}/definitions.ts`,
  `${head}import type { BuiltinSchema } from "../builtin-schema.ts";\n\nexport const definitions: Readonly<Record<string, BuiltinSchema>> = ${print(definitions)};\n`,
);
writeFileSync(
  `${out}/kinds.ts`,
  `${head}import type { BuiltinFacts } from "../builtin-schema.ts";\n\nexport const kinds: readonly BuiltinFacts[] = [\n${kinds.map((kind) => `  ${JSON.stringify(kind)},\n`).join("")}];\n`,
);

// As one compressed text: a megabyte of descriptions that only kubectl explain asks for.
const ordered = Object.fromEntries(Object.entries(published).toSorted(([a], [b]) => (a < b ? -1 : 1)));
const packed = brotliCompressSync(JSON.stringify(ordered)).toString("base64");
writeFileSync(
  `${out}/../../openapi/gen/published.ts`,
  `${head}\n/** JSON of the schemas by name, compressed with Brotli, in base64. */\nexport const packedSchemas =\n${(packed.match(/.{1,140}/g) ?? []).map((line) => `  "${line}"`).join(" +\n")};\n`,
);

// The Roles that belong to controllers of the controller manager are left out: none of those run here.
const policyKinds = { clusterroles: "ClusterRole", clusterrolebindings: "ClusterRoleBinding", roles: "Role", rolebindings: "RoleBinding" };
const policy = Object.entries(policyKinds).flatMap(([plural, kind]) =>
  (raw(`/apis/rbac.authorization.k8s.io/v1/${plural}`)["items"] as Json[])
    .filter((object) => !String(object["metadata"]["name"]).includes("controller:"))
    .map(({ metadata, ...object }) => ({
      plural,
      kind,
      name: metadata["name"] as string,
      namespace: (metadata["namespace"] ?? "") as string,
      labels: metadata["labels"],
      annotations: metadata["annotations"],
      // What a role gathers from others is gathered here as well.
      content: object["aggregationRule"] === undefined ? object : { aggregationRule: object["aggregationRule"] },
    })),
);
writeFileSync(
  `${out}/../../auth/gen/bootstrap-policy.ts`,
  `${head.replace("the OpenAPI of", "the Roles and bindings of a new")}import type { BootstrapObject } from "../bootstrap-policy.ts";\n\nexport const bootstrapPolicy: readonly BootstrapObject[] = [\n${policy.map((object) => `  ${JSON.stringify(object)},\n`).join("")}];\n`,
);
