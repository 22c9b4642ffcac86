import type { ParseError } from "@marcbachmann/cel-js";
import type { CelProblem } from "./infer.ts";

const operands = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
const token = /^(?:[A-Za-z_]\w*|\d+(?:\.\d+)?\w*|\.\d+\w*|&&|\|\||[=!<>]=|"[^"]*"|'[^']*'|.)/s;

/** What Talos says where an expression cannot be read. The parser's own words differ; the place and the sense are the same. */
export function syntaxProblems(text: string, error: ParseError): readonly CelProblem[] {
  const first = problemOf(text, error);
  const half = /^[=&|](?![=&|])/.exec(text.slice(first.at));
  if (error.code === "unexpected_character" && half !== null) {
    // Half an operator is skipped with what follows it, and then the next word is one too many.
    const next = first.at + 2 + (/^\s*/.exec(text.slice(first.at + 2))?.[0].length ?? 0);
    const skipped = { at: first.at, message: `Syntax error: token recognition error at: '${text.slice(first.at, first.at + 2)}'` };
    return text.slice(next) === "" ? [skipped] : [skipped, { at: next, message: surplus(text, next) }];
  }
  const alone = first.message.includes("mismatched input") && text.slice(first.at).trim() === wordAt(text, first.at).trim();
  const isOperandMissing =
    error.code === "unterminated_string" || (error.code === "unexpected_token" && alone && first.at < text.trimEnd().length);
  if (isOperandMissing) {
    return [first, { at: text.length, message: `Syntax error: mismatched input '<EOF>' expecting ${operands}` }];
  }
  return [first];
}

/** Whether an operand may begin with the next word. */
function operandAfter(text: string, at: number): boolean {
  return /^\s*(?!in\b)[\w[{(.!"'-]/.test(text.slice(at));
}

function wordAt(text: string, at: number): string {
  return token.exec(text.slice(at))?.[0] ?? "<EOF>";
}

/** Says that an expression ended before the word. */
function surplus(text: string, at: number): string {
  const word = wordAt(text, at);
  const isLast =
    text
      .slice(at + word.length)
      .replace(/\/\/.*/g, "")
      .trim() === "";
  return `Syntax error: ${isLast ? "extraneous" : "mismatched"} input '${word}' expecting <EOF>`;
}

function problemOf(text: string, { code, message, range }: ParseError): CelProblem {
  const at = range?.start ?? 0;
  const word = wordAt(text, at);
  const isEnd = text.slice(at).trim() === "";
  switch (code) {
    case "reserved_identifier":
      return { at, message: `reserved identifier: ${word}` };
    case "invalid_macro_argument":
      return { at, message: message.includes("has()") ? "invalid argument to has() macro" : "argument must be a simple name" };
    case "expected_token":
      if (message.includes("RPAREN") && isEnd) return { at: text.length, message: "Syntax error: missing ')' at '<EOF>'" };
      // A second point in a number begins another number.
      if (/\d/.test(word[0] ?? "") && text[at - 1] === ".") return { at: at - 1, message: surplus(text, at - 1) };
      return { at, message: `Syntax error: mismatched input '${isEnd ? "<EOF>" : word}'` };
    case "unexpected_token":
      if (isEnd) return { at: text.length, message: `Syntax error: mismatched input '<EOF>' expecting ${operands}` };
      return {
        at,
        message: `Syntax error: ${operandAfter(text, at + word.length) ? "extraneous" : "mismatched"} input '${word}' expecting ${operands}`,
      };
    case "unexpected_character": {
      const isToken = /^[\w"'()[\]{}<>.,?:+\-*/%]/.test(word);
      if (!isToken) return { at, message: `Syntax error: token recognition error at: '${word}'` };
      return { at, message: surplus(text, at) };
    }
    default:
      return { at, message: `Syntax error: token recognition error at: '${text.slice(at)}'` };
  }
}
