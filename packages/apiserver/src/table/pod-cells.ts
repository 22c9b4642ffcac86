import type { JsonObject } from "../json.ts";
import { printAge } from "./age.ts";
import { at, listAt, textAt } from "./read-fields.ts";

/** READY of a pod: ready containers of all, restartable init containers among them. */
export function podReady(pod: JsonObject): string {
  const sidecars = sidecarNames(pod);
  const statuses = [
    ...listAt(pod, "status", "containerStatuses"),
    ...listAt(pod, "status", "initContainerStatuses").filter((status) => sidecars.has(textAt("", status, "name"))),
  ];
  const ready = statuses.filter(
    (status) => at(status, "ready") === true && (at(status, "state", "running") !== undefined || sidecars.has(textAt("", status, "name"))),
  ).length;
  return `${ready}/${listAt(pod, "spec", "containers").length + sidecars.size}`;
}

function sidecarNames(pod: JsonObject): Set<string> {
  return new Set(
    listAt(pod, "spec", "initContainers")
      .filter((container) => at(container, "restartPolicy") === "Always")
      .map((container) => textAt("", container, "name")),
  );
}

/** STATUS of a pod: what kubectl calls its reason. */
export function podStatus(pod: JsonObject): string {
  if (at(pod, "metadata", "deletionTimestamp") !== undefined) return at(pod, "status", "reason") === "NodeLost" ? "Unknown" : "Terminating";
  const reason = textAt(textAt("", pod, "status", "phase"), pod, "status", "reason");
  const scheduling = listAt(pod, "status", "conditions").some(
    (condition) => at(condition, "type") === "PodScheduled" && at(condition, "reason") === "SchedulingGated",
  );
  return initStatus(pod) ?? containerStatus(pod, scheduling ? "SchedulingGated" : reason);
}

function initStatus(pod: JsonObject): string | undefined {
  const sidecars = sidecarNames(pod);
  const total = listAt(pod, "spec", "initContainers").length;
  const statuses = listAt(pod, "status", "initContainerStatuses");
  for (const [index, status] of statuses.entries()) {
    const terminated = at(status, "state", "terminated");
    if (terminated !== undefined && at(terminated, "exitCode") === 0) continue;
    if (sidecars.has(textAt("", status, "name")) && at(status, "started") === true) continue;
    if (terminated !== undefined) {
      const reason = textAt("", terminated, "reason");
      return `Init:${reason === "" ? exitText(terminated) : reason}`;
    }
    const waiting = textAt("", status, "state", "waiting", "reason");
    return waiting !== "" && waiting !== "PodInitializing" ? `Init:${waiting}` : `Init:${index}/${total}`;
  }
  return undefined;
}

function exitText(terminated: unknown): string {
  const signal = at(terminated, "signal");
  return typeof signal === "number" && signal !== 0 ? `Signal:${signal}` : `ExitCode:${String(at(terminated, "exitCode"))}`;
}

function containerStatus(pod: JsonObject, phase: string): string {
  let reason = phase;
  let hasRunning = false;
  for (const status of listAt(pod, "status", "containerStatuses").toReversed()) {
    const waiting = textAt("", status, "state", "waiting", "reason");
    const terminated = at(status, "state", "terminated");
    if (waiting !== "") reason = waiting;
    else if (terminated !== undefined) reason = textAt(exitText(terminated), terminated, "reason");
    else if (at(status, "ready") === true && at(status, "state", "running") !== undefined) hasRunning = true;
  }
  // A pod with a running container beside a completed one runs, if it is ready.
  if (reason !== "Completed" || !hasRunning) return reason;
  const isReady = listAt(pod, "status", "conditions").some(
    (condition) => at(condition, "type") === "Ready" && at(condition, "status") === "True",
  );
  return isReady ? "Running" : "NotReady";
}

/** RESTARTS of a pod: the count, and how long ago the last one was. */
export function podRestarts(pod: JsonObject, now: Date): string {
  let restarts = 0;
  let last = Number.NEGATIVE_INFINITY;
  const sidecars = sidecarNames(pod);
  const statuses = [
    ...listAt(pod, "status", "containerStatuses"),
    ...listAt(pod, "status", "initContainerStatuses").filter((status) => sidecars.has(textAt("", status, "name"))),
  ];
  for (const status of statuses) {
    const count = at(status, "restartCount");
    restarts += typeof count === "number" ? count : 0;
    const finished = Date.parse(textAt("", status, "lastState", "terminated", "finishedAt"));
    if (!Number.isNaN(finished)) last = Math.max(last, finished);
  }
  return restarts > 0 && Number.isFinite(last)
    ? `${restarts} (${printAge(Math.trunc((now.getTime() - last) / 1000))} ago)`
    : String(restarts);
}
