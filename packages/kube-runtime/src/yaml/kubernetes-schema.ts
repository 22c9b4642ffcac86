import { CORE_SCHEMA, defineScalarTag, mergeTag, NOT_RESOLVED } from "js-yaml";
import type { Schema } from "js-yaml";

const integer = /^[-+]?(?:0b[01]+|0x[0-9a-f]+|0o?[0-7]+|0|[1-9][0-9]*)$/i;
const decimal = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:e[-+]?[0-9]+)?$/i;
const words: Readonly<Record<string, boolean>> = {
  y: true,
  yes: true,
  on: true,
  true: true,
  n: false,
  no: false,
  off: false,
  false: false,
};

/** `yes`, `Yes` and `YES`, not `yEs`. */
const isWord = (text: string): boolean => [text.toLowerCase(), text.toUpperCase(), capitalised(text)].includes(text);
const capitalised = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1).toLowerCase()}`;

/** Underscores may stand anywhere behind the first character of a number. */
function withoutUnderscores(text: string): string {
  return /^[-+.0-9]/.test(text) ? text.replaceAll("_", "") : text;
}

function integerOf(text: string): number {
  const sign = text.startsWith("-") ? -1 : 1;
  const digits = text.replace(/^[-+]/, "").toLowerCase();
  if (/^0[box]/.test(digits)) return sign * Number(digits);
  return sign * (digits.length > 1 && digits.startsWith("0") ? parseInt(digits, 8) : Number(digits));
}

const bool = defineScalarTag("tag:yaml.org,2002:bool", {
  implicit: true,
  resolve: (text) => (isWord(text) ? (words[text.toLowerCase()] ?? NOT_RESOLVED) : NOT_RESOLVED),
  identify: (value) => typeof value === "boolean",
});

const int = defineScalarTag("tag:yaml.org,2002:int", {
  implicit: true,
  resolve: (text) => {
    const plain = withoutUnderscores(text);
    return integer.test(plain) ? integerOf(plain) : NOT_RESOLVED;
  },
  identify: (value) => Number.isInteger(value),
});

const float = defineScalarTag("tag:yaml.org,2002:float", {
  implicit: true,
  resolve: (text) => {
    const plain = withoutUnderscores(text);
    if (!decimal.test(plain) || integer.test(plain)) return NOT_RESOLVED;
    const value = Number(plain);
    // A number that no float holds stays the text it is.
    return Number.isFinite(value) ? value : NOT_RESOLVED;
  },
  identify: (value) => typeof value === "number",
});

/**
 * Scalars as kubectl and kube-apiserver read them: `0644` and `0o644` are 420, `yes` and `y` are true, `1_000` is 1000, `2026-01-01` is a text.
 *
 * @see kubernetes-sigs/yaml `goyaml.v2/resolve.go`
 */
export const kubernetesSchema: Schema = CORE_SCHEMA.withTags(bool, int, float, mergeTag);
