import { badRequest } from "./status.ts";
import type { StatusError } from "./status.ts";
import type { Selector } from "./label-selector.ts";

/**
 * Parses a field selector: `path=value`, `==`, `!=`, joined by commas; `\\`, `\,` and `\=` are escapes in the value.
 *
 * @param supported the fields that this kind can be selected by
 * @param refuse the answer for any other field
 */
export function parseFieldSelector(text: string, supported: (field: string) => boolean, refuse: (field: string) => StatusError): Selector {
  const tests: Selector[] = [];
  for (const part of text.match(/(?:\\.|\\$|[^,\\])+/gs) ?? []) {
    const match = /^([^=!]*)(==|=|!=)(.*)$/s.exec(part);
    if (match === null) {
      throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
    }
    const [, field = "", operator, raw = ""] = match;
    const wanted = unescape(raw);
    if (field === "" && wanted === "") continue;
    if (!supported(field)) {
      throw refuse(field);
    }
    tests.push(operator === "!=" ? (fields) => (fields[field] ?? "") !== wanted : (fields) => (fields[field] ?? "") === wanted);
  }
  return (fields) => tests.every((test) => test(fields));
}

function unescape(value: string): string {
  return value.replaceAll(/\\(.?)|[,=]/gs, (found, escaped: string | undefined) => {
    if (escaped === undefined) throw badRequest(`invalid field selector: unescaped character in value: ${found.charCodeAt(0)}`);
    if (escaped !== "\\" && escaped !== "," && escaped !== "=") {
      throw badRequest(`invalid field selector: invalid escape sequence: ${found}`);
    }
    return escaped;
  });
}
