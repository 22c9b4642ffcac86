import type { Clock } from "@talos-operator/ports";
import { elapsedMs } from "../elapsed.ts";

const NEWS_MS = 1_000;

/** What the making of a key needs from the process. */
export interface ServiceAccountKeyPorts {
  readonly clock: Clock;
  /** Clusters whose keys are being made; shared by all clusters. */
  readonly makingKeys: Set<object>;
}

/**
 * The key of a new cluster's service account, made beside the passes: that takes a second, in a burst of new clusters minutes. Keys of clusters are made one
 * after another.
 */
export class ServiceAccountKey {
  readonly #ports: ServiceAccountKeyPorts;
  #key: string | undefined;
  #isBeingMade = false;
  #madeAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(ports: ServiceAccountKeyPorts) {
    this.#ports = ports;
  }

  /**
   * The key; `undefined` while it is being made, which the first call begins.
   *
   * @param wake called when it is there, or when it failed and should be begun anew
   */
  take(make: () => Promise<string>, wake: () => void): string | undefined {
    if (this.#key !== undefined || this.#isBeingMade) return this.#key;
    this.#isBeingMade = true;
    this.#ports.makingKeys.add(this);
    void this.#make(make, wake);
    return undefined;
  }

  isBeingMade(): boolean {
    return this.#isBeingMade;
  }

  /** It is there, or no other cluster waits for its own. */
  isItsTurn(): boolean {
    return this.#key !== undefined || this.#ports.makingKeys.size === 0;
  }

  /** It is being made, or was a moment ago: what was read before is about to be read again by the effect that uses it. */
  isNew(): boolean {
    return this.#isBeingMade || elapsedMs(this.#madeAt, this.#ports.clock.now()) < NEWS_MS;
  }

  /** The bundle holds it. */
  forget(): void {
    this.#key = undefined;
    this.#isBeingMade = false;
  }

  /** The clock was set back. */
  moveTimes(moved: (at: number) => number): void {
    this.#madeAt = moved(this.#madeAt);
  }

  close(): void {
    this.#isClosed = true;
    this.#ports.makingKeys.delete(this);
    this.forget();
  }

  async #make(make: () => Promise<string>, wake: () => void): Promise<void> {
    let key: string | undefined;
    try {
      key = await make();
    } catch {
      // The next pass begins anew.
    }
    this.#ports.makingKeys.delete(this);
    this.#key = this.#isClosed ? undefined : key;
    this.#isBeingMade = false;
    this.#madeAt = this.#ports.clock.now();
    wake();
  }
}
