import { tooManyRequests } from "../request/status.ts";

/** Bytes of bodies that are being read, of all requests together. */
const maxTotalBytes = 64 * 1024 * 1024;
/** And of one user's: who sends bodies and never ends them takes the room from nobody else. */
const maxBytesPerUser = 16 * 1024 * 1024;

/** Room for one body that is being read. */
export interface BodyRoom {
  /** Takes so many bytes in all. @throws 429 when there is no room for them: the client comes back after a second */
  grow(bytes: number): void;
  /** Gives all of them back. May be repeated. */
  release(): void;
}

/** Counts what bodies hold until they are whole: whoever sends half of one waits, and memory with them. */
export class BodyBudget {
  readonly #perUser = new Map<string, number>();
  #total = 0;

  /** Bytes held now. */
  get heldBytes(): number {
    return this.#total;
  }

  roomFor(user: string): BodyRoom {
    let held = 0;
    return {
      grow: (bytes) => {
        const more = bytes - held;
        if (this.#total + more > maxTotalBytes || (this.#perUser.get(user) ?? 0) + more > maxBytesPerUser) {
          throw tooManyRequests("too many request bodies are being read at once; send them one after the other");
        }
        this.#hold(user, more);
        held = bytes;
      },
      release: () => {
        this.#hold(user, -held);
        held = 0;
      },
    };
  }

  #hold(user: string, bytes: number): void {
    this.#total += bytes;
    const now = (this.#perUser.get(user) ?? 0) + bytes;
    if (now === 0) this.#perUser.delete(user);
    else this.#perUser.set(user, now);
  }
}
