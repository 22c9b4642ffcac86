import { fromBinary, fromJson, toBinary, toJson } from "@bufbuild/protobuf";
import type { DescMethod, JsonValue, MessageShape } from "@bufbuild/protobuf";
import type { TalosCallFailure, TalosCallOptions, TalosCredentials, TalosDialer, TalosMethod } from "@talos-operator/ports";
import { methodDescriptors } from "../rpc/services-table.ts";
import type { ConformanceSubject, Outcome, SubjectCall } from "./subject.ts";

export interface ChannelSubjectOptions {
  readonly dialer: TalosDialer;
  readonly addresses: Readonly<Record<SubjectCall["machine"], string>>;
  /** Default 50000. */
  readonly ports?: Readonly<Record<SubjectCall["machine"], number>>;
  /** Credentials by the name in the transcripts; `undefined` = no client certificate. */
  readonly credentials: (who: string | undefined) => TalosCredentials;
  readonly pause: (ms: number) => Promise<void>;
  readonly start: (address: string) => void;
  readonly hangMs: number;
  /** Called while a call is under way, so that virtual time goes on. */
  readonly whileCalling?: <T>(call: Promise<T>) => Promise<T>;
}

/** A subject behind a dialer. Request metadata beyond `node` reaches only dialers that take it (the in-process one does). */
export function createChannelSubject(options: ChannelSubjectOptions): ConformanceSubject {
  return {
    hangMs: options.hangMs,
    pause: options.pause,
    start: (machine) => options.start(options.addresses[machine]),
    async call(call) {
      const port = options.ports?.[call.machine];
      const target = { address: options.addresses[call.machine], ...(port === undefined ? {} : { port }) };
      const channel = options.dialer.dial(target, options.credentials(call.who));
      const run = send(channel, call);
      try {
        return await (options.whileCalling === undefined ? run : options.whileCalling(run));
      } finally {
        channel.close();
      }
    },
  };
}

async function send(channel: ReturnType<TalosDialer["dial"]>, call: SubjectCall): Promise<Outcome> {
  const path = `/${call.method}`;
  const descriptor = methodDescriptors.get(path);
  const callOptions: TalosCallOptions & { readonly metadata: SubjectCall["metadata"] } = {
    timeoutMs: call.timeoutMs,
    metadata: call.metadata,
  };
  const responses: JsonValue[] = [];
  try {
    if (descriptor === undefined) {
      await channel.unary({ path, encode: () => new Uint8Array(), decode: () => undefined }, {}, callOptions);
    } else if (descriptor.methodKind === "server_streaming") {
      for await (const message of channel.serverStream(methodOf(descriptor), requestOf(descriptor, call), callOptions)) {
        responses.push(jsonOf(descriptor, message));
        if (responses.length === call.take) break;
      }
    } else {
      responses.push(jsonOf(descriptor, await channel.unary(methodOf(descriptor), requestOf(descriptor, call), callOptions)));
    }
    return { code: 0, message: "", responses };
  } catch (error) {
    const failure = error as TalosCallFailure;
    return { code: failure.code, message: failure.message, responses };
  }
}

function methodOf(descriptor: DescMethod): TalosMethod<unknown, unknown> {
  const { input, output } = descriptor;
  return {
    path: `/${descriptor.parent.typeName}/${descriptor.name}`,
    encode: (message) => toBinary(input, message as MessageShape<typeof input>),
    decode: (bytes) => fromBinary(output, bytes),
  };
}

function requestOf(descriptor: DescMethod, call: SubjectCall): unknown {
  return fromJson(descriptor.input, call.request as JsonValue);
}

function jsonOf(descriptor: DescMethod, message: unknown): JsonValue {
  return toJson(descriptor.output, message as MessageShape<typeof descriptor.output>);
}
