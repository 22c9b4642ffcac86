import type { KubeTransport, TalosDialer } from "@talos-operator/ports";
import { withUnary } from "../world/with-calls.ts";
import type { Story } from "./story.ts";

/** One call of the operator that changes something, by its number, and on which side of it a person acts. */
export interface Moment {
  /** Counted from 0 since the counting began, or the first one like this: `PUT /apis/...`, `ApplyConfiguration 10.5.0.1`. */
  readonly call: number | RegExp;
  readonly side: "before" | "after";
  /** The operator hears of nothing any more: it is killed there, and another one starts a while later. */
  readonly isKilled?: true;
}

export const mutating =
  /\/(ApplyConfiguration|Bootstrap|MetaWrite|MetaDelete|Reboot|Reset|EtcdRemoveMemberByID|EtcdLeaveCluster|EtcdForfeitLeadership)$/;

/** Counts the calls of an operator that change something: writes to the Kubernetes API but leases and events, and mutating Talos calls. */
export class Interruption {
  readonly calls: string[] = [];
  /** Number of the call that the moment came at; `undefined` = not yet. */
  metAt: number | undefined;
  #isKillWanted = false;
  #at: Moment | undefined;
  #act: () => Promise<void> = async () => {};
  #isCounting = false;
  readonly #mutating: RegExp;

  /** @param calls to machines that are counted; default those that installations and removals make */
  constructor(calls = mutating) {
    this.#mutating = calls;
  }

  /** From now on calls are counted, and `act` is awaited at the moment. @param at `undefined` = calls are only counted */
  begin(at: Moment | undefined, act: () => Promise<void>): void {
    this.#at = at;
    this.#act = act;
    this.#isCounting = true;
  }

  readonly kube = (real: KubeTransport): KubeTransport => ({
    ...real,
    send: (request, options) =>
      request.method === "GET" || /\/(leases|events)/.test(request.path)
        ? real.send(request, options)
        : this.#around(`${request.method} ${request.path}`, () => real.send(request, options)),
  });

  readonly dialer = (real: TalosDialer): TalosDialer =>
    withUnary(real, ({ address, channel }) => (method, request, options) => {
      const [, name] = this.#mutating.exec(method.path) ?? [];
      return name === undefined
        ? channel.unary(method, request, options)
        : this.#around(`${name} ${address}`, () => channel.unary(method, request, options));
    });

  /** Has the operator end and another one begin where that was asked for. */
  async tend(world: Story): Promise<void> {
    if (!this.#isKillWanted) return;
    this.#isKillWanted = false;
    await world.kill();
    await world.time.advance(30_000);
    await world.start();
  }

  async #around<T>(name: string, call: () => Promise<T>): Promise<T> {
    if (!this.#isCounting) return call();
    const at = this.#meets(name, this.calls.push(name) - 1);
    if (at?.side === "before") await this.#interrupt(at);
    try {
      return await call();
    } finally {
      if (at?.side === "after") await this.#interrupt(at);
    }
  }

  #meets(name: string, index: number): Moment | undefined {
    const { call } = this.#at ?? {};
    const isIt = typeof call === "number" ? call === index : this.metAt === undefined && call?.test(name) === true;
    if (!isIt) return undefined;
    this.metAt = index;
    return this.#at;
  }

  async #interrupt({ isKilled }: Moment): Promise<void> {
    await this.#act();
    if (isKilled !== true) return;
    this.#isKillWanted = true;
    await new Promise<never>(() => {});
  }
}
