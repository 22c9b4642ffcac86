import { createHash } from "node:crypto";
import type { common } from "@talos-operator/talos/protocol";
import type { Cell } from "../datacenter/cell.ts";
import { connectionFailure } from "../datacenter/call-failure.ts";
import type { StreamFault } from "../datacenter/faults.ts";
import type { World } from "../datacenter/world.ts";
import { chunksOfBytes } from "./log-handlers.ts";

const hashBytes = 32;

/** A byte stream as this fault lets it arrive. Other streams are only slowed down. */
export async function* underStreamFault(
  fault: StreamFault,
  world: World,
  cell: Cell,
  messages: AsyncIterable<unknown>,
): AsyncIterable<unknown> {
  if (fault.kind === "slow-stream") {
    for await (const message of messages) {
      await world.timers.sleep(fault.pauseMs);
      yield message;
    }
    return;
  }
  if (fault.kind === "cut-stream") {
    let passed = 0;
    for await (const message of messages) {
      if (passed === fault.messages) break;
      passed += 1;
      yield message;
    }
    throw connectionFailure.broken();
  }
  const chunks: Uint8Array[] = [];
  for await (const message of messages) chunks.push((message as common.Data).bytes);
  const whole = Buffer.concat(chunks);
  const reached = (bytes: number): number => Math.max(0, Math.min(whole.length, bytes < 0 ? whole.length + bytes : bytes));
  switch (fault.kind) {
    case "end-early":
      return yield* chunksOfBytes(whole.subarray(0, reached(fault.bytes)));
    case "flip-byte": {
      const at = Math.min(reached(fault.at), whole.length - 1);
      whole.writeUInt8(whole.readUInt8(at) ^ 1, at);
      return yield* chunksOfBytes(whole);
    }
    case "foreign-hash":
      whole.set(createHash("sha256").update("another database").digest(), Math.max(0, whole.length - hashBytes));
      return yield* chunksOfBytes(whole);
    case "crash-within":
      yield* chunksOfBytes(whole.subarray(0, reached(fault.bytes)));
      cell.powerOff();
      if (fault.downMs !== undefined) world.timers.schedule(fault.downMs, () => cell.powerOn());
  }
}
