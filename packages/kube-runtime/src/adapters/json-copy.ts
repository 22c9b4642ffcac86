import type { Path } from "./json-paths.ts";

/** An object or a list. */
export type Container = Record<string | number, unknown>;

const noWay: Path["keys"] = [];

/** Sets values in a copy of an object, of which only what holds them is copied. Used again for one object after the other. */
export class JsonCopy {
  #value: Container = {};
  #copy: Container | undefined;
  /** The objects and lists that were copied on the way to the value that was set last. */
  readonly #copies: Container[] = [];
  #way = noWay;

  begin(value: object): void {
    this.#value = value as Container;
    this.#copy = undefined;
    this.#way = noWay;
  }

  /** The copy; the object itself while nothing was set. */
  result(): object {
    return this.#copy ?? this.#value;
  }

  set(keys: Path["keys"], value: unknown): void {
    const last = keys.length - 1;
    let container = (this.#copy ??= copyOf(this.#value));
    let isCopied = true;
    for (let depth = 0; depth < last; depth += 1) {
      const key = keys[depth] as string | number;
      isCopied &&= depth < this.#way.length - 1 && this.#way[depth] === key;
      const next: Container = isCopied ? (this.#copies[depth] as Container) : copyOf(container[key] as Container);
      if (!isCopied) container[key] = this.#copies[depth] = next;
      container = next;
    }
    container[keys[last] as string | number] = value;
    this.#way = keys;
  }
}

function copyOf(value: Container): Container {
  return Array.isArray(value) ? ([...(value as unknown[])] as unknown as Container) : { ...value };
}
