/** What goes wrong with calls that match. All named conditions must hold; none matches every call. */
export interface Fault {
  /** Address of the machine that answers. */
  readonly machine?: string;
  /** Whole path (`/machine.MachineService/Bootstrap`) or its last part. */
  readonly method?: string;
  /** How many calls it hits; default all until removed. */
  readonly times?: number;
  readonly effect: FaultEffect;
}

/**
 * - `silent`: nothing arrives, the caller waits until its deadline
 * - `refuse`: connection refused
 * - `drop-request`: lost before the machine saw it, the caller's connection breaks
 * - `drop-reply`: the machine acts, the caller's connection breaks
 * - `error`: the machine answers this status without acting
 * - `delay`: the machine acts `ms` later and answers then; a caller who gave up does not stop it
 * - `duplicate`: the machine gets the call twice in a row and the caller the second answer
 * - `crash-before`, `crash-after`: power is cut before or after the machine acted, before it answers; it boots again after `downMs` (default: stays off)
 * - `end-early`: a byte stream ends after so many bytes as if it were whole; negative: so many before its end
 * - `flip-byte`: one bit of a byte stream differs, at this offset; negative: from its end
 * - `foreign-hash`: the last 32 bytes of a byte stream are the hash of another one
 * - `cut-stream`: the connection breaks after so many messages of a stream, the machine goes on
 * - `slow-stream`: so many milliseconds pass before each message of a stream
 * - `crash-within`: power is cut after so many bytes of a byte stream; it boots again after `downMs` (default: stays off)
 */
export type FaultEffect =
  | { readonly kind: "silent" | "refuse" | "drop-request" | "drop-reply" | "duplicate" }
  | { readonly kind: "error"; readonly code: number; readonly message: string }
  | { readonly kind: "delay"; readonly ms: number }
  | { readonly kind: "crash-before" | "crash-after"; readonly downMs?: number }
  | StreamFault;

/** What goes wrong with a stream that has begun. */
export type StreamFault =
  | { readonly kind: "cut-stream"; readonly messages: number }
  | { readonly kind: "end-early"; readonly bytes: number }
  | { readonly kind: "flip-byte"; readonly at: number }
  | { readonly kind: "foreign-hash" }
  | { readonly kind: "slow-stream"; readonly pauseMs: number }
  | { readonly kind: "crash-within"; readonly bytes: number; readonly downMs?: number };

/** Ends a fault. */
export interface FaultHandle {
  remove(): void;
  /** Calls it has hit so far. */
  readonly hits: number;
}

/** The faults in force, in the order they were injected; the first that matches is used. */
export class FaultTable {
  readonly #entries: { readonly fault: Fault; hits: number }[] = [];

  inject(fault: Fault): FaultHandle {
    const entry = { fault, hits: 0 };
    this.#entries.push(entry);
    return {
      remove: () => {
        const at = this.#entries.indexOf(entry);
        if (at >= 0) this.#entries.splice(at, 1);
      },
      get hits() {
        return entry.hits;
      },
    };
  }

  /** The effect for this call, counted as used. */
  take(machine: string, path: string): FaultEffect | undefined {
    for (const entry of this.#entries) {
      const { fault } = entry;
      if (fault.times !== undefined && entry.hits >= fault.times) continue;
      if (fault.machine !== undefined && fault.machine !== machine) continue;
      if (fault.method !== undefined && fault.method !== path && fault.method !== path.slice(path.lastIndexOf("/") + 1)) continue;
      entry.hits += 1;
      return fault.effect;
    }
    return undefined;
  }
}
