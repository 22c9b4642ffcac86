import { COLLECTION_STYLE, EVENT_ID, getScalarValue, SCALAR_STYLE, YAMLException, type Event } from "js-yaml";
import { ConfigError } from "../errors.ts";
import { Anchors } from "./anchors.ts";
import { tabbedLine } from "./continuation-lines.ts";
import { countValuesAtMost } from "./count-values.ts";
import type { Placed, YamlEntry, YamlMappingNode, YamlNode, YamlScalarNode } from "./node.ts";
import { parseYaml, type ParsedYaml } from "./parse.ts";
import { kindOfPlain } from "./resolve.ts";
import type { ScalarStyle } from "./scalar-style.ts";
import { isTagOf, kindOfTagged } from "./tags.ts";

/** One document of a text; `root` is `undefined` when it holds nothing but comments. */
export interface YamlDocument {
  readonly root: YamlNode | undefined;
  /** Line of the first content, 1 for an empty document. */
  readonly line: number;
}

/** Upper limits of what is read; a text beyond them is refused, not cut. */
export interface ReadLimits {
  /** Default 4 MiB: a whole machine config with its manifests. */
  readonly maxBytes?: number;
  /** Default 64 levels. */
  readonly maxDepth?: number;
  /** Default 1,000. */
  readonly maxDocuments?: number;
  /** Default 150,000, counted as {@link countValuesAtMost} does: what they become takes some 60 MiB. */
  readonly maxValues?: number;
  /** Values that aliases may repeat, all of them together; default 10,000, because an alias bomb is a few hundred bytes. */
  readonly maxRepeated?: number;
}

/**
 * Reads all documents of a text into nodes that know their place and keep the text of every scalar.
 *
 * Refused: more than the limits allow, tags other than those of JSON's types, duplicate keys, keys that are not scalars, control characters, line
 * ends that only YAML 1.1 knows, lone surrogates.
 *
 * @throws ConfigError `YAML_SYNTAX`, `YAML_LIMIT`, `YAML_ALIAS`, `YAML_TAG`, `YAML_ENCODING`, `DUPLICATE_KEY`
 */
export function readYaml(text: string, limits: ReadLimits = {}): readonly YamlDocument[] {
  const source = checkText(text, limits.maxBytes ?? 4 * 1024 * 1024);
  checkValues(source, limits.maxValues ?? 150_000);
  checkVersion(source);
  checkEnds(source);
  checkTabs(source);
  return new Composer(tryParse(source, limits.maxDepth ?? 64), limits).documents();
}

function tryParse(source: string, maxDepth: number): ParsedYaml {
  try {
    return parseYaml(source, maxDepth);
  } catch (error) {
    throw syntaxError(error);
  }
}

/** Characters that YAML forbids: they would reach the node as something else. */
// eslint-disable-next-line no-control-regex
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u0085\u2028\u2029\ufffe\uffff]|\p{Surrogate}/u;

function checkText(text: string, maxBytes: number): string {
  if (text.length > maxBytes || Buffer.byteLength(text) > maxBytes)
    throw new ConfigError("YAML_LIMIT", `the text is larger than ${maxBytes} bytes`);
  const source = text.startsWith("\ufeff") ? text.slice(1) : text;
  const bad = forbidden.exec(source);
  if (bad !== null) {
    const line = source.slice(0, bad.index).split("\n").length;
    const isLineEnd = /[\u0085\u2028\u2029]/.test(bad[0]);
    const what = isLineEnd ? "a character that Talos takes for the end of a line" : "a character that YAML does not allow";
    throw new ConfigError("YAML_ENCODING", `the text holds ${what}`, { line });
  }
  return source;
}

/** The parser collects everything that it finds before it gives anything: too much is refused before. */
function checkValues(source: string, maxValues: number): void {
  // Each value takes a character at least.
  if (source.length > maxValues && countValuesAtMost(source, maxValues) > maxValues)
    throw new ConfigError("YAML_LIMIT", `the text holds more than ${maxValues} values`);
}

/** Go's library reads version 1.1 by name only, whatever it makes of the texts. */
function checkVersion(source: string): void {
  if (!source.includes("%YAML")) return;
  const other = /(?:^|\n)(?:\.\.\.[^\n]*\n)?(?:(?:#|%)[^\n]*\n|[ \t\r]*\n)*%YAML[ \t]+(?!1\.1(?:\s|$))/.exec(source);
  if (other === null) return;
  const line = source.slice(0, other.index + other[0].length).split("\n").length;
  throw new ConfigError("YAML_SYNTAX", "decode error: yaml: found incompatible YAML document", { line });
}

const documentEnd = /^\.\.\.(?=\s|$)/;
const blankLine = /^\s*(?:#|$)/;

/**
 * Go's library refuses the end of a document where none has begun, and behind an end it wants `---` before the next one. The parser takes both, and
 * the end of a document stands in no text or list.
 */
function checkEnds(source: string): void {
  if (!source.includes("...")) return;
  let isBetween = true;
  let isFirst = true;
  for (const [index, line] of source.split(/\r\n|\r|\n/).entries()) {
    if (blankLine.test(line)) continue;
    const isEnd = documentEnd.test(line);
    const place = { line: index + 1, column: 1 };
    // The library counts these lines from 0.
    if (isEnd && isFirst) {
      const at = index === 0 ? "<unknown position>" : `line ${index}`;
      throw new ConfigError(
        "YAML_SYNTAX",
        `decode error: yaml: while parsing a block node at ${at}: did not find expected node content`,
        place,
      );
    }
    if (!isEnd && isBetween && !isFirst && !/^(?:---(?:\s|$)|%)/.test(line))
      throw new ConfigError("YAML_SYNTAX", `decode error: yaml: line ${index}: did not find expected <document start>`, place);
    isBetween = isEnd;
    isFirst = false;
  }
}

function checkTabs(source: string): void {
  const at = source.includes("\t") ? tabbedLine(source) : undefined;
  if (at === undefined) return;
  const place = { line: at + 1, column: 1 };
  throw new ConfigError("YAML_SYNTAX", `decode error: yaml: line ${at + 1}: found a tab character that violates indentation`, place);
}

function syntaxError(error: unknown): ConfigError {
  if (!(error instanceof YAMLException)) return new ConfigError("YAML_SYNTAX", "the text is not YAML", {}, { cause: error });
  const position = error.mark === undefined ? {} : { line: error.mark.line + 1, column: error.mark.column + 1 };
  const isDepth = /depth/i.test(error.reason);
  // The library's own message shows the lines around the error, which may hold secrets: only its reason is kept.
  const line = error.mark === undefined ? "" : `line ${error.mark.line + 1}, column ${error.mark.column + 1}: `;
  return new ConfigError(isDepth ? "YAML_LIMIT" : "YAML_SYNTAX", `decode error: yaml: ${line}${error.reason}`, position);
}

const styleNames = {
  [SCALAR_STYLE.PLAIN]: "plain",
  [SCALAR_STYLE.SINGLE_QUOTED]: "single",
  [SCALAR_STYLE.DOUBLE_QUOTED]: "double",
  [SCALAR_STYLE.LITERAL_BLOCK]: "literal",
  [SCALAR_STYLE.FOLDED_BLOCK]: "literal",
} as const satisfies Record<number, ScalarStyle>;

/** Half a character by its number, or a number beyond the last: Go refuses it, also where two halves would make a whole one. */
const escapedSurrogate = /(?<!\\)(?:\\\\)*\\(?:(?:u|U0000)[dD][89a-fA-F]|U(?!000|0010))/;

/** An escape of JSON that Go's library does not know. */
const escapedSlash = /(?<!\\)(?:\\\\)*\\\//;

const behindScalar = /[ \t]+(#[^\r\n]*)/y;

class Composer {
  readonly #source: string;
  readonly #events: readonly Event[];
  readonly #padOf: (line: number) => number;
  readonly #hasComments: boolean;
  readonly #lineStarts: number[] = [0];
  readonly #maxDocuments: number;
  readonly #anchors: Anchors;
  /** How many nodes there are so far, those that aliases repeat among them. */
  #count = 0;
  #at = 0;
  /** Where an empty value is said to be: nothing of it is in the text. */
  #last: Placed = { line: 1, column: 1 };
  #documentLine = 0;
  /** Keys that stood before in their mapping, at that line. */
  readonly #duplicates: { readonly key: YamlScalarNode; readonly line: number; readonly path: string }[] = [];
  /** Where in the document the composer is: `.key` and `[index]`. */
  readonly #path: string[] = [];

  constructor({ source, events, padOf }: ParsedYaml, limits: ReadLimits) {
    this.#source = source;
    this.#events = events;
    this.#padOf = padOf;
    this.#hasComments = source.includes("#");
    this.#maxDocuments = limits.maxDocuments ?? 1000;
    this.#anchors = new Anchors(limits.maxRepeated ?? 10_000);
    for (let at = source.indexOf("\n"); at >= 0; at = source.indexOf("\n", at + 1)) this.#lineStarts.push(at + 1);
  }

  documents(): readonly YamlDocument[] {
    const out: YamlDocument[] = [];
    while (this.#at < this.#events.length) {
      this.#at++; // the document event
      if (out.length >= this.#maxDocuments) throw new ConfigError("YAML_LIMIT", `the text holds more than ${this.#maxDocuments} documents`);
      this.#documentLine = 0;
      this.#path.length = 0;
      const root = this.#isPop() || this.#isNothing() ? undefined : this.#node();
      if (root === undefined && !this.#isPop()) this.#at++; // the empty scalar
      this.#at++; // its end
      this.#refuseDuplicates();
      out.push({ root, line: root?.line ?? 1 });
    }
    return out;
  }

  #commentBehind({ style, valueStart, valueEnd }: Extract<Event, { type: typeof EVENT_ID.SCALAR }>): string | undefined {
    if (valueStart < 0 || style === SCALAR_STYLE.LITERAL_BLOCK || style === SCALAR_STYLE.FOLDED_BLOCK) return undefined;
    behindScalar.lastIndex = style === SCALAR_STYLE.PLAIN ? valueEnd : valueEnd + 1;
    return behindScalar.exec(this.#source)?.[1];
  }

  #refuseDuplicates(): void {
    const [first] = this.#duplicates;
    if (first === undefined) return;
    const lines = this.#duplicates.map(
      ({ key, line }) => `\n  line ${key.line}: mapping key ${JSON.stringify(key.text)} already defined at line ${line}`,
    );
    const detail = `error decoding document (line ${this.#documentLine}): yaml: construct errors:${lines.join("")}`;
    throw new ConfigError("DUPLICATE_KEY", detail, { path: first.path, line: first.key.line, column: first.key.column });
  }

  #isPop(): boolean {
    return this.#events[this.#at]?.type === EVENT_ID.POP;
  }

  /** A document of comments only. */
  #isNothing(): boolean {
    const event = this.#events[this.#at];
    return event?.type === EVENT_ID.SCALAR && event.valueStart < 0 && event.tagStart < 0 && event.anchorStart < 0;
  }

  #node(): YamlNode {
    const event = this.#events[this.#at++];
    if (event === undefined) throw new ConfigError("YAML_SYNTAX", "yaml: unexpected end of the text");
    if (event.type === EVENT_ID.ALIAS) return this.#alias(event.anchorStart, event.anchorEnd);
    if (event.type === EVENT_ID.DOCUMENT || event.type === EVENT_ID.POP)
      throw new ConfigError("YAML_SYNTAX", "yaml: did not find expected node content");
    const start = event.type === EVENT_ID.SCALAR ? event.valueStart : event.start;
    const countBefore = this.#count++;
    const anchor = event.anchorStart < 0 ? undefined : this.#source.slice(event.anchorStart, event.anchorEnd);
    if (anchor !== undefined) this.#anchors.begin(anchor);
    const content = this.#tagged(event, this.#content(event, start));
    if (anchor === undefined) return content;
    const node = { ...content, anchor };
    this.#anchors.end(anchor, content, this.#count - countBefore);
    return node;
  }

  /** The node with the type that its tag names. */
  #tagged(event: { readonly tagStart: number; readonly tagEnd: number }, node: YamlNode): YamlNode {
    if (event.tagStart < 0) return node;
    const tag = this.#source.slice(event.tagStart, event.tagEnd);
    // The text may give another meaning to tags.
    const isStandard = !/(?:^|\n)%TAG/.test(this.#source);
    if (isStandard && node.type !== "scalar" && isTagOf(tag, node.type)) return node;
    const kind = isStandard && node.type === "scalar" ? kindOfTagged(tag, node.text) : undefined;
    if (kind === undefined || node.type !== "scalar")
      throw new ConfigError("YAML_TAG", "the tag is not allowed here", {
        path: this.#pathText(),
        ...this.#place(event.tagStart),
      });
    return { ...node, kind };
  }

  #content(
    event: Exclude<Event, { type: typeof EVENT_ID.DOCUMENT | typeof EVENT_ID.POP | typeof EVENT_ID.ALIAS }>,
    start: number,
  ): YamlNode {
    switch (event.type) {
      case EVENT_ID.SCALAR: {
        const place = this.#place(this.#scalarStart(start, event.style));
        if (event.style === SCALAR_STYLE.DOUBLE_QUOTED && escapedSurrogate.test(this.#source.slice(event.valueStart, event.valueEnd)))
          throw new ConfigError("YAML_ENCODING", "yaml: found invalid Unicode character escape code", place);
        if (event.style === SCALAR_STYLE.DOUBLE_QUOTED && escapedSlash.test(this.#source.slice(event.valueStart, event.valueEnd)))
          throw new ConfigError("YAML_SYNTAX", "yaml: found unknown escape character", place);
        const text = event.valueStart < 0 ? "" : getScalarValue(this.#source, event);
        const isPlain = event.style === SCALAR_STYLE.PLAIN;
        const comment = this.#hasComments ? this.#commentBehind(event) : undefined;
        return {
          ...(comment === undefined ? {} : { comment }),
          type: "scalar",
          text,
          kind: isPlain ? kindOfPlain(text) : "str",
          style: styleNames[event.style],
          ...place,
        };
      }
      case EVENT_ID.SEQUENCE: {
        const items: YamlNode[] = [];
        while (!this.#isPop()) {
          this.#path.push(`[${items.length}]`);
          items.push(this.#node());
          this.#path.pop();
        }
        this.#at++;
        return { type: "sequence", items, isFlow: event.style === COLLECTION_STYLE.FLOW, ...this.#place(start) };
      }
      case EVENT_ID.MAPPING:
        return this.#mapping(start, event.style === COLLECTION_STYLE.FLOW);
      default:
        throw new ConfigError("YAML_SYNTAX", "yaml: did not find expected node content");
    }
  }

  #mapping(start: number, isFlow: boolean): YamlMappingNode {
    const entries: YamlEntry[] = [];
    const seen = new Map<string, readonly number[]>();
    while (!this.#isPop()) {
      const isLeftOut = this.#isNothing();
      const keyNode = this.#node();
      if (keyNode.type !== "scalar" || keyNode.alias !== undefined)
        throw new ConfigError("WRONG_TYPE", "a key must be a scalar", { line: keyNode.line, column: keyNode.column });
      if (isLeftOut) {
        const detail = `decode error: yaml: line ${keyNode.line}: did not find expected key`;
        throw new ConfigError("YAML_SYNTAX", detail, { path: this.#pathText(), line: keyNode.line, column: keyNode.column });
      }
      this.#path.push(`.${keyNode.text}`);
      const value = this.#node();
      const earlier = seen.get(keyNode.text) ?? [];
      for (const line of earlier) this.#duplicates.push({ key: keyNode, line, path: this.#pathText() });
      this.#path.pop();
      seen.set(keyNode.text, [...earlier, keyNode.line]);
      entries.push({ key: keyNode.text, keyNode, value });
    }
    this.#at++;
    return { type: "mapping", entries, isFlow, ...this.#place(start) };
  }

  #alias(start: number, end: number): YamlNode {
    const place = { path: this.#pathText(), ...this.#place(start) };
    const { node, size } = this.#anchors.repeat(this.#source.slice(start, end), place);
    this.#count += size;
    return node;
  }

  #pathText(): string {
    return this.#path.join("").replace(/^\./, "");
  }

  /** The library reports where the content of a quoted scalar starts; people count from the quote. */
  #scalarStart(start: number, style: number): number {
    return style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED ? start - 1 : start;
  }

  #place(offset: number): Placed {
    if (offset < 0) return this.#last;
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#lineStarts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    if (this.#documentLine === 0) this.#documentLine = low + 1;
    this.#last = { line: low + 1, column: offset - (this.#lineStarts[low] as number) - this.#padOf(low) + 1 };
    return this.#last;
  }
}
