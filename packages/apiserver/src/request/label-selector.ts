import { quoteGo } from "../go-print.ts";
import { problemsOfLabelKey, problemsOfLabelValue } from "./qualified-name.ts";
import { badRequest } from "./status.ts";

/** Decides about one object by its labels or by its selectable fields. */
export type Selector = (values: Readonly<Record<string, unknown>>) => boolean;

interface Token {
  readonly kind: "word" | "symbol" | "end";
  readonly text: string;
}

const tokenPattern = /\s*(?:(==|!=|[=!(),<>])|([^\s=!(),<>]+)|$)/gy;

/**
 * Parses a label selector: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, `a>1`, `a<1`, joined by commas.
 *
 * @throws 400 with what was found and what was expected
 */
export function parseLabelSelector(text: string): Selector {
  const parser = new Parser(text);
  const tests = parser.selector();
  return (labels) => tests.every((test) => test(labels));
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = [...text.matchAll(tokenPattern)].map(([, symbol, word]) =>
      symbol !== undefined
        ? { kind: "symbol", text: symbol }
        : word !== undefined
          ? { kind: "word", text: word }
          : { kind: "end", text: "" },
    );
  }

  selector(): readonly Selector[] {
    const tests: Selector[] = [];
    for (;;) {
      const next = this.#peek();
      if (next.kind === "end") return tests;
      if (!startsRequirement(next)) throw badRequest(`found '${next.text}', expected: !, identifier, or 'end of string'`);
      tests.push(this.#requirement());
      const after = this.#take();
      if (after.kind === "end") return tests;
      if (after.text !== ",") throw badRequest(`found '${after.text}', expected: ',' or 'end of string'`);
      if (!startsRequirement(this.#peek())) throw badRequest(`found '${this.#peek().text}', expected: identifier after ','`);
    }
  }

  #requirement(): Selector {
    const isAbsent = this.#peek().text === "!";
    if (isAbsent) this.#take();
    const key = this.#take();
    if (key.kind !== "word") throw unparsable(`found '${key.text}', expected: identifier`);
    const name = key.text;
    const wrong = problemsOfLabelKey(name);
    if (wrong.length > 0) throw unparsable(`<nil>: Invalid value: ${quoteGo(name)}: ${wrong.join("; ")}`);
    const next = this.#peek();
    if (isAbsent || next.kind === "end" || next.text === ",") return (labels) => Object.hasOwn(labels, name) !== isAbsent;
    return this.#comparison(name);
  }

  #comparison(name: string): Selector {
    const operator = this.#take();
    switch (operator.text) {
      case "in":
      case "notin": {
        const wanted = this.#checked(name, this.#values());
        return operator.text === "in"
          ? (labels) => Object.hasOwn(labels, name) && wanted.has(String(labels[name]))
          : (labels) => !Object.hasOwn(labels, name) || !wanted.has(String(labels[name]));
      }
      case "=":
      case "==":
      case "!=": {
        const wanted = this.#checked(name, new Set([this.#exactValue()]));
        return operator.text === "!="
          ? (labels) => !Object.hasOwn(labels, name) || !wanted.has(String(labels[name]))
          : (labels) => Object.hasOwn(labels, name) && wanted.has(String(labels[name]));
      }
      case ">":
      case "<":
        return orderOf(name, operator.text, this.#exactValue());
      default:
        throw unparsable(`found '${operator.text}', expected: in, notin, =, ==, !=, gt, lt`);
    }
  }

  #values(): ReadonlySet<string> {
    const open = this.#take();
    if (open.text !== "(") throw unparsable(`found '${open.text}' expected: '('`);
    const values = new Set<string>();
    // A missing value between commas or brackets is the empty text.
    let isWanted = true;
    for (;;) {
      const token = this.#take();
      if (token.text === ")" || token.text === ",") {
        if (isWanted) values.add("");
        isWanted = true;
        if (token.text === ")") return values;
      } else if (token.kind === "word" && isWanted) {
        values.add(token.text);
        isWanted = false;
      } else {
        throw unparsable(`found '${token.text}', expected: ${isWanted ? "',', or identifier" : "',' or ')'"}`);
      }
    }
  }

  #exactValue(): string {
    const next = this.#peek();
    if (next.kind === "end" || next.text === ",") return "";
    this.#take();
    if (next.kind !== "word") throw unparsable(`found '${next.text}', expected: identifier`);
    return next.text;
  }

  #checked(name: string, values: ReadonlySet<string>): ReadonlySet<string> {
    for (const [index, value] of [...values].toSorted().entries()) {
      const wrong = problemsOfLabelValue(value);
      if (wrong.length > 0) throw unparsable(`values[${index}][${name}]: Invalid value: ${quoteGo(value)}: ${wrong.join("; ")}`);
    }
    return values;
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? { kind: "end", text: "" };
  }

  #take(): Token {
    const token = this.#peek();
    this.#at++;
    return token;
  }
}

function startsRequirement(token: Token): boolean {
  return token.kind === "word" || token.text === "!";
}

function unparsable(why: string): Error {
  return badRequest(`unable to parse requirement: ${why}`);
}

const wholeNumber = /^[+-]?\d+$/;

function orderOf(name: string, operator: ">" | "<", value: string): Selector {
  if (!wholeNumber.test(value)) {
    throw unparsable(`values[0]: Invalid value: ${quoteGo(value)}: for 'Gt', 'Lt' operators, the value must be an integer`);
  }
  const wanted = BigInt(value);
  return (labels) => {
    const label = Object.hasOwn(labels, name) ? labels[name] : undefined;
    if (typeof label !== "string" || !wholeNumber.test(label)) return false;
    return operator === ">" ? BigInt(label) > wanted : BigInt(label) < wanted;
  };
}
