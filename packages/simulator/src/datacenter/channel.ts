import type { Clock, TalosCallOptions, TalosChannel, TalosCredentials, TalosDialer, TalosMethod, TalosTarget } from "@talos-operator/ports";
import { handleCall } from "../rpc/dispatch.ts";
import { RpcError } from "./call.ts";
import type { Reply } from "./call.ts";
import { CallFailure, connectionFailure } from "./call-failure.ts";
import type { Cell } from "./cell.ts";
import { connect } from "./connect.ts";
import { hold } from "./held-connection.ts";
import { shakeHands } from "./handshake.ts";
import type { Session } from "./handshake.ts";
import type { World } from "./world.ts";

/** Call options of the in-process channel: also takes request metadata that the port has no word for (`nodes`, `talos-role`). */
interface RoutedCallOptions extends TalosCallOptions {
  readonly metadata?: Readonly<Record<string, readonly string[]>>;
}

/** A host that is off answers nothing: the network itself reports it after this time. */
const noRouteMs = 3_000;

/** Channels to simulated machines in the same process. Messages are handed over as they are. */
export function createDialer(world: World, callerClock: Clock): TalosDialer {
  return {
    dial: (target, credentials) => new InProcessChannel(world, target, credentials, callerClock),
    reaches: (target, timeoutMs) => reaches(world, target, timeoutMs),
    hold: (target, options) => hold(world, target, options),
  };
}

/** A host that is off, or whose cable is out, is silent; one where nothing listens refuses at once. */
async function reaches(world: World, { address, port = 50_000 }: TalosTarget, timeoutMs: number): Promise<boolean> {
  const { callMs } = world.timings;
  if (callMs > 0) await world.timers.sleep(Math.min(callMs / 2, timeoutMs));
  const cell = await connect(world, address, timeoutMs);
  return cell !== undefined && cell.state.api.kind !== "down" && port === 50_000;
}

class InProcessChannel implements TalosChannel {
  readonly target: TalosTarget;
  readonly #world: World;
  readonly #credentials: TalosCredentials;
  readonly #callerClock: Clock;
  #session: Session | undefined;
  #spki: string | undefined;
  readonly #open = new Set<Attempt>();
  #isClosed = false;

  constructor(world: World, target: TalosTarget, credentials: TalosCredentials, callerClock: Clock) {
    this.#world = world;
    this.target = target;
    this.#credentials = credentials;
    this.#callerClock = callerClock;
  }

  unary<I, O>(method: TalosMethod<I, O>, request: I, options: TalosCallOptions): Promise<O> {
    return this.#one(method, request, options);
  }

  upload<I, O>(method: TalosMethod<I, O>, requests: AsyncIterable<I>, options: TalosCallOptions): Promise<O> {
    return this.#one(method, requests, options);
  }

  async #one<I, O>(method: TalosMethod<I, O>, request: unknown, options: TalosCallOptions): Promise<O> {
    const attempt = this.#begin(options);
    try {
      const reply = await attempt.race(this.#send(method.path, request, options, attempt));
      if (reply.kind === "stream") throw new CallFailure(13, `${method.path} answers with a stream`);
      await attempt.race(this.#latency());
      return reply.message as O;
    } catch (error) {
      throw failureFrom(error);
    } finally {
      this.#end(attempt);
    }
  }

  async *serverStream<I, O>(method: TalosMethod<I, O>, request: I, options: TalosCallOptions): AsyncIterable<O> {
    const attempt = this.#begin(options);
    let messages: AsyncIterator<unknown> | undefined;
    try {
      const reply = await attempt.race(this.#send(method.path, request, options, attempt));
      if (reply.kind === "unary") throw new CallFailure(13, `${method.path} answers with one message`);
      messages = reply.messages[Symbol.asyncIterator]();
      for (;;) {
        const next = await attempt.race(messages.next());
        if (next.done === true) return;
        yield next.value as O;
      }
    } catch (error) {
      throw failureFrom(error);
    } finally {
      this.#end(attempt);
      // The handler may be waiting for its own signal; its end is not waited for.
      void Promise.resolve(messages?.return?.()).catch(() => undefined);
    }
  }

  peerSpki(): string | undefined {
    return this.#spki;
  }

  close(): void {
    this.#isClosed = true;
    for (const attempt of this.#open) attempt.fail(connectionFailure.cancelled());
  }

  async #send(path: string, request: unknown, options: TalosCallOptions, attempt: Attempt): Promise<Reply> {
    await this.#latency();
    const cell = await this.#reach(path, options, attempt);
    attempt.follow(cell);
    return this.#handle(cell, path, request, options, attempt);
  }

  #handle(cell: Cell, path: string, request: unknown, options: TalosCallOptions, attempt: Attempt): Promise<Reply> {
    const session =
      this.#session?.epoch === cell.state.api.epoch
        ? this.#session
        : shakeHands(this.#world, cell, this.#credentials, this.#callerClock, this.target.serverName);
    this.#session = session;
    this.#spki = session.spki;
    return handleCall(this.#world, cell.address, {
      path,
      request,
      metadata: { ...(options as RoutedCallOptions).metadata, ...(options.node === undefined ? {} : { node: [options.node] }) },
      clientCertificate: session.clientCertificate,
      get signal() {
        return attempt.signal;
      },
    });
  }

  /** The machine at the target's address, once the network has carried the call there. */
  async #reach(path: string, options: TalosCallOptions, attempt: Attempt): Promise<Cell> {
    const { address, port = 50_000 } = this.target;
    // Only where the cable is out packets go somewhere: of a host that is off, the network says so itself after a while.
    const isOff = this.#world.cell(address)?.state.power !== "on";
    const cell = await connect(this.#world, address, isOff ? noRouteMs : options.timeoutMs, attempt.signal).catch(() => silence());
    if (cell === undefined) return isOff ? Promise.reject(connectionFailure.noRoute(`${address}:${port}`)) : silence();
    if (cell.state.api.kind === "down" || port !== 50_000) throw connectionFailure.refused(`${address}:${port}`);
    return cell;
  }

  async #latency(): Promise<void> {
    const { callMs } = this.#world.timings;
    if (callMs > 0) await this.#world.timers.sleep(callMs / 2);
  }

  #begin(options: TalosCallOptions): Attempt {
    if (this.#isClosed) throw new CallFailure(1, "the channel is closed");
    const attempt = new Attempt(this.#world, options);
    this.#open.add(attempt);
    return attempt;
  }

  #end(attempt: Attempt): void {
    this.#open.delete(attempt);
    attempt.end();
  }
}

/** One call in flight: ends at its deadline, when the caller gives up, or when the machine drops its connections. */
class Attempt {
  /** Made when somebody asks for the signal: most handlers answer at once. */
  #controller: AbortController | undefined;
  #isOver = false;
  readonly #ends: (() => void)[] = [];
  readonly #failed: Promise<never>;
  #reject: (failure: CallFailure) => void = () => undefined;

  constructor(world: World, options: TalosCallOptions) {
    this.#failed = new Promise((_, reject) => {
      this.#reject = reject;
    });
    this.#failed.catch(() => undefined);
    const deadline = world.timers.schedule(options.timeoutMs, () => this.fail(connectionFailure.deadline()));
    this.#ends.push(() => deadline.cancel());
    const { signal } = options;
    if (signal === undefined) return;
    const abort = (): void => this.fail(connectionFailure.cancelled());
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    this.#ends.push(() => signal.removeEventListener("abort", abort));
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isOver) this.#controller.abort(callIsOver);
    }
    return this.#controller.signal;
  }

  /** The call now hangs on this machine's connections. */
  follow(cell: Cell): void {
    this.#ends.push(cell.onDrop(() => this.fail(connectionFailure.broken())));
  }

  fail(failure: CallFailure): void {
    this.#reject(failure);
    this.#isOver = true;
    this.#controller?.abort(failure);
  }

  race<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#failed]);
  }

  end(): void {
    for (const end of this.#ends) end();
    this.#isOver = true;
    this.#controller?.abort(callIsOver);
  }
}

/** Why the signal of a call aborts that has its answer. */
const callIsOver = new CallFailure(1, "the call is over");

function silence(): Promise<never> {
  return new Promise(() => undefined);
}

function failureFrom(error: unknown): CallFailure {
  if (error instanceof CallFailure) return error;
  if (error instanceof RpcError) return new CallFailure(error.code, error.message);
  return new CallFailure(2, error instanceof Error ? error.message : String(error));
}
