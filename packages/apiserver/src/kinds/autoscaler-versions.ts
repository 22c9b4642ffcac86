import { isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, objectsAt, stringAt, without, withMetadata } from "../request/json.ts";

/*
 * `autoscaling/v1` knows one metric, the share of cpu. What `autoscaling/v2` has beyond that stands in annotations there, in the notation that v1
 * once had for it.
 *
 * @see pkg/apis/autoscaling/v1/conversion.go of Kubernetes 1.36
 */

const older = "autoscaling/v1";
const metricsNote = "autoscaling.alpha.kubernetes.io/metrics";
const statusesNote = "autoscaling.alpha.kubernetes.io/current-metrics";
const conditionsNote = "autoscaling.alpha.kubernetes.io/conditions";
const behaviorNote = "autoscaling.alpha.kubernetes.io/behavior";
const notes = [metricsNote, statusesNote, conditionsNote, behaviorNote];

/** A stored (`autoscaling/v2`) autoscaler as a version shows it. */
export function autoscalerToServed(autoscaler: JsonObject, apiVersion: string): JsonObject {
  if (apiVersion !== older) return autoscaler;
  const spec = objectAt(autoscaler, "spec");
  const status = objectAt(autoscaler, "status");
  const metrics = objectsAt(spec, "metrics");
  const share = metrics.find(isShareOfCpu);
  const others = metrics.filter((metric) => !isShareOfCpu(metric)).map(metricToOlder);
  const current = objectsAt(status, "currentMetrics");
  const conditions = objectsAt(status, "conditions");
  const seen = current.find((metric) => objectAt(metric, "resource")["name"] === "cpu");
  const seenShare = objectAt(objectAt(seen, "resource"), "current")["averageUtilization"];
  const told = {
    ...(others.length === 0 ? {} : { [metricsNote]: JSON.stringify(others) }),
    ...(current.length === 0 ? {} : { [statusesNote]: JSON.stringify(current.map(statusToOlder)) }),
    ...(spec["behavior"] === undefined ? {} : { [behaviorNote]: JSON.stringify(goBehavior(objectAt(spec, "behavior"))) }),
    ...(conditions.length === 0 ? {} : { [conditionsNote]: JSON.stringify(conditions) }),
  };
  const target = objectAt(objectAt(share, "resource"), "target")["averageUtilization"];
  return {
    ...annotated(autoscaler, told),
    apiVersion: older,
    spec: { ...without(spec, "metrics", "behavior"), ...(target === undefined ? {} : { targetCPUUtilizationPercentage: target }) },
    status: {
      // Only the newer version leaves it out when there are none.
      currentReplicas: 0,
      ...without(status, "currentMetrics", "conditions"),
      ...(seenShare === undefined ? {} : { currentCPUUtilizationPercentage: seenShare }),
    },
  };
}

/** Answers of the newer version say when nothing was measured. */
export function showAutoscaler(autoscaler: JsonObject): JsonObject {
  if (autoscaler["apiVersion"] === older) return autoscaler;
  const status = objectAt(autoscaler, "status");
  return { ...autoscaler, status: { ...status, currentMetrics: status["currentMetrics"] ?? null } };
}

/** An autoscaler of either version as it is stored. */
export function autoscalerToStored(autoscaler: JsonObject): JsonObject {
  if (autoscaler["apiVersion"] !== older) return autoscaler;
  const spec = objectAt(autoscaler, "spec");
  const status = objectAt(autoscaler, "status");
  const told = objectAt(metadataOf(autoscaler), "annotations");
  const share = spec["targetCPUUtilizationPercentage"];
  const metrics = [...listIn(told[metricsNote]).map(metricFromOlder), ...(share === undefined ? [] : [shareOfCpu(share)])];
  const behavior = objectIn(told[behaviorNote]);
  const current = listIn(told[statusesNote]).map(statusFromOlder);
  const conditions = listIn(told[conditionsNote]);
  return {
    ...annotated(autoscaler, {}),
    apiVersion: "autoscaling/v2",
    spec: {
      ...without(spec, "targetCPUUtilizationPercentage"),
      metrics: metrics.length === 0 ? [shareOfCpu(80)] : metrics,
      ...(behavior === undefined ? {} : { behavior: fromGoBehavior(behavior) }),
    },
    status: {
      ...without(status, "currentCPUUtilizationPercentage", ...(status["currentReplicas"] === 0 ? ["currentReplicas"] : [])),
      ...(current.length === 0 ? {} : { currentMetrics: current }),
      ...(conditions.length === 0 ? {} : { conditions }),
    },
  };
}

/** True when an autoscaler of the older version names a metric of any kind. */
export function namesMetrics(autoscaler: JsonObject): boolean {
  const { targetCPUUtilizationPercentage } = objectAt(autoscaler, "spec");
  return targetCPUUtilizationPercentage !== undefined || objectAt(metadataOf(autoscaler), "annotations")[metricsNote] !== undefined;
}

function annotated(autoscaler: JsonObject, told: JsonObject): JsonObject {
  const own = objectAt(metadataOf(autoscaler), "annotations");
  const annotations = { ...without(own, ...notes), ...told };
  return withMetadata(autoscaler, { annotations: Object.keys(annotations).length === 0 ? undefined : annotations });
}

function shareOfCpu(averageUtilization: unknown): JsonObject {
  return { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } };
}

function isShareOfCpu(metric: JsonObject): boolean {
  const resource = objectAt(metric, "resource");
  return metric["type"] === "Resource" && resource["name"] === "cpu" && objectAt(resource, "target")["averageUtilization"] !== undefined;
}

/** What the fields of a metric's source are called: here, and in the older notation. */
const sourceOf: Readonly<Record<string, string>> = {
  Resource: "resource",
  ContainerResource: "containerResource",
  Pods: "pods",
  Object: "object",
  External: "external",
};

/** The source of a metric with what is in it translated. */
function translated(metric: JsonObject, translate: (source: JsonObject, type: string) => JsonObject): JsonObject {
  const type = stringAt(metric, "type") ?? "";
  const field = sourceOf[type];
  return field === undefined ? metric : { type, [field]: present(translate(objectAt(metric, field), type)) };
}

function present(source: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined));
}

/** In the order in which Go prints it. */
function reference(object: unknown): JsonObject {
  const { kind, name, apiVersion } = isObject(object) ? object : {};
  return present({ kind, name, apiVersion });
}

function metricToOlder(metric: JsonObject): JsonObject {
  return translated(metric, (source, type) => {
    const target = objectAt(source, "target");
    const { name, selector } = objectAt(source, "metric");
    const average = target["averageValue"];
    switch (type) {
      case "Pods":
        return { metricName: name, targetAverageValue: average, selector };
      case "Object":
        return {
          target: reference(source["describedObject"]),
          metricName: name,
          targetValue: target["value"] ?? "0",
          selector,
          averageValue: average,
        };
      case "External":
        return { metricName: name, metricSelector: selector, targetValue: target["value"], targetAverageValue: average };
      default:
        return {
          name: source["name"],
          targetAverageUtilization: target["averageUtilization"],
          targetAverageValue: average,
          container: source["container"],
        };
    }
  });
}

function metricFromOlder(metric: JsonObject): JsonObject {
  return translated(metric, (source, type) => {
    const named = { metric: present({ name: source["metricName"], selector: source["selector"] ?? source["metricSelector"] }) };
    const average = source["averageValue"] ?? source["targetAverageValue"];
    const value = type === "Object" && average !== undefined && source["targetValue"] === "0" ? undefined : source["targetValue"];
    const isAverage = type === "Object" ? average !== undefined : value === undefined;
    const target = present({ type: isAverage ? "AverageValue" : "Value", value, averageValue: average });
    if (type === "Pods" || type === "External") return { ...named, target };
    if (type === "Object") return { describedObject: source["target"], target, ...named };
    const share = source["targetAverageUtilization"];
    return {
      name: source["name"],
      target: present({ type: share === undefined ? "AverageValue" : "Utilization", averageUtilization: share, averageValue: average }),
      container: source["container"],
    };
  });
}

function statusToOlder(metric: JsonObject): JsonObject {
  return translated(metric, (source, type) => {
    const { value, averageValue, averageUtilization } = objectAt(source, "current");
    const { name, selector } = objectAt(source, "metric");
    switch (type) {
      case "Pods":
        return { metricName: name, currentAverageValue: averageValue ?? "0", selector };
      case "Object":
        return { target: reference(source["describedObject"]), metricName: name, currentValue: value ?? "0", selector, averageValue };
      case "External":
        return { metricName: name, metricSelector: selector, currentValue: value ?? "0", currentAverageValue: averageValue };
      default:
        return {
          name: source["name"],
          currentAverageUtilization: averageUtilization,
          currentAverageValue: averageValue ?? "0",
          container: source["container"],
        };
    }
  });
}

function statusFromOlder(metric: JsonObject): JsonObject {
  return translated(metric, (source, type) => {
    const named = { metric: present({ name: source["metricName"], selector: source["selector"] ?? source["metricSelector"] }) };
    const current = present({
      value: source["currentValue"],
      averageValue: source["averageValue"] ?? source["currentAverageValue"],
      averageUtilization: source["currentAverageUtilization"],
    });
    if (type === "Pods" || type === "External") return { ...named, current };
    if (type === "Object") return { describedObject: source["target"], current, ...named };
    return { name: source["name"], current, container: source["container"] };
  });
}

/** The annotation spells fields as Go does, an accident that nobody can take back. */
const goNames: Readonly<Record<string, string>> = {
  scaleUp: "ScaleUp",
  scaleDown: "ScaleDown",
  stabilizationWindowSeconds: "StabilizationWindowSeconds",
  selectPolicy: "SelectPolicy",
  policies: "Policies",
  tolerance: "Tolerance",
  type: "Type",
  value: "Value",
  periodSeconds: "PeriodSeconds",
};
const ownNames = Object.fromEntries(Object.entries(goNames).map(([own, go]) => [go, own]));

function renamed(value: unknown, names: Readonly<Record<string, string>>): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, names));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => (item === null ? [] : [[names[key] ?? key, renamed(item, names)]])),
  );
}

function goBehavior(behavior: JsonObject): unknown {
  const side = (name: string): unknown => {
    const rules = behavior[name];
    const absent = { StabilizationWindowSeconds: null, SelectPolicy: null, Policies: null, Tolerance: null };
    return isObject(rules) ? { ...absent, ...(renamed(rules, goNames) as JsonObject) } : null;
  };
  return { ScaleUp: side("scaleUp"), ScaleDown: side("scaleDown") };
}

function fromGoBehavior(behavior: JsonObject): unknown {
  return renamed(behavior, ownNames);
}

function parsed(text: unknown): unknown {
  try {
    return typeof text === "string" ? (JSON.parse(text) as unknown) : undefined;
  } catch {
    // An annotation that is no JSON says nothing, as to the genuine server.
    return undefined;
  }
}

function listIn(text: unknown): readonly JsonObject[] {
  const value = parsed(text);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function objectIn(text: unknown): JsonObject | undefined {
  const value = parsed(text);
  return isObject(value) ? value : undefined;
}
