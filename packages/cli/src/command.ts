/** One flag, declared as data: parsing, help and the reference page come from it. */
export interface FlagSpec {
  /** Without dashes, for example `data-dir`. */
  readonly name: string;
  /** One letter for `-o`, where talosctl has one. */
  readonly short?: string;
  /** A `list` flag may be given several times; with `isCommaSeparated` one value may hold several items. */
  readonly kind: "string" | "number" | "boolean" | "list";
  /** Shown as the value's placeholder in help; absent for booleans. */
  readonly value?: string;
  readonly summary: string;
  /** A boolean whose default is true is switched off with `--no-<name>`. */
  readonly default?: string | number | boolean;
  readonly required?: boolean;
  /** Smallest number that is accepted. */
  readonly min?: number;
  /** Largest number that is accepted. */
  readonly max?: number;
  /** Whole numbers only. */
  readonly isCount?: boolean;
  /** For lists: items are separated by commas, as in a CSV line. */
  readonly isCommaSeparated?: boolean;
}

/** One argument without a flag; its value is read by its name, like that of a flag. */
export interface OperandSpec {
  readonly name: string;
  readonly summary: string;
  /** It may be left out. */
  readonly isOptional?: boolean;
}

export interface CommandSpec {
  /** One word, or two for a command of a group: `config generate`. */
  readonly name: string;
  readonly summary: string;
  /** Paragraphs below the summary. */
  readonly description?: string;
  /** In this order; one that may be left out is the last. */
  readonly operands?: readonly OperandSpec[];
  readonly flags: readonly FlagSpec[];
  /** Runs until done, or until `context.signal` aborts for commands that stay. Failures that a user can mend are thrown as `CliError`. */
  readonly run: (flags: FlagValues, context: CommandContext) => Promise<void>;
}

export type FlagValue = string | number | boolean | readonly string[];

/** Values by name of flag or operand; use the typed readers below. */
export type FlagValues = Readonly<Record<string, FlagValue | undefined>>;

export interface CommandContext {
  /** Aborts on the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

export function stringFlag(flags: FlagValues, name: string): string | undefined {
  const value = flags[name];
  return typeof value === "string" ? value : undefined;
}

/** A text that is not empty: to talosctl a flag with an empty text was not given. */
export function givenString(flags: FlagValues, name: string): string | undefined {
  const value = stringFlag(flags, name);
  return value === "" ? undefined : value;
}

export function requiredString(flags: FlagValues, name: string): string {
  const value = stringFlag(flags, name);
  if (value === undefined) throw new Error(`flag --${name} was read but has no value; it needs a default or "required"`);
  return value;
}

export function numberFlag(flags: FlagValues, name: string): number | undefined {
  const value = flags[name];
  return typeof value === "number" ? value : undefined;
}

export function booleanFlag(flags: FlagValues, name: string): boolean {
  return flags[name] === true;
}

/** Items in the order in which they were given. */
export function listFlag(flags: FlagValues, name: string): readonly string[] {
  const value = flags[name];
  return Array.isArray(value) ? (value as readonly string[]) : [];
}
