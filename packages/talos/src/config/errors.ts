/**
 * Why a config, a patch, a secrets bundle or a talosconfig was refused.
 *
 * Each code has an entry in `docs/reference/errors/talos-config.md`. Codes are never re-used.
 */
export type ConfigErrorCode =
  | "YAML_SYNTAX"
  | "YAML_LIMIT"
  | "YAML_ALIAS"
  | "YAML_TAG"
  | "YAML_ENCODING"
  | "DUPLICATE_KEY"
  | "DUPLICATE_DOCUMENT"
  | "NOT_A_DOCUMENT"
  | "MISSING_KIND"
  | "UNKNOWN_KIND"
  | "UNKNOWN_FIELD"
  | "WRONG_TYPE"
  | "INVALID_VALUE"
  | "MISSING_DOCUMENT"
  | "PATCH_DELETE"
  | "PATCH_MERGE"
  | "JSON_PATCH"
  | "JSON_PATCH_MULTI_DOCUMENT"
  | "INVALID_INPUT"
  | "INVALID_BUNDLE"
  | "INVALID_VERSION";

/** Where in the input the trouble is. Lines and columns count from 1. */
export interface ConfigPosition {
  /** Identity of the document, for example `v1alpha1/HostnameConfig/` or `/v1alpha1/`. */
  readonly document?: string | undefined;
  /** Dotted path inside the document, for example `machine.network.interfaces[0].mtu`. */
  readonly path?: string | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** Of a field that does not exist: the name of one that does, and that may be meant. */
  readonly meant?: string | undefined;
}

/**
 * Refusal of a config, patch, bundle or talosconfig.
 *
 * `message` starts with the code and ends with what to do; it holds no more of the input than names, kinds and the beginning of a value.
 * `detail` is the text that the Go machinery gives for the same input, where it defines one. That text may quote what the user wrote: it is for
 * who wrote it, and stays out of logs, JSON and the console, which see the message alone.
 */
export class ConfigError extends Error implements ConfigPosition {
  override readonly name = "ConfigError";
  readonly code: ConfigErrorCode;
  readonly #detail: string;
  readonly document: string | undefined;
  readonly path: string | undefined;
  readonly line: number | undefined;
  readonly column: number | undefined;
  readonly meant: string | undefined;
  /** A config that was refused stays refused. */
  readonly retry = "never";

  constructor(code: ConfigErrorCode, detail: string, position: ConfigPosition = {}, options?: ErrorOptions) {
    const meant = position.meant === undefined ? "" : `Did you mean ${position.meant}? `;
    super(`${code}: ${withoutValues(code, detail)}${placeOf(position)}. ${meant}${remedies[code]}`, options);
    this.code = code;
    this.#detail = detail;
    this.document = position.document;
    this.path = position.path;
    this.line = position.line;
    this.column = position.column;
    this.meant = position.meant;
  }

  /** The machinery's text, which may quote the input. A getter of the class, so that no inspection of the error comes across it. */
  get detail(): string {
    return this.#detail;
  }

  /** Copies of an error that know more about where it happened. What is known already stays. */
  at(position: ConfigPosition): ConfigError {
    return new ConfigError(
      this.code,
      this.detail,
      {
        document: this.document ?? position.document,
        path: this.path ?? position.path,
        line: this.line ?? position.line,
        column: this.column ?? position.column,
        meant: this.meant ?? position.meant,
      },
      { cause: this },
    );
  }
}

/** True for a {@link ConfigError}, also one from another copy of this package. */
export function isConfigError(error: unknown): error is ConfigError {
  return error instanceof Error && error.name === "ConfigError" && "code" in error;
}

/** Quotes longer than this may be a key, a token or an address with a password in it. */
const longestQuote = 24;

/** Some texts of the machinery quote what was written: of that the message keeps the names. */
function withoutValues(code: ConfigErrorCode, detail: string): string {
  if (code === "UNKNOWN_FIELD") return detail.replace(/(unknown keys found during decoding):.*$/s, "$1");
  if (code !== "INVALID_VALUE") return detail;
  return detail.replace(/"(?:[^"\\]|\\.)*"/g, (quote) => (quote.length > longestQuote ? `${quote.slice(0, 8)}..."` : quote));
}

function placeOf({ document, path, line, column }: ConfigPosition): string {
  const parts = [
    document === undefined ? "" : `document ${document}`,
    path === undefined || path === "" ? "" : `path ${path}`,
    line === undefined ? "" : `line ${line}`,
    column === undefined ? "" : `column ${column}`,
  ].filter((part) => part !== "");
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

/** What to do, one sentence per code; the same sentences open the remedies of the error page. */
export const remedies: Readonly<Record<ConfigErrorCode, string>> = {
  YAML_SYNTAX: "Correct the YAML at the given line",
  YAML_LIMIT: "Make the text smaller or flatter",
  YAML_ALIAS: "Write the value out instead of using an anchor",
  YAML_TAG: "Remove the tag and quote the value if it is a string",
  YAML_ENCODING: "Save the text as UTF-8 without control characters",
  DUPLICATE_KEY: "Keep one of the two keys",
  DUPLICATE_DOCUMENT: "Join the two documents into one",
  NOT_A_DOCUMENT: "Write a mapping of fields",
  MISSING_KIND: "Give the document both `apiVersion` and `kind`",
  UNKNOWN_KIND: "Check the spelling of `kind` and the Talos version that introduced it",
  UNKNOWN_FIELD: "Check the spelling and the indentation of the field",
  WRONG_TYPE: "Give a value of the named type",
  INVALID_VALUE: "Give a value in the form that the field asks for",
  MISSING_DOCUMENT: "Give the whole machine config, with its v1alpha1 document",
  PATCH_DELETE: "Delete only what exists, by its full path",
  PATCH_MERGE: "Patch a value with a value of the same shape",
  JSON_PATCH: "Correct the operation or its path",
  JSON_PATCH_MULTI_DOCUMENT: "Write the patch as a YAML fragment (strategic merge)",
  INVALID_INPUT: "Correct the argument",
  INVALID_BUNDLE: "Restore the secrets bundle from its backup; never generate a new one for a living cluster",
  INVALID_VERSION: "Give a version such as v1.13.2",
};
