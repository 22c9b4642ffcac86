import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import { createController, type ReconcileContext } from "@talos-operator/kube-runtime";
import { createMemoryLog } from "@talos-operator/kube-runtime/testing";
import type { KubeTransport, TalosChannel, TalosMethod } from "@talos-operator/ports";
import { openOtlpTracing, type OtlpTracing } from "./otlp-tracing.ts";

interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string; readonly intValue?: number } }[];
  readonly status: { readonly code?: number; readonly message?: string };
}

interface Received {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: ReceivedSpan["attributes"] };
    readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[];
  }[];
}

const wordsOf = ({ attributes }: Pick<ReceivedSpan, "attributes">): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));

async function listening(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`;
}

/** Takes what is posted, or never answers. */
async function collector(answers: boolean) {
  const bodies: Received[] = [];
  const server = createServer((request, response) => {
    if (!answers) return;
    let text = "";
    request.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    request.on("end", () => {
      bodies.push(JSON.parse(text) as Received);
      response.setHeader("content-type", "application/json").end("{}");
    });
  });
  return {
    url: await listening(server),
    bodies,
    spans: () => bodies.flatMap(({ resourceSpans }) => resourceSpans.flatMap((one) => one.scopeSpans.flatMap(({ spans }) => spans))),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const kube: KubeTransport = {
  send: ({ path }) =>
    path === "/lost" ? Promise.reject(new Error("connection reset")) : Promise.resolve({ status: 200, headers: {}, body: {} }),
  watch: () => Promise.reject(new Error("not asked for")),
  close() {},
};

/** Runs one pass of a controller. */
async function pass(tracing: OtlpTracing, reconcile: (context: ReconcileContext) => Promise<{ requeueAfterMs: number } | undefined>) {
  const stop = new AbortController();
  const controller = createController({
    name: "things",
    watches: [],
    clock: systemClock,
    timers: systemTimers,
    random: systemRandom,
    log: createMemoryLog(),
    tracer: tracing.tracer,
    backoff: { baseMs: 60_000 },
    reconcile: (_, context) => reconcile(context).finally(() => setImmediate(() => stop.abort())),
  });
  controller.enqueue({ namespace: "ns", name: "a" });
  await controller.run(stop.signal);
}

describe("traces over OTLP", () => {
  it("show a pass with what it does below it, by itself and through transports, and nothing of what goes on after it", async () => {
    const place = await collector(true);
    const tracing = openOtlpTracing({ url: place.url, clock: systemClock, log: createMemoryLog() });
    const requests = tracing.traceRequests(kube);
    const method = { path: "/machine.MachineService/Version" } as TalosMethod<unknown, unknown>;
    const channel = { target: { address: "10.0.0.1" }, unary: () => Promise.resolve({}) } as unknown as TalosChannel;
    const calls = tracing
      .traceCalls({ dial: () => channel, reaches: async () => true, hold: async () => "unreached" })
      .dial({ address: "10.0.0.1" }, { kind: "maintenance" });
    let later: Promise<unknown> | undefined;
    const gate = Promise.withResolvers<void>();
    await pass(tracing, async ({ span }) => {
      span.set({ rule: "first" });
      await Promise.all([
        span.inSpan("effect A", { machine: "m1" }, () => requests.send({ method: "GET", path: "/a" })),
        span.inSpan("effect B", {}, () => calls.unary(method, {}, { timeoutMs: 1 })),
      ]);
      later = gate.promise.then(() => requests.send({ method: "GET", path: "/later" }));
      return { requeueAfterMs: 60_000 };
    });
    gate.resolve();
    await later;
    await requests.send({ method: "GET", path: "/outside" });
    await tracing.close();
    place.close();

    const spans = place.spans();
    const named = (name: string): ReceivedSpan => spans.find((span) => span.name === name) ?? assert.fail(`${name} is missing`);
    const top = named("reconcile things");
    assert.equal(spans.length, 5);
    assert.deepEqual(new Set(spans.map(({ traceId }) => traceId)), new Set([top.traceId]));
    assert.equal(top.parentSpanId, undefined);
    for (const [child, parent] of [
      ["effect A", "reconcile things"],
      ["effect B", "reconcile things"],
      ["kubernetes GET", "effect A"],
      ["talos call", "effect B"],
    ] as const)
      assert.equal(named(child).parentSpanId, named(parent).spanId, child);
    assert.deepEqual(wordsOf(top), {
      controller: "things",
      "k8s.namespace.name": "ns",
      "k8s.object.name": "a",
      "reconcile.id": "things-1",
      rule: "first",
      outcome: "requeue_after",
      "requeue.after_ms": 60_000,
    });
    assert.deepEqual(wordsOf(named("kubernetes GET")), {
      "http.request.method": "GET",
      "url.path": "/a",
      "http.response.status_code": 200,
    });
    assert.equal(wordsOf(named("talos call"))["rpc.method"], "machine.MachineService/Version");
    assert.equal(wordsOf(place.bodies[0]?.resourceSpans[0]?.resource ?? { attributes: [] })["service.name"], "talos-operator");
  });

  it("say what a pass failed with", async () => {
    const place = await collector(true);
    const tracing = openOtlpTracing({ url: place.url, clock: systemClock, log: createMemoryLog() });
    const thrown = Object.assign(new Error("it is gone"), { code: "GONE" });
    await pass(tracing, ({ span }) => span.inSpan("effect A", {}, () => Promise.reject(thrown)));
    await tracing.close();
    place.close();
    for (const span of place.spans()) {
      assert.deepEqual(span.status, { code: 2, message: "GONE: it is gone" }, span.name);
      assert.equal(wordsOf(span)["error.type"], "GONE");
    }
    assert.equal(place.spans().length, 2);
  });

  it("of a collector that never answers hold up neither a pass nor the end", async () => {
    const place = await collector(false);
    const log = createMemoryLog();
    const tracing = openOtlpTracing({ url: place.url, clock: systemClock, log, exportTimeoutMs: 200, closeTimeoutMs: 20 });
    let passes = 0;
    // Many times the queue: what does not fit is left out.
    for (let index = 0; index < 5_000; index += 1) await tracing.tracer.inSpan("one", {}, () => Promise.resolve((passes += 1)));
    await pass(tracing, () => Promise.resolve(undefined));
    await tracing.close();
    assert.equal(passes, 5_000);
    assert.deepEqual(place.bodies, []);
    place.close();
  });

  it("of a collector that is away are told once a minute, with what was lost", async () => {
    const gone = createServer();
    const url = await listening(gone);
    gone.close();
    await once(gone, "close");
    const log = createMemoryLog();
    const tracing = openOtlpTracing({ url, clock: { now: () => 1_000 }, log, exportTimeoutMs: 100 });
    // Each full batch goes out at once.
    for (let index = 0; index < 512 * 3; index += 1) await tracing.tracer.inSpan("one", {}, () => Promise.resolve());
    await tracing.close();
    assert.deepEqual(
      log.lines.map(({ level, fields }) => [level, fields["lost"], fields["reason"]]),
      [["warn", 512, "ECONNREFUSED"]],
    );
  });
});
