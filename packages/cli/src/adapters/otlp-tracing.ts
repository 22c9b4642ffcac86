import { AsyncLocalStorage } from "node:async_hooks";
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Context, type Span as OtelSpan } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from "@opentelemetry/sdk-trace-base";
import type { Clock, KubeTransport, Logger, Span, SpanAttributes, TalosChannel, TalosDialer, Tracer } from "@talos-operator/ports";
import { quietExporter } from "./quiet-exporter.ts";

/** What makes spans leave the process. Headers, certificates, timeout, compression and sampling are what the usual `OTEL_` variables say. */
export interface OtlpTracingOptions {
  /** Where spans are posted, with its path. */
  readonly url: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Value of `service.name`. Default `talos-operator`. */
  readonly serviceName?: string | undefined;
  /** How long one export may take, with its repetitions. Milliseconds. Default: the exporter's, 10 s. */
  readonly exportTimeoutMs?: number;
  /** How long `close` waits for what is left to be sent. Milliseconds. Default 2_000. */
  readonly closeTimeoutMs?: number;
}

/** Traces that are switched on. */
export interface OtlpTracing {
  readonly tracer: Tracer;
  /** The same transport; each request of a pass becomes a span below what the pass does then. Watches do not. */
  traceRequests(kube: KubeTransport): KubeTransport;
  /** The same for single calls to machines. */
  traceCalls(talos: TalosDialer): TalosDialer;
  /** Sends what is left, as far as that goes in time. */
  close(): Promise<void>;
}

/** A span that goes on, for those that cannot be handed theirs: transports. */
interface Current {
  readonly span: Span;
  hasEnded: boolean;
}

/** Error texts are cut to this; characters. */
const MESSAGE_LIMIT = 500;

/** Opens the way to a collector. Nothing is connected before the first spans are sent, some seconds after they ended. */
export function openOtlpTracing(options: OtlpTracingOptions): OtlpTracing {
  const { url, clock, log, serviceName = "talos-operator", exportTimeoutMs, closeTimeoutMs = 2_000 } = options;
  const exporter: SpanExporter = new OTLPTraceExporter({
    url,
    ...(exportTimeoutMs === undefined ? {} : { timeoutMillis: exportTimeoutMs }),
  });
  // The queue of the processor is bounded (2,048 spans): what does not fit is left out.
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ "service.name": serviceName }),
    spanProcessors: [new BatchSpanProcessor(quietExporter(exporter, { clock, log, collector: new URL(url).origin }))],
  });
  const tracer = provider.getTracer("talos-operator");
  const current = new AsyncLocalStorage<Current>();

  const below = (parent: Context): Tracer => ({
    async inSpan(name, attributes, work, outcome) {
      const otel = tracer.startSpan(name, { kind: SpanKind.INTERNAL, attributes: given(attributes) }, parent);
      const span: Span = {
        ...below(trace.setSpan(parent, otel)),
        set: (more) => void otel.setAttributes(given(more)),
      };
      const state: Current = { span, hasEnded: false };
      try {
        const result = await current.run(state, work, span);
        if (outcome !== undefined) span.set(outcome(result));
        return result;
      } catch (thrown) {
        note(otel, thrown);
        throw thrown;
      } finally {
        state.hasEnded = true;
        otel.end();
      }
    },
  });

  /** A session that a pass began goes on after it: what it does then belongs to no pass. */
  const parentNow = (): Span | undefined => {
    const state = current.getStore();
    return state === undefined || state.hasEnded ? undefined : state.span;
  };

  return {
    tracer: below(ROOT_CONTEXT),
    traceRequests: (kube) => ({
      send: (request, call) => {
        const parent = parentNow();
        if (parent === undefined) return kube.send(request, call);
        const attributes = { "http.request.method": request.method, "url.path": request.path };
        return parent.inSpan(
          `kubernetes ${request.method}`,
          attributes,
          () => kube.send(request, call),
          ({ status }) => ({ "http.response.status_code": status }),
        );
      },
      watch: (request, call) => kube.watch(request, call),
      close: () => kube.close(),
    }),
    traceCalls: (talos) => ({
      dial: (target, credentials) => tracedChannel(talos.dial(target, credentials), parentNow),
      reaches: (target, timeoutMs) => talos.reaches(target, timeoutMs),
      hold: (target, options) => talos.hold(target, options),
    }),
    async close() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, closeTimeoutMs);
      });
      // What could not be sent was told by the exporter.
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
      clearTimeout(timer);
    },
  };
}

function tracedChannel(channel: TalosChannel, parentNow: () => Span | undefined): TalosChannel {
  return {
    target: channel.target,
    unary: (method, request, call) => {
      const parent = parentNow();
      if (parent === undefined) return channel.unary(method, request, call);
      const { address, port } = channel.target;
      const attributes = { "rpc.system": "grpc", "rpc.method": method.path.slice(1), "server.address": address, "server.port": port };
      return parent.inSpan("talos call", attributes, () => channel.unary(method, request, call));
    },
    serverStream: (method, request, call) => channel.serverStream(method, request, call),
    upload: (method, requests, call) => channel.upload(method, requests, call),
    peerSpki: () => channel.peerSpki(),
    close: () => channel.close(),
  };
}

function note(span: OtelSpan, thrown: unknown): void {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : undefined;
  const type = code ?? (thrown instanceof Error ? thrown.name : typeof thrown);
  const message = thrown instanceof Error ? thrown.message : "";
  span.setAttributes({ "error.type": type, outcome: "error" });
  span.setStatus({ code: SpanStatusCode.ERROR, message: `${type}: ${message}`.slice(0, MESSAGE_LIMIT) });
}

function given(attributes: SpanAttributes): Record<string, string | number | boolean> {
  return Object.fromEntries(Object.entries(attributes).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
