import { isDeepStrictEqual } from "node:util";
import type { EndpointAnswer, EndpointProbe, EndpointTarget, RandomSource, ScheduledTimer, Timers } from "@talos-operator/ports";
import type { SeenEndpoint } from "../model/endpoint.ts";

/** How often an endpoint that leads to its cluster is asked, and how much sooner, so that all are not asked at once. Milliseconds. */
const SETTLED_MS = 60_000;
const SOONER_BY = 1 / 10;

/** Longest that one answer is waited for. */
const TIMEOUT_MS = 5_000;

/** First pause after an answer that is no good one; doubled up to {@link SETTLED_MS} while it stays so. */
const AGAIN_MS = 2_000;

/** How often while no control plane is a ready node yet: its status is then written for other reasons, and takes the answer along. */
const STARTING_MS = 2_000;

/** Silent so often in a row, it is out of reach. */
const SILENCES = 3;

/** Which bad answer after a disturbance of ours is the first that counts: an API server comes up some seconds after its machine. */
const FORGIVEN = 3;

/**
 * What goes on in the cluster: `starting` = nobody has served the API yet, `disturbed` = an effect of ours is open that may take away what is at the endpoint.
 */
export type EndpointPhase = "starting" | "disturbed" | "steady";

/** What asking needs. */
export interface EndpointWatchPorts {
  readonly endpoints: EndpointProbe;
  readonly timers: Timers;
  readonly random: RandomSource;
  /** Called when {@link EndpointWatch.seen} says something else. */
  readonly onChange: () => void;
}

/** Asks what answers at the endpoint of one cluster, again and again beside the passes, so that a pass takes what is known. */
export class EndpointWatch {
  readonly #ports: EndpointWatchPorts;
  #target: EndpointTarget | undefined;
  #phase: EndpointPhase = "steady";
  #around = "";
  #believed: Extract<SeenEndpoint, { readonly kind: "answered" }> | undefined;
  #silences = 0;
  /** Bad answers that are still put down to a disturbance of ours that is over. */
  #forgiven = 0;
  #pauseMs = AGAIN_MS;
  #timer: ScheduledTimer | undefined;
  /** Of the question that is open; another one when it does not count any more. */
  #asking: AbortController | undefined;

  constructor(ports: EndpointWatchPorts) {
    this.#ports = ports;
  }

  /** `undefined` = nobody asks. */
  seen(): SeenEndpoint | undefined {
    if (this.#target === undefined) return undefined;
    return this.#believed ?? { kind: "not-asked", isAwaited: this.#phase !== "starting" };
  }

  /** This process has an answer that counts. */
  hasAnswer(): boolean {
    return this.#believed !== undefined;
  }

  /**
   * Told of each pass; asks at once where it says something new.
   *
   * @param around which control planes run, as a text that changes with them
   */
  watch(target: EndpointTarget, phase: EndpointPhase, around: string): void {
    const isOther = !isDeepStrictEqual(target, this.#target);
    const before = this.#phase;
    if (!isOther && before === phase && around === this.#around) return;
    if (isOther) this.close();
    else if (before === "disturbed" && phase !== "disturbed") this.#forgiven = FORGIVEN;
    this.#target = target;
    this.#phase = phase;
    this.#around = around;
    this.#pauseMs = AGAIN_MS;
    this.#askNow();
  }

  /** Nobody is to ask any more; what was known is forgotten. */
  close(): void {
    this.#target = undefined;
    this.#timer?.cancel();
    this.#asking?.abort();
    this.#asking = undefined;
    this.#believed = undefined;
    this.#silences = 0;
    this.#forgiven = 0;
  }

  #askNow(): void {
    this.#timer?.cancel();
    this.#asking?.abort();
    const asking = new AbortController();
    this.#asking = asking;
    void this.#ask(asking);
  }

  async #ask(asking: AbortController): Promise<void> {
    const target = this.#target;
    if (target === undefined) return;
    const answer = await this.#ports.endpoints.ask(target, { timeoutMs: TIMEOUT_MS, signal: asking.signal });
    if (this.#asking !== asking) return;
    this.#asking = undefined;
    this.#take(answer);
    this.#timer = this.#ports.timers.schedule(this.#nextPause(answer), () => this.#askNow());
  }

  #take(answer: EndpointAnswer): void {
    if (!this.#counts(answer)) return;
    const before = this.#believed;
    this.#silences = answer.kind === "silent" ? this.#silences + 1 : 0;
    const isSure = answer.kind !== "silent" || this.#silences >= SILENCES;
    // A first silence makes nothing better that is known to be bad.
    if (!isSure && before?.isSure === true && before.answer.kind !== "reached") return;
    if (before?.answer.kind === answer.kind && before.isSure === isSure) return;
    this.#believed = { kind: "answered", answer, isSure };
    // A cluster that comes up is looked at without being asked to: a pass of its own would cost the API a request.
    if (this.#phase !== "starting" || answer.kind !== "reached") this.#ports.onChange();
  }

  #counts({ kind }: EndpointAnswer): boolean {
    if (kind === "reached") {
      this.#forgiven = 0;
      return true;
    }
    if (this.#phase === "disturbed") return false;
    // That nobody listens yet says nothing of a new cluster; a name that is wrong is wrong from the beginning.
    if (this.#phase === "starting") return kind !== "refused" && kind !== "silent";
    this.#forgiven = Math.max(0, this.#forgiven - 1);
    return this.#forgiven === 0;
  }

  #nextPause({ kind }: EndpointAnswer): number {
    const { random } = this.#ports;
    if (kind === "reached") {
      this.#pauseMs = AGAIN_MS;
      return SETTLED_MS * (1 - SOONER_BY * random.fraction());
    }
    if (this.#phase === "starting") return STARTING_MS;
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(pauseMs * 2, SETTLED_MS);
    return pauseMs * (1 - SOONER_BY * random.fraction());
  }
}
