import { createHash } from "node:crypto";
import type { ScheduledTimer } from "@talos-operator/ports";
import type { KubeObject } from "../objects/kube-object.ts";
import { eventType } from "../request/resource-type.ts";
import { microTime } from "../lease/lease-record.ts";
import { cutToBytes } from "./cut-to-bytes.ts";
import { createWriteLine } from "./write-line.ts";
import type { EventInput, EventRecorder, EventRecorderOptions } from "./types.ts";

interface Series {
  readonly namespace: string;
  readonly name: string;
  count: number;
  lastAt: number;
  writtenCount: number;
  isQueued: boolean;
  timer: ScheduledTimer | undefined;
}

const mostSeries = 4_096;
const callTimeoutMs = 10_000;

/**
 * Makes a recorder of `events.k8s.io/v1` events.
 *
 * The first occurrence is written at once. Repeats (same object, type, reason, action, note and related object) are counted and written
 * as a series, at most once per interval; a repeat after a long silence is a new event. Writes go one after another.
 */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, clock, timers, log, seriesIntervalMs = 60_000, seriesEndMs = 360_000 } = options;
  const resource = client.resource(eventType);
  const known = new Map<string, Series>();
  const line = createWriteLine(log);
  let created = 0;
  let isClosed = false;

  function begin(identity: string, regarding: KubeObject, event: EventInput): void {
    const now = clock.now();
    created += 1;
    const namespace = regarding.metadata?.namespace ?? "default";
    const suffix = createHash("sha256").update(`${identity}\n${now}\n${created}\n${options.reportingInstance}`).digest("hex").slice(0, 16);
    // 253 is the longest name; an event must not fail because its object has a long one.
    const name = `${(regarding.metadata?.name ?? "unknown").slice(0, 230)}.${suffix}`;
    remember(identity, { namespace, name, count: 1, lastAt: now, writtenCount: 1, isQueued: false, timer: undefined });
    const body = {
      metadata: { namespace, name },
      eventTime: microTime(now),
      reportingController: options.reportingController,
      reportingInstance: options.reportingInstance.slice(0, 128),
      action: event.action.slice(0, 128),
      reason: event.reason.slice(0, 128),
      type: event.type,
      note: cutToBytes(event.note, 1024),
      regarding: referenceTo(regarding),
      ...(event.related === undefined ? {} : { related: referenceTo(event.related) }),
    };
    line.add(async () => void (await resource.create(body, { timeoutMs: callTimeoutMs })));
  }

  function remember(identity: string, series: Series): void {
    known.delete(identity);
    known.set(identity, series);
    if (known.size <= mostSeries) return;
    for (const [oldest, old] of known) {
      old.timer?.cancel();
      known.delete(oldest);
      break;
    }
  }

  function repeat(series: Series): void {
    series.count += 1;
    series.lastAt = clock.now();
    if (series.timer !== undefined || series.isQueued) return;
    series.timer = timers.schedule(seriesIntervalMs, () => {
      series.timer = undefined;
      writeSeries(series);
    });
  }

  function writeSeries(series: Series): void {
    if (series.count === series.writtenCount || series.isQueued) return;
    series.isQueued = true;
    line.add(async () => {
      series.isQueued = false;
      series.writtenCount = series.count;
      const value = { series: { count: series.count, lastObservedTime: microTime(series.lastAt) } };
      await resource.patch({ namespace: series.namespace, name: series.name }, { type: "merge", value }, { timeoutMs: callTimeoutMs });
    });
  }

  return {
    get dropped() {
      return line.dropped;
    },
    record(regarding, event) {
      if (isClosed) {
        line.drop();
        return;
      }
      const identity = identityOf(regarding, event);
      const series = known.get(identity);
      if (series !== undefined && clock.now() - series.lastAt < seriesEndMs) repeat(series);
      else {
        series?.timer?.cancel();
        if (series !== undefined) writeSeries(series);
        begin(identity, regarding, event);
      }
    },
    async flush() {
      await line.drained();
    },
    async close() {
      isClosed = true;
      for (const series of known.values()) {
        series.timer?.cancel();
        writeSeries(series);
      }
      known.clear();
      await line.drained();
    },
  };
}

function identityOf(regarding: KubeObject, event: EventInput): string {
  const of = (object: KubeObject | undefined): string =>
    object === undefined ? "" : [object.kind, object.metadata?.namespace, object.metadata?.name, object.metadata?.uid].join("/");
  return [of(regarding), event.type, event.reason, event.action, event.note, of(event.related)].join("\n");
}

function referenceTo(object: KubeObject): Record<string, string> {
  const { namespace, name, uid, resourceVersion } = object.metadata ?? {};
  const all = { apiVersion: object.apiVersion, kind: object.kind, namespace, name, uid, resourceVersion };
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
