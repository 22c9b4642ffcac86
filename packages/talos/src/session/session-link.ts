import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type {
  Clock,
  ScheduledTimer,
  TalosCallFailure,
  TalosCallOptions,
  TalosChannel,
  TalosDialer,
  TalosTarget,
  Timers,
} from "@talos-operator/ports";

import { MachineService } from "../gen/machine/machine_pb.ts";
import { methodOf } from "../method-of.ts";
import { EndpointRanking, keyOf } from "./endpoint-ranking.ts";
import type { SessionCredentials, TalosSessionOptions } from "./options.ts";

/** A look that has not been answered for so long makes the session ask the endpoint whether it lives. */
const SLOW_MS = 1_000;
/** How long the endpoint has to answer that. */
const PROBE_TIMEOUT_MS = 2_000;
/** An endpoint that answered a moment ago is not asked again: many dead machines behind it cost one question. */
const PROBE_FRESH_MS = 1_000;

const VERSION = methodOf(MachineService.method.version);

const CANCELED = 1;
const DEADLINE_EXCEEDED = 4;
const UNAVAILABLE = 14;

/** The open connection to one endpoint. */
export class Connection {
  readonly address: string;
  readonly channel: TalosChannel;
  readonly #clock: Clock;
  #probe: Promise<boolean> | undefined;
  #answeredAt: number | undefined;
  #isDead = false;
  #isDoubted = false;
  #isRetired = false;
  #users = 0;

  constructor(address: string, channel: TalosChannel, clock: Clock) {
    this.address = address;
    this.channel = channel;
    this.#clock = clock;
  }

  /** Asks the endpoint, unless it was asked a moment ago. One that was found dead stays so: the next attempt opens another connection. */
  isAlive(): Promise<boolean> {
    if (this.#isDead) return Promise.resolve(false);
    if (this.#answeredAt !== undefined && Math.abs(this.#clock.now() - this.#answeredAt) < PROBE_FRESH_MS) return Promise.resolve(true);
    if (this.#isDoubted) return Promise.resolve(false);
    this.#probe ??= this.#ask();
    return this.#probe;
  }

  /** It was asked and did not answer: whoever asks next need not wait for that again. */
  doubt(): void {
    this.#isDoubted = true;
  }

  /** The first to say so is told `true`. */
  die(): boolean {
    const isNews = !this.#isDead;
    this.#isDead = true;
    return isNews;
  }

  /** A look uses it from now until the returned function is called. */
  use(): () => void {
    this.#users += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#users -= 1;
      if (this.#isRetired && this.#users === 0) this.channel.close();
    };
  }

  isUsed(): boolean {
    return this.#users > 0;
  }

  /** Closes it as soon as the looks that use it have ended. */
  retire(): void {
    this.#isRetired = true;
    if (this.#users === 0) this.channel.close();
  }

  async #ask(): Promise<boolean> {
    try {
      await this.channel.unary(VERSION, create(EmptySchema), { timeoutMs: PROBE_TIMEOUT_MS });
      this.#answeredAt = this.#clock.now();
      return true;
    } catch (thrown) {
      // A refusal is an answer: the endpoint lives, only this call is not allowed.
      return !isSuspicious(thrown) && !isCanceled(thrown);
    } finally {
      this.#probe = undefined;
    }
  }
}

/** No endpoint is left to look through; `last` is what the last one failed with. */
export class NoEndpoint extends Error {
  readonly last: unknown;

  constructor(last: unknown) {
    super(last instanceof Error ? `no control plane answers: ${last.message}` : "no control plane is known");
    this.last = last;
  }
}

/** The one connection of a session: which endpoint it goes to, whether that lives, and when it moves. */
export class SessionLink {
  readonly clock: Clock;
  readonly #timers: Timers;
  readonly #dialer: TalosDialer;
  readonly #ranking = new EndpointRanking();
  #credentials: SessionCredentials;
  #current: Connection | undefined;
  readonly #used = new Set<Connection>();
  #looks = 0;
  #isClosed = false;

  constructor(options: TalosSessionOptions) {
    this.clock = options.clock;
    this.#timers = options.timers;
    this.#dialer = options.dialer;
    this.#credentials = options.credentials;
    this.#ranking.set(options.endpoints);
  }

  endpoint(): string | undefined {
    return this.#current?.address;
  }

  inFlight(): number {
    return this.#looks;
  }

  setEndpoints(endpoints: readonly TalosTarget[]): void {
    this.#ranking.set(endpoints);
    if (this.#current !== undefined && !this.#ranking.has(this.#current.address)) this.#drop(this.#current);
  }

  setCredentials(credentials: SessionCredentials): void {
    if (credentials === this.#credentials) return;
    this.#credentials = credentials;
    if (this.#current !== undefined) this.#drop(this.#current);
  }

  avoid(address: string): () => void {
    const release = this.#ranking.avoid(address);
    if (this.#current?.address === address && this.#ranking.isReplaceable(address, this.clock.now())) this.#drop(this.#current);
    return release;
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of this.#used) connection.channel.close();
    if (this.#current !== undefined) this.#drop(this.#current);
  }

  /**
   * The connection in use, or one to the best endpoint that is not in `tried`.
   *
   * @throws TalosCallFailure CANCELED when closed
   * @throws NoEndpoint when none is left
   */
  connect(tried: ReadonlySet<string>, last: unknown): Connection {
    if (this.#isClosed) throw callFailure(CANCELED, "the session is closed");
    const current = this.#current;
    if (current !== undefined && !tried.has(current.address) && !this.#mustLeave(current)) return current;
    const target = this.#ranking.best(this.clock.now(), tried);
    if (target === undefined) throw new NoEndpoint(last);
    if (current?.address === keyOf(target)) return current;
    if (current !== undefined) this.#drop(current);
    this.#current = this.#open(target);
    return this.#current;
  }

  /** True when the failure may be the endpoint's own: then it is asked, and left when it does not answer. */
  async isEndpointDead(connection: Connection, thrown: unknown): Promise<boolean> {
    if (!isSuspicious(thrown)) {
      this.#ranking.answered(connection.address);
      return false;
    }
    // TLS fails only between us and the endpoint: what fails behind it comes as a status.
    const isOwn = thrown.tls !== undefined || thrown.peer !== undefined;
    if (!isOwn && (await connection.isAlive())) return false;
    if (connection.die()) this.#ranking.failed(connection.address, this.clock.now());
    this.#drop(connection);
    return true;
  }

  answered(connection: Connection): void {
    this.#ranking.answered(connection.address);
  }

  /** An attempt on `connection` that is given up when the endpoint turns out to be dead while the answer is waited for. To be ended. */
  begin(connection: Connection, options: TalosCallOptions): Attempt {
    this.#looks += 1;
    this.#used.add(connection);
    const release = connection.use();
    return new Attempt(this.#timers, connection, options, () => {
      this.#looks -= 1;
      release();
      if (!connection.isUsed()) this.#used.delete(connection);
    });
  }

  #mustLeave(connection: Connection): boolean {
    return this.#ranking.isAvoided(connection.address) && this.#ranking.isReplaceable(connection.address, this.clock.now());
  }

  #open(target: TalosTarget): Connection {
    return new Connection(keyOf(target), this.#dialer.dial(target, this.#credentials), this.clock);
  }

  #drop(connection: Connection): void {
    if (this.#current === connection) this.#current = undefined;
    connection.retire();
  }
}

/** One attempt at a look. */
export class Attempt {
  readonly options: TalosCallOptions;
  readonly #controller = new AbortController();
  readonly #release: () => void;
  #unfollow: () => void = () => undefined;
  #slow: ScheduledTimer | undefined;
  #isWaiting = true;
  #isGivenUp = false;
  #isOver = false;

  constructor(timers: Timers, connection: Connection, options: TalosCallOptions, release: () => void) {
    const { signal } = options;
    this.#release = release;
    if (signal !== undefined) {
      const abort = (): void => this.#controller.abort(signal.reason);
      if (signal.aborted) abort();
      signal.addEventListener("abort", abort, { once: true });
      this.#unfollow = () => signal.removeEventListener("abort", abort);
    }
    if (options.timeoutMs > SLOW_MS) this.#slow = timers.schedule(SLOW_MS, () => void this.#ask(connection));
    this.options = { ...options, signal: this.#controller.signal };
  }

  /** The first word of the answer is here: from now on the endpoint is not asked any more. */
  answered(): void {
    this.#isWaiting = false;
    this.#slow?.cancel();
  }

  /** The answer is complete, or failed. May be called more than once. */
  end(): void {
    this.answered();
    this.#unfollow();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#release();
  }

  /** What the attempt failed with, seen from the caller, who did not give up. */
  failure(thrown: unknown): unknown {
    return this.#isGivenUp && isCanceled(thrown) ? callFailure(UNAVAILABLE, "the endpoint does not answer") : thrown;
  }

  async #ask(connection: Connection): Promise<void> {
    if ((await connection.isAlive()) || !this.#isWaiting) return;
    connection.doubt();
    this.#isGivenUp = true;
    this.#controller.abort();
  }
}

export function callFailure(code: number, message: string): TalosCallFailure {
  return Object.assign(new Error(message), { name: "TalosCallFailure" as const, code });
}

function isCanceled(thrown: unknown): boolean {
  return isCallFailure(thrown) && thrown.code === CANCELED;
}

/** Failures that do not tell whether the endpoint or the machine behind it is at fault. */
function isSuspicious(thrown: unknown): thrown is TalosCallFailure {
  return (
    isCallFailure(thrown) &&
    (thrown.code === UNAVAILABLE || thrown.code === DEADLINE_EXCEEDED || thrown.tls !== undefined || thrown.peer !== undefined)
  );
}

function isCallFailure(thrown: unknown): thrown is TalosCallFailure {
  return thrown instanceof Error && thrown.name === "TalosCallFailure";
}
