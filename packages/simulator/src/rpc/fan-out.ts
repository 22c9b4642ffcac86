import { create } from "@bufbuild/protobuf";
import { common, rpc } from "@talos-operator/talos/protocol";
import { grpcStatus } from "../datacenter/call.ts";
import type { Reply } from "../datacenter/call.ts";
import { methodDescriptors } from "./services-table.ts";

/** One machine's part of a call with `nodes` metadata. */
export interface Part {
  readonly node: string;
  readonly reply: Promise<Reply>;
}

/**
 * `nodes` mode: one entry per machine, named as in `nodes`; a machine that fails gives an entry with its error and the call itself is OK.
 */
export async function mergeReplies(isStream: boolean, path: string, parts: readonly Part[]): Promise<Reply> {
  if (isStream) return { kind: "stream", messages: mergeStreams(path, parts) };
  const entries: object[] = [];
  for (const { node, reply } of parts) {
    try {
      const answer = await reply;
      const { messages = [] } = (answer.kind === "unary" ? answer.message : {}) as { readonly messages?: readonly object[] };
      for (const entry of messages) entries.push({ ...entry, metadata: create(common.MetadataSchema, { hostname: node }) });
    } catch (error) {
      entries.push({ metadata: errorMetadata(node, error) });
    }
  }
  return { kind: "unary", message: messageOf(path, { messages: entries }) };
}

async function* mergeStreams(path: string, parts: readonly Part[]): AsyncIterable<unknown> {
  for (const { node, reply } of parts) {
    try {
      const answer = await reply;
      if (answer.kind !== "stream") continue;
      for await (const message of answer.messages)
        yield { ...(message as object), metadata: create(common.MetadataSchema, { hostname: node }) };
    } catch (error) {
      yield messageOf(path, { metadata: errorMetadata(node, error) });
    }
  }
}

function messageOf(path: string, content: object): unknown {
  const descriptor = methodDescriptors.get(path);
  return descriptor === undefined ? content : create(descriptor.output, content as Record<string, unknown>);
}

function errorMetadata(node: string, error: unknown): common.Metadata {
  const { code, message } = error as { readonly code?: number; readonly message?: string };
  const names = Object.fromEntries(
    Object.entries(grpcStatus).map(([name, number]) => [number, name.charAt(0).toUpperCase() + name.slice(1)]),
  );
  const status = code ?? grpcStatus.unknown;
  return create(common.MetadataSchema, {
    hostname: node,
    error: `rpc error: code = ${names[status] ?? "Unknown"} desc = ${message ?? ""}`,
    status: create(rpc.StatusSchema, { code: status, message: message ?? "" }),
  });
}
