import { parseXML } from "@aws-sdk/xml-builder";
import { S3Error } from "./s3-error.ts";

/** An element: its name, and a text, elements inside, or nothing. */
export type Element = readonly [name: string, content: string | readonly Element[]];

const NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/";

/** A whole answer. An error has no namespace, all else has S3's. */
export function document([name, content]: Element): string {
  const namespace = name === "Error" ? "" : ` xmlns="${NAMESPACE}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${name}${namespace}>${written(content)}</${name}>`;
}

function written(content: Element[1]): string {
  if (typeof content === "string") return escaped(content);
  return content.map(([name, inner]) => `<${name}>${written(inner)}</${name}>`).join("");
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Line ends are written as numbers: a parser would make one of two, and a key with `\r\n` would come out as another. */
function escaped(text: string): string {
  return text.replace(/[&<>"\t\n\r\u0085\u2028]/g, (letter) => ESCAPES[letter] ?? `&#${letter.charCodeAt(0)};`);
}

/** What a request's XML holds: texts, records of children, lists where a child comes more than once. */
export type Parsed = string | { readonly [name: string]: Parsed } | readonly Parsed[];

/**
 * The children of the root element.
 *
 * @throws S3Error `MalformedXML` for what is no XML, has another root, a DOCTYPE, or entities that XML does not define by itself
 */
export function parseDocument(text: string, root: string): Readonly<Record<string, Parsed>> {
  if (/<!DOCTYPE/i.test(text) || /&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)/.test(text)) throw new S3Error("MalformedXML");
  let parsed: Readonly<Record<string, Parsed>>;
  try {
    parsed = parseXML(text) as Readonly<Record<string, Parsed>>;
  } catch {
    // The parser's own sentence names positions in its code; RangeError when elements nest without end.
    throw new S3Error("MalformedXML");
  }
  const found = parsed[root];
  if (typeof found !== "object" || Array.isArray(found)) throw new S3Error("MalformedXML");
  return found as Readonly<Record<string, Parsed>>;
}

/** A child that may come any number of times, as a list of records. @throws S3Error `MalformedXML` when one is a text */
export function records(parent: Readonly<Record<string, Parsed>>, name: string): readonly Readonly<Record<string, Parsed>>[] {
  const found = parent[name];
  if (found === undefined) return [];
  return (Array.isArray(found) ? (found as readonly Parsed[]) : [found]).map((one) => {
    if (typeof one === "string" || Array.isArray(one)) throw new S3Error("MalformedXML");
    return one as Readonly<Record<string, Parsed>>;
  });
}

/** A child that is a text; `undefined` without it. @throws S3Error `MalformedXML` */
export function text(parent: Readonly<Record<string, Parsed>>, name: string): string | undefined {
  const found = parent[name];
  if (found !== undefined && typeof found !== "string") throw new S3Error("MalformedXML");
  return found;
}
