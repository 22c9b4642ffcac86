/**
 * Lines of a YAML text, counted from 0, that begin inside brackets, braces or quotes. Blanks at their beginning mean nothing.
 *
 * Found without parsing: where the text is no YAML the answer means nothing.
 */
export function continuationLines(text: string): ReadonlySet<number> {
  const found = new Set<number>();
  eachLine(text, (_line, number, context) => {
    if (context === "continued") found.add(number);
  });
  return found;
}

/**
 * The first line, counted from 0, with a tab where only spaces may stand: before what begins on it. Go's library refuses it, also on a line of blanks, unless
 * a text without quotes goes on there.
 */
export function tabbedLine(text: string): number | undefined {
  let found: number | undefined;
  /** Where the text of the line before belongs to, which may go on. */
  let plainIndent: number | undefined;
  /** The line that began a block whose own text did not begin yet: there the spaces say how deep it lies. */
  let header: string | undefined;
  eachLine(text, (line, number, context) => {
    if (found !== undefined) return;
    if (context === "text") {
      if (header !== undefined && /^ *\t/.test(line) && !saysDepth.test(header)) found = number;
      if (/[^ ]/.test(line)) header = undefined;
      return;
    }
    header = line;
    if (context === "block") {
      const spaces = /^(?!---\s)( *)(?:-[- ]*)?\t/.exec(line)?.[1]?.length;
      const goesOn = plainIndent !== undefined && spaces !== undefined && spaces > plainIndent && !line.trimStart().startsWith("-");
      if (spaces !== undefined && !goesOn) found = number;
    }
    if (line.trim() !== "") plainIndent = /[^"'\]}:\s]\s*$/.test(line) && !/(?:^|\s)#/.test(line) ? keyColumnOf(line) : undefined;
  });
  return found;
}

/** The head of a block that says how deep its text lies. */
const saysDepth = /[|>][+-]?[1-9][+-]?\s*(?:#.*)?$/;

/** `continued` lines begin inside brackets or quotes, `text` ones are of a block scalar. */
function eachLine(text: string, visit: (line: string, number: number, context: "block" | "continued" | "text") => void): void {
  const state: State = { depth: 0, quote: "", blockIndent: undefined };
  text.split("\n").forEach((line, number) => {
    const isContinued = state.quote !== "" || state.depth > 0;
    if (!isContinued && state.blockIndent !== undefined) {
      if (line.trim() === "" || indentOf(line) > state.blockIndent) return visit(line, number, "text");
      state.blockIndent = undefined;
    }
    visit(line, number, isContinued ? "continued" : "block");
    return readLine(line, state);
  });
}

interface State {
  /** Brackets and braces that are open. */
  depth: number;
  /** The quote that is open, empty for none. */
  quote: "" | '"' | "'";
  /** Lines deeper than this are the text of a block scalar. */
  blockIndent: number | undefined;
}

function indentOf(line: string): number {
  return /^ */.exec(line)?.[0].length ?? 0;
}

/** Dashes, question marks, anchors and tags that stand before a value. */
const beforeValue = /(?:[ \t]|[-?:](?=[ \t\r]|$)|[&!][^\s,[\]{}]*)*/y;
const endOfPlain = /:(?=[ \t\r]|$)|[ \t]#|$/g;
const endOfPlainInFlow = /:(?=[ \t\r,[\]{}]|$)|[ \t]#|[,[\]{}]|$/g;

function readLine(line: string, state: State): void {
  let at = 0;
  while (at < line.length) {
    if (state.quote !== "") {
      at = closingQuote(line, at, state);
      continue;
    }
    beforeValue.lastIndex = at;
    at += beforeValue.exec(line)?.[0].length ?? 0;
    const char = line[at] ?? "";
    if (char === "#" || char === "") return;
    if (char === '"' || char === "'") {
      state.quote = char;
      at += 1;
    } else if (char === "[" || char === "{") {
      state.depth += 1;
      at += 1;
    } else if (state.depth > 0 && (char === "]" || char === "}" || char === "," || char === ":")) {
      if (char === "]" || char === "}") state.depth -= 1;
      at += 1;
    } else if (state.depth === 0 && (char === "|" || char === ">")) {
      state.blockIndent = keyColumnOf(line);
      return;
    } else at = endOf(line, at, state.depth > 0 ? endOfPlainInFlow : endOfPlain);
  }
}

/** Behind the quote that ends the text, or the end of the line. */
function closingQuote(line: string, from: number, state: State): number {
  for (let at = from; at < line.length; at += 1) {
    if (state.quote === '"' && line[at] === "\\") at += 1;
    else if (state.quote === "'" && line[at] === "'" && line[at + 1] === "'") at += 1;
    else if (line[at] === state.quote) {
      state.quote = "";
      return at + 1;
    }
  }
  return line.length;
}

function endOf(line: string, from: number, end: RegExp): number {
  end.lastIndex = from;
  return Math.max(end.exec(line)?.index ?? line.length, from + 1);
}

/** Column of the key, or else of the last dash, that a block scalar belongs to. */
function keyColumnOf(line: string): number {
  const [, spaces = "", dashes = ""] = /^( *)((?:[-?] +)*)/.exec(line) ?? [];
  const isItem = dashes !== "" && !/:[ \t]/.test(line);
  return spaces.length + (isItem ? dashes.trimEnd().length - 1 : dashes.length);
}
