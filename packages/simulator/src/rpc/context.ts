import type { Cell } from "../datacenter/cell.ts";
import type { World } from "../datacenter/world.ts";

/** What a handler works with. */
export interface HandlerContext {
  readonly world: World;
  /** The machine that answers. */
  readonly cell: Cell;
  readonly roles: ReadonlySet<string>;
  /** The caller came while the machine was in maintenance mode. */
  readonly isMaintenance: boolean;
  readonly signal: AbortSignal;
}

/** Answers one message. Throws `RpcError`. */
export type UnaryHandler = (context: HandlerContext, request: never) => unknown;

/** Answers a stream. Errors before the first message are thrown by the call itself, later ones end the stream. */
export type StreamHandler = (context: HandlerContext, request: never) => AsyncIterable<unknown>;
