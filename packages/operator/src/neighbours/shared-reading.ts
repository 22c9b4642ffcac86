/**
 * A reading that several may share, and that is as fresh for each of them as one of its own: it begins after they asked. Who asks while one is under way
 * shares the next.
 */
export class SharedReading<T> {
  readonly #read: () => Promise<T>;
  #underWay: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(read: () => Promise<T>) {
    this.#read = read;
  }

  ask(): Promise<T> {
    if (this.#underWay === undefined) return this.#begin();
    this.#next ??= this.#underWay.then(
      () => this.#begin(),
      () => this.#begin(),
    );
    return this.#next;
  }

  #begin(): Promise<T> {
    this.#next = undefined;
    const begun = this.#read();
    this.#underWay = begun;
    const end = (): void => {
      if (this.#underWay === begun) this.#underWay = undefined;
    };
    begun.then(end, end);
    return begun;
  }
}
