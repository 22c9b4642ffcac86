import { CallFailure, connectionFailure } from "../datacenter/call-failure.ts";
import { grpcStatus, RpcError } from "../datacenter/call.ts";
import type { IncomingCall, Reply } from "../datacenter/call.ts";
import type { Cell } from "../datacenter/cell.ts";
import type { FaultEffect } from "../datacenter/faults.ts";
import type { World } from "../datacenter/world.ts";
import { hostnameOf, isControlPlane } from "../node/identity.ts";
import { isAtLeast } from "../node/version.ts";
import type { HandlerContext } from "./context.ts";
import { methodRules } from "./methods.ts";
import type { MethodRule } from "./methods.ts";
import { rolesOf } from "./roles.ts";
import { streamHandlers, unaryHandlers } from "./registry.ts";
import { mergeReplies } from "./fan-out.ts";
import { underStreamFault } from "./stream-faults.ts";

/** How long a call to an address without a machine takes to fail. */
const noRouteMs = 3_000;

/**
 * One call that has reached apid of the machine at `address`.
 *
 * @throws RpcError what a genuine node answers
 * @throws CallFailure when a fault breaks the caller's connection
 */
export async function handleCall(world: World, address: string, call: IncomingCall): Promise<Reply> {
  const entry = world.cell(address);
  if (entry === undefined || entry.state.api.kind === "down") throw connectionFailure.refused(`${address}:50000`);
  const roles = rolesOf(world, entry, call);
  const isRouted = entry.state.api.kind === "configured" && call.metadata["proxyfrom"] === undefined;
  const nodes = isRouted ? call.metadata["nodes"] : undefined;
  const node = isRouted ? call.metadata["node"] : undefined;
  if (nodes !== undefined && nodes.length > 0) return forwardToMany(world, entry, call, roles, nodes);
  if (node !== undefined && node.length > 0) {
    if (node.length > 1) throw new RpcError(grpcStatus.invalidArgument, "node metadata must be single-valued");
    return forward(world, entry, call, roles, node[0] ?? "").catch(asStatus);
  }
  return answer(world, entry, entry, call, roles);
}

async function forwardToMany(
  world: World,
  entry: Cell,
  call: IncomingCall,
  roles: ReadonlySet<string>,
  nodes: readonly string[],
): Promise<Reply> {
  const rule = methodRules[call.path];
  if (rule?.fansOut !== true)
    throw new RpcError(grpcStatus.invalidArgument, `one-2-many proxying is not supported for method ${call.path}`);
  return mergeReplies(
    rule.streams === true,
    call.path,
    nodes.map((node) => ({ node, reply: forward(world, entry, call, roles, node) })),
  );
}

async function forward(world: World, entry: Cell, call: IncomingCall, roles: ReadonlySet<string>, node: string): Promise<Reply> {
  if (node === "" || (/:\d+$/.test(node.replace(/^\[.*\]/, "")) && !/^[0-9a-fA-F:]+$/.test(node)))
    throw new RpcError(grpcStatus.internal, `invalid target "${node}"`);
  const names = [entry.address, hostnameOf(entry.state)];
  if (names.includes(node)) return answer(world, entry, entry, call, roles);
  if (!isControlPlane(entry.state)) throw new RpcError(grpcStatus.permissionDenied, "no request forwarding");
  const target = world.cells().find((cell) => cell.address === node || hostnameOf(cell.state) === node);
  if (target?.state.power !== "on" || !target.state.isConnected) {
    await world.timers.sleep(noRouteMs, call.signal).catch(() => undefined);
    throw connectionFailure.noRoute(`${node}:50000`);
  }
  if (target.state.api.kind === "down") throw connectionFailure.refused(`${node}:50000`);
  // The forwarding apid holds a client certificate of its own cluster: strangers and machines in maintenance do not pass for their own.
  if (target.state.api.kind === "maintenance" || !trusts(world, entry, target)) throw connectionFailure.untrusted();
  return overConnection(target, () => answer(world, entry, target, call, roles));
}

/** What breaks behind the machine that was dialled reaches the caller as a status on a connection that stands. */
function asStatus(error: unknown): never {
  throw error instanceof CallFailure ? new RpcError(error.code, error.message) : error;
}

/** A call on the forwarding machine's connection to `target`: it fails when the target reboots, loses power or is cut off. */
async function overConnection(target: Cell, send: () => Promise<Reply>): Promise<Reply> {
  let fail: (error: Error) => void = () => undefined;
  const broken = new Promise<never>((_, reject) => {
    fail = reject;
  });
  broken.catch(() => undefined);
  const stop = target.onDrop(() => fail(connectionFailure.broken()));
  try {
    const reply = await Promise.race([send(), broken]);
    if (reply.kind === "unary") stop();
    return reply.kind === "unary" ? reply : { kind: "stream", messages: untilBroken(reply.messages, broken, stop) };
  } catch (error) {
    stop();
    throw error;
  }
}

async function* untilBroken(messages: AsyncIterable<unknown>, broken: Promise<never>, stop: () => void): AsyncIterable<unknown> {
  const iterator = messages[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), broken]);
      if (next.done === true) return;
      yield next.value;
    }
  } catch (error) {
    asStatus(error);
  } finally {
    stop();
    // The handler may be waiting for its own signal; its end is not waited for.
    void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

function trusts(world: World, from: Cell, to: Cell): boolean {
  const own = from.state.api;
  const other = to.state.api;
  if (own.kind !== "configured" || other.kind !== "configured") return false;
  return world.osCasOf(from).some((ca) => world.keys.verifyCertificate(other.identity.certificate, ca, world.clock.now()));
}

async function answer(world: World, entry: Cell, cell: Cell, call: IncomingCall, roles: ReadonlySet<string>): Promise<Reply> {
  const id = world.nextCallId();
  const rule = methodRules[call.path];
  const seen = { id, endpoint: entry.address, machine: cell.address, path: call.path, mutating: rule?.mutates === true };
  world.trace({ ...seen, phase: "received", at: world.clock.now() });
  const release = cell.hold();
  let isHeld = true;
  const letGo = (): void => {
    if (isHeld) release();
    isHeld = false;
  };
  try {
    const reply = await act(world, cell, call, roles, rule, letGo);
    const saved = cell.settled();
    if (saved !== undefined) await saved;
    const etcdSaved = world.etcdSettled();
    if (etcdSaved !== undefined) await etcdSaved;
    world.trace({ ...seen, phase: "answered", at: world.clock.now(), code: grpcStatus.ok });
    return reply;
  } catch (error) {
    world.trace({ ...seen, phase: "answered", at: world.clock.now(), code: codeOf(error) });
    throw error;
  } finally {
    letGo();
  }
}

async function act(
  world: World,
  cell: Cell,
  call: IncomingCall,
  roles: ReadonlySet<string>,
  rule: MethodRule | undefined,
  letGo: () => void,
): Promise<Reply> {
  const fault = world.faults.take(cell.address, call.path);
  if (fault === undefined) return perform(world, cell, call, roles, rule, letGo);
  return actUnder(fault, world, cell, call, roles, rule, letGo);
}

async function actUnder(
  fault: FaultEffect,
  world: World,
  cell: Cell,
  call: IncomingCall,
  roles: ReadonlySet<string>,
  rule: MethodRule | undefined,
  letGo: () => void,
): Promise<Reply> {
  const run = (): Promise<Reply> => perform(world, cell, call, roles, rule, letGo);
  switch (fault.kind) {
    case "silent":
      letGo();
      return new Promise(() => undefined);
    case "refuse":
      throw connectionFailure.refused(`${cell.address}:50000`);
    case "drop-request":
      throw connectionFailure.broken();
    case "drop-reply":
      await run().catch(() => undefined);
      throw connectionFailure.broken();
    case "error":
      throw new RpcError(fault.code, fault.message);
    case "delay":
      letGo();
      await world.timers.sleep(fault.ms);
      return run();
    case "duplicate":
      await run().catch(() => undefined);
      return run();
    case "crash-before":
    case "crash-after":
      if (fault.kind === "crash-after") await run().catch(() => undefined);
      letGo();
      cell.powerOff();
      if (fault.downMs !== undefined) world.timers.schedule(fault.downMs, () => cell.powerOn());
      throw connectionFailure.broken();
    case "end-early":
    case "flip-byte":
    case "foreign-hash":
    case "slow-stream":
    case "cut-stream":
    case "crash-within": {
      const reply = await run();
      return reply.kind === "unary" ? reply : { kind: "stream", messages: underStreamFault(fault, world, cell, reply.messages) };
    }
  }
}

async function perform(
  world: World,
  cell: Cell,
  call: IncomingCall,
  roles: ReadonlySet<string>,
  rule: MethodRule | undefined,
  letGo: () => void,
): Promise<Reply> {
  const { talosVersion } = cell.state.hardware;
  const [, service = "", method = ""] = call.path.split("/");
  if (rule === undefined || (rule.since !== undefined && !isAtLeast(talosVersion, rule.since))) {
    const isKnown = Object.entries(methodRules).some(
      ([path, { since }]) => path.startsWith(`/${service}/`) && (since === undefined || isAtLeast(talosVersion, since)),
    );
    throw new RpcError(
      grpcStatus.unimplemented,
      isKnown ? `unknown method ${method} for service ${service}` : `unknown service ${service}`,
    );
  }
  const isMaintenance = cell.state.api.kind === "maintenance";
  if (isMaintenance && !isAtLeast(talosVersion, "1.13")) {
    if (rule.legacyMaintenance !== "open") throw new RpcError(grpcStatus.unimplemented, legacyRefusal(rule, method));
  } else if (!rule.roles.some((role) => roles.has(role))) {
    throw new RpcError(grpcStatus.permissionDenied, "not authorized");
  }
  const context: HandlerContext = {
    world,
    cell,
    roles,
    isMaintenance,
    get signal() {
      return call.signal;
    },
  };
  const unary = unaryHandlers[call.path];
  if (unary !== undefined) {
    const result = unary(context, call.request as never);
    // A handler that waits must not keep the machine from going on.
    if (result instanceof Promise) letGo();
    return { kind: "unary", message: await result };
  }
  const stream = streamHandlers[call.path];
  if (stream !== undefined) {
    letGo();
    return { kind: "stream", messages: await begin(stream(context, call.request as never)) };
  }
  throw new RpcError(grpcStatus.unimplemented, `method ${method} is not simulated`);
}

/** Waits for the first message, so that a refusal is an answer and not a broken stream. */
async function begin(messages: AsyncIterable<unknown>): Promise<AsyncIterable<unknown>> {
  const iterator = messages[Symbol.asyncIterator]();
  const first = await iterator.next();
  return {
    [Symbol.asyncIterator]: (): AsyncIterator<unknown> => {
      let isFirst = true;
      return {
        next: () => {
          if (!isFirst) return iterator.next();
          isFirst = false;
          return Promise.resolve(first);
        },
        return: () => iterator.return?.() ?? Promise.resolve({ done: true, value: undefined }),
      };
    },
  };
}

function legacyRefusal(rule: MethodRule, method: string): string {
  return rule.legacyMaintenance === "admin" ? "API is not implemented in maintenance mode" : `method ${method} not implemented`;
}

function codeOf(error: unknown): number {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "number" ? code : grpcStatus.unknown;
}
