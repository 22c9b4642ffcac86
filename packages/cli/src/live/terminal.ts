/** What the place that text goes to can show. */
export interface Terminal {
  /** Cells of a line; absent: no line is cut. */
  readonly columns?: number;
  /** Lines on one screen; absent: there is no screen. */
  readonly rows?: number;
  readonly useColour: boolean;
  readonly useUnicode: boolean;
}

/** What of a stream this needs. */
export type Shown = Pick<NodeJS.WriteStream, "isTTY" | "columns" | "rows"> & { hasColors?(count: number, environment?: object): boolean };

/** Looks at the stream anew, for a terminal changes its size. */
export function terminalOf(stream: Shown, environment: NodeJS.ProcessEnv): Terminal {
  const useUnicode = hasUnicode(environment);
  if (!stream.isTTY) return { useColour: false, useUnicode };
  return {
    // A terminal without a size says 0. The last column and line stay free: filling them would wrap or scroll.
    columns: (stream.columns || 80) - 1,
    rows: (stream.rows || 24) - 1,
    useColour: (environment["NO_COLOR"] ?? "") === "" && environment["TERM"] !== "dumb" && stream.hasColors?.(16, environment) === true,
    useUnicode: useUnicode && environment["TERM"] !== "dumb",
  };
}

/** A terminal that can be drawn anew, unless it cannot move the cursor (`TERM=dumb`) or keeps the log of a build (`CI`). */
export function isDrawable(stream: Pick<Shown, "isTTY">, environment: NodeJS.ProcessEnv): boolean {
  return stream.isTTY && environment["TERM"] !== "dumb" && (environment["CI"] ?? "") === "";
}

/** By the words of the locale, the first that is set; Windows has none, and shows it. */
function hasUnicode(environment: NodeJS.ProcessEnv): boolean {
  const locale = [environment["LC_ALL"], environment["LC_CTYPE"], environment["LANG"]].find((word) => word !== undefined && word !== "");
  return locale === undefined ? process.platform === "win32" : /utf-?8/i.test(locale);
}
