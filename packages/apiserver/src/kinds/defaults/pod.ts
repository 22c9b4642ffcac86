import { canonicalQuantity } from "../../builtin/canonical-quantity.ts";
import { isObject } from "../../json.ts";
import type { JsonObject } from "../../json.ts";
import { objectAt, objectsAt, stringAt } from "../../request/json.ts";
import { each, fill, inside } from "./fill.ts";

const containerLists = ["initContainers", "containers", "ephemeralContainers"];

/**
 * Fills in what a pod spec may leave out, of a pod as of a template.
 *
 * @see pkg/apis/core/v1/defaults.go of Kubernetes 1.36
 */
function defaultPodSpec(spec: JsonObject): JsonObject {
  let filled = fill(spec, {
    dnsPolicy: "ClusterFirst",
    restartPolicy: "Always",
    schedulerName: "default-scheduler",
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  });
  // The old name of the field goes along with the new one.
  const account = stringAt(filled, "serviceAccountName") || stringAt(filled, "serviceAccount");
  if (account) filled = { ...filled, serviceAccountName: account, serviceAccount: account };
  for (const list of containerLists) filled = each(filled, list, defaultContainer);
  return each(filled, "volumes", defaultVolume);
}

/** A pod template with its spec filled in. */
export function defaultTemplate(holder: JsonObject): JsonObject {
  return inside(holder, "template", (template) => inside(template, "spec", defaultPodSpec));
}

/** Fills in what a pod itself may leave out. */
export function defaultPod(pod: JsonObject): JsonObject {
  return inside(pod, "spec", (spec) => {
    const grace = spec["terminationGracePeriodSeconds"];
    const patient = typeof grace === "number" && grace < 0 ? { ...spec, terminationGracePeriodSeconds: 1 } : spec;
    let filled = fill(defaultPodSpec(patient), { enableServiceLinks: true });
    for (const list of ["initContainers", "containers"]) filled = each(filled, list, requestWhatIsLimited);
    if (filled["hostNetwork"] !== true) return filled;
    for (const list of ["initContainers", "containers"]) filled = each(filled, list, publishOnNode);
    return filled;
  });
}

/** On the node's network every port is one of the node. A template says nothing of that: its pods do. */
function publishOnNode(container: JsonObject): JsonObject {
  return each(container, "ports", (port) => (port["containerPort"] === undefined ? port : fill(port, { hostPort: port["containerPort"] })));
}

function requestWhatIsLimited(container: JsonObject): JsonObject {
  const limits = objectAt(objectAt(container, "resources"), "limits");
  if (Object.keys(limits).length === 0) return container;
  return inside(container, "resources", (resources) => ({ ...resources, requests: fill(objectAt(resources, "requests"), limits) }));
}

function defaultContainer(container: JsonObject): JsonObject {
  let filled = fill(container, {
    imagePullPolicy: pullPolicyOf(stringAt(container, "image") ?? ""),
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
  });
  filled = each(filled, "ports", (port) => fill(port, { protocol: "TCP" }));
  filled = each(filled, "env", (variable) => inside(variable, "valueFrom", defaultReferences));
  for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"]) filled = inside(filled, probe, defaultProbe);
  return inside(filled, "lifecycle", (lifecycle) => inside(inside(lifecycle, "postStart", defaultHandler), "preStop", defaultHandler));
}

function pullPolicyOf(image: string): "Always" | "IfNotPresent" {
  if (image.includes("@")) return "IfNotPresent";
  const tag = /:([^/:]+)$/.exec(image)?.[1];
  return tag === undefined || tag === "latest" ? "Always" : "IfNotPresent";
}

/** What a variable or a file takes from the pod itself. */
const defaultReferences = (source: JsonObject): JsonObject =>
  inside(
    inside(source, "fieldRef", (reference) => fill(reference, { apiVersion: "v1" })),
    "resourceFieldRef",
    (reference) => fill(reference, { divisor: "0" }),
  );

const defaultHandler = (handler: JsonObject): JsonObject => inside(handler, "httpGet", (get) => fill(get, { path: "/", scheme: "HTTP" }));

function defaultProbe(probe: JsonObject): JsonObject {
  const filled = fill(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 });
  return inside(defaultHandler(filled), "grpc", (grpc) => fill(grpc, { service: "" }));
}

const volumeMode = { defaultMode: 0o644 };

function defaultVolume(volume: JsonObject): JsonObject {
  // A volume without a source is an empty directory.
  const hasSource = Object.keys(volume).some((field) => field !== "name");
  let filled: JsonObject = hasSource ? volume : { ...volume, emptyDir: {} };
  for (const source of ["secret", "configMap"]) filled = inside(filled, source, (given) => fill(given, volumeMode));
  filled = inside(filled, "hostPath", (path) => fill(path, { type: "" }));
  filled = inside(filled, "downwardAPI", (api) => defaultItems(fill(api, volumeMode)));
  filled = inside(filled, "ephemeral", (ephemeral) =>
    inside(ephemeral, "volumeClaimTemplate", (template) => inside(template, "spec", (spec) => fill(spec, { volumeMode: "Filesystem" }))),
  );
  return inside(filled, "projected", (projected) =>
    each(fill(projected, volumeMode), "sources", (source) =>
      inside(inside(source, "downwardAPI", defaultItems), "serviceAccountToken", (token) => fill(token, { expirationSeconds: 3600 })),
    ),
  );
}

const defaultItems = (holder: JsonObject): JsonObject => each(holder, "items", defaultReferences);

const compute = ["cpu", "memory"];

/** The quality-of-service class of a new pod. */
export function qosClassOf(pod: JsonObject): "BestEffort" | "Burstable" | "Guaranteed" {
  const spec = objectAt(pod, "spec");
  const containers = [...objectsAt(spec, "initContainers"), ...objectsAt(spec, "containers")];
  const amounts = (container: JsonObject, side: string): JsonObject => objectAt(objectAt(container, "resources"), side);
  const isPresent = (amount: unknown): boolean => amount !== undefined && canonicalQuantity(amount) !== "0";
  const sides = ["requests", "limits"];
  if (!containers.some((container) => sides.some((side) => compute.some((name) => isPresent(amounts(container, side)[name])))))
    return "BestEffort";
  const isGuaranteed = containers.every((container) =>
    compute.every((name) => {
      const limit = amounts(container, "limits")[name];
      return isPresent(limit) && canonicalQuantity(amounts(container, "requests")[name] ?? limit) === canonicalQuantity(limit);
    }),
  );
  return isGuaranteed ? "Guaranteed" : "Burstable";
}

const tolerated = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

/** Gives the spec of a pod five minutes of patience with nodes that fail, unless it has its own. */
export function bePatient(spec: JsonObject): JsonObject {
  const tolerations = objectsAt(spec, "tolerations");
  const added = tolerated
    .filter(
      (key) =>
        !tolerations.some(
          (given) => (given["key"] === key || !stringAt(given, "key")) && (given["effect"] === "NoExecute" || !stringAt(given, "effect")),
        ),
    )
    .map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 }));
  return added.length === 0 ? spec : { ...spec, tolerations: [...tolerations, ...added] };
}

/** What admission adds to a new pod: its priority, and patience. */
export function admitNewPod(pod: JsonObject, priorityClass: JsonObject | undefined): JsonObject {
  return inside(pod, "spec", (spec) => {
    return fill(
      {
        ...bePatient(spec),
        ...(isObject(priorityClass) ? { priorityClassName: objectAt(priorityClass, "metadata")["name"] } : {}),
      },
      { priority: priorityClass?.["value"] ?? 0, preemptionPolicy: priorityClass?.["preemptionPolicy"] ?? "PreemptLowerPriority" },
    );
  });
}
