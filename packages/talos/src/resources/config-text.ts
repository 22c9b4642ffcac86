/** A whole machine config. It holds keys and tokens, so it prints as a placeholder; only `reveal` gives the text. */
export class ConfigText {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The YAML text, comments included. */
  reveal(): string {
    return this.#text;
  }

  /** What logs and events get to see. */
  toJSON(): string {
    return "<machine config>";
  }

  /** Same placeholder as `toJSON`. */
  toString(): string {
    return this.toJSON();
  }
}
