import { create } from "@bufbuild/protobuf";
import { common } from "@talos-operator/talos/protocol";
import type { machine } from "@talos-operator/talos/protocol";
import { grpcStatus, RpcError } from "../datacenter/call.ts";
import type { ServiceEvent } from "../node/machine.ts";
import type { HandlerContext } from "./context.ts";
import { MessageQueue } from "./queue.ts";

const chunkBytes = 1_024;

/**
 * MachineService/Logs of a service: its events as lines. `tail_lines` 0 means no history, -1 all of it.
 *
 * @throws RpcError UNKNOWN for a log that does not exist
 */
export async function* logs(context: HandlerContext, request: machine.LogsRequest): AsyncIterable<common.Data> {
  const { cell, signal } = context;
  const service = cell.state.services[request.id];
  if (service === undefined) throw new RpcError(grpcStatus.unknown, `log "${request.id}" was not registered`);
  const history = request.tailLines < 0 ? service.events : request.tailLines === 0 ? [] : service.events.slice(-request.tailLines);
  for (const event of history) yield* chunksOf(lineOf(request.id, event));
  if (!request.follow) return;
  const queue = new MessageQueue<ServiceEvent>(signal);
  let last = service.events.at(-1);
  const end = cell.onChange(() => {
    const current = cell.state.services[request.id]?.events ?? [];
    const from = last === undefined ? 0 : current.lastIndexOf(last) + 1;
    for (const event of current.slice(from)) queue.push(event);
    last = current.at(-1) ?? last;
  });
  try {
    for await (const event of queue) yield* chunksOf(lineOf(request.id, event));
  } finally {
    end();
  }
}

/** MachineService/Dmesg: a few lines of a kernel that never was; a container has no kernel log of its own. */
export async function* dmesg(context: HandlerContext, request: machine.DmesgRequest): AsyncIterable<common.Data> {
  const { state } = context.cell;
  if (state.hardware.platform === "container")
    throw new RpcError(grpcStatus.unknown, "error opening /dev/kmsg reader: open /dev/kmsg: no such file or directory");
  if (!request.tail) {
    const at = new Date(state.bootedAt).toISOString();
    yield* chunksOf(`kern: notice: [${at}]: Linux version 6.18.5-talos (simulated)\n`);
    yield* chunksOf(`user: warning: [${at}]: [talos] machine ${state.hardware.uuid} boots ${state.hardware.talosVersion}\n`);
  }
  await Promise.resolve();
}

function lineOf(id: string, event: ServiceEvent): string {
  return `${new Date(event.at).toISOString()} ${id} [${event.state}] ${event.message}\n`;
}

/** A byte stream as Talos sends it: at most 1,024 bytes a message. */
export function chunksOf(text: string): Iterable<common.Data> {
  return chunksOfBytes(Buffer.from(text));
}

/** The same of bytes. */
export function* chunksOfBytes(bytes: Uint8Array): Iterable<common.Data> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield create(common.DataSchema, { bytes: bytes.subarray(at, at + chunkBytes) });
}
