/**
 * A scalar that is printed exactly as given, without quotes: a number, a boolean or a file mode, whose text must not be mistaken for a string.
 */
export class PlainScalar {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A text that is printed as a block of lines even where it holds nothing but blanks. */
export class BlockScalar {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
