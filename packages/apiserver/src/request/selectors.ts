import { badRequest } from "./status.ts";
import type { StatusError } from "./status.ts";

/** Decides about one object by its labels or by its selectable fields. */
export type Selector = (values: Readonly<Record<string, unknown>>) => boolean;

const labelKey = /^([a-z0-9A-Z]([-a-z0-9A-Z.]*[a-z0-9A-Z])?\/)?[a-z0-9A-Z]([-a-z0-9A-Z_.]*[a-z0-9A-Z])?$/;

/** Parses a label selector: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, `a>1`, `a<1`, joined by commas. */
export function parseLabelSelector(text: string): Selector {
  const tests = splitOutsideBrackets(text).map((part) => labelTest(part, text));
  return (labels) => tests.every((test) => test(labels));
}

function splitOutsideBrackets(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index <= text.length; index++) {
    const char = text[index];
    if (char === "(") depth++;
    if (char === ")") depth--;
    if (index === text.length || (char === "," && depth === 0)) {
      const part = text.slice(start, index).trim();
      if (part !== "") parts.push(part);
      start = index + 1;
    }
  }
  return parts;
}

function labelTest(part: string, whole: string): Selector {
  const unparsable = (): never => {
    throw badRequest(`unable to parse requirement: found '${part}' in selector '${whole}'`);
  };
  const key = (text: string): string => (labelKey.test(text) ? text : unparsable());
  const set = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(part);
  if (set !== null) {
    const name = key(set[1] ?? "");
    const wanted = (set[3] ?? "").split(",").map((value) => value.trim());
    return set[2] === "in"
      ? (labels) => Object.hasOwn(labels, name) && wanted.includes(String(labels[name]))
      : (labels) => !Object.hasOwn(labels, name) || !wanted.includes(String(labels[name]));
  }
  const compared = /^([^=!<>\s]+)\s*(==|=|!=|>|<)\s*([^=!<>\s]*)$/.exec(part);
  if (compared !== null) {
    const name = key(compared[1] ?? "");
    const wanted = compared[3] ?? "";
    switch (compared[2]) {
      case "!=":
        return (labels) => !Object.hasOwn(labels, name) || labels[name] !== wanted;
      case ">":
        return (labels) => Object.hasOwn(labels, name) && Number(labels[name]) > Number(wanted);
      case "<":
        return (labels) => Object.hasOwn(labels, name) && Number(labels[name]) < Number(wanted);
      default:
        return (labels) => Object.hasOwn(labels, name) && labels[name] === wanted;
    }
  }
  const absent = part.startsWith("!");
  const name = key(absent ? part.slice(1).trim() : part);
  return (labels) => Object.hasOwn(labels, name) !== absent;
}

/**
 * Parses a field selector: `path=value`, `==`, `!=`, joined by commas; `\\`, `\,` and `\=` are escapes in the value.
 *
 * @param supported the fields that this kind can be selected by
 * @param refuse the answer for any other field
 */
export function parseFieldSelector(text: string, supported: (field: string) => boolean, refuse: (field: string) => StatusError): Selector {
  const tests: Selector[] = [];
  for (const part of text.match(/(?:\\.|[^,\\])+/g) ?? []) {
    const match = /^([^=!]+)(==|=|!=)(.*)$/s.exec(part.trim());
    if (match === null) {
      throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
    }
    const field = match[1] ?? "";
    if (!supported(field)) {
      throw refuse(field);
    }
    const wanted = (match[3] ?? "").replaceAll(/\\(.)/g, "$1");
    tests.push(match[2] === "!=" ? (fields) => (fields[field] ?? "") !== wanted : (fields) => (fields[field] ?? "") === wanted);
  }
  return (fields) => tests.every((test) => test(fields));
}
