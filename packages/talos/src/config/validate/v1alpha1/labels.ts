import type { ConfigMap } from "../../document/value.ts";
import { sortedByBytes } from "../../yaml/key-order.ts";
import { quoted } from "../text/quote.ts";

const annotationLimitBytes = 256 * 1024;
const ownAnnotations: ReadonlySet<string> = new Set(["talos.dev/owned-annotations", "talos.dev/owned-labels", "talos.dev/owned-taints"]);
const effects: ReadonlySet<string> = new Set(["NoSchedule", "PreferNoSchedule", "NoExecute"]);

/** What is wrong with the labels of a Node, by name. */
export function checkLabels(labels: ConfigMap | undefined): readonly string[] {
  return entriesOf(labels).flatMap(([name, value]) => [...(whyNotName(name) ?? []), ...(whyNotValue(value) ?? [])]);
}

/** What is wrong with the annotations of a Node, by name. */
export function checkAnnotations(annotations: ConfigMap | undefined): readonly string[] {
  const entries = entriesOf(annotations);
  const sizeBytes = entries.reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value), 0);
  return [
    ...entries.flatMap(([name]) => [
      ...(whyNotName(name) ?? []),
      ...(ownAnnotations.has(name) ? [`annotation ${quoted(name)} is reserved`] : []),
    ]),
    ...(sizeBytes > annotationLimitBytes ? [`total annotation size exceeds limit of ${annotationLimitBytes} bytes`] : []),
  ];
}

/** What is wrong with the taints of a Node, by name: `effect`, or `value:effect`. */
export function checkTaints(taints: ConfigMap | undefined): readonly string[] {
  return entriesOf(taints).flatMap(([name, text]) => {
    const colon = text.indexOf(":");
    const effect = text.slice(colon + 1);
    const value = colon < 0 ? "" : text.slice(0, colon);
    return whyNotName(name) ?? (effects.has(effect) ? (whyNotValue(value) ?? []) : [`invalid taint effect: ${quoted(effect)}`]);
  });
}

function entriesOf(members: ConfigMap | undefined): readonly (readonly [string, string])[] {
  return [...sortedByBytes(members ?? new Map())].map(([name, value]) => [name, typeof value === "string" ? value : ""]);
}

/** What is wrong with a name that may have a domain before it; `undefined` when nothing is. */
export function checkQualifiedName(text: string): string | undefined {
  return whyNotName(text)?.[0];
}

/** A name with an optional domain before it. */
function whyNotName(text: string): readonly string[] | undefined {
  const parts = text.split("/");
  if (parts.length > 2) return [`invalid format: too many slashes: ${quoted(text)}`];
  const name = parts.at(-1) as string;
  if (parts.length === 2) {
    const prefix = parts[0] as string;
    if (prefix === "") return [`prefix cannot be empty: ${quoted(text)}`];
    const refusal = checkDomain(prefix);
    if (refusal !== undefined) return [`prefix ${quoted(prefix)} is invalid: ${refusal}`];
  }
  if (name === "") return [`name cannot be empty: ${quoted(text)}`];
  if (Buffer.byteLength(name) > 63) return [`name is too long: ${quoted(text)} (limit is 63)`];
  return /^(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/.test(name) ? undefined : [`name ${quoted(name)} is invalid`];
}

/** What is wrong with a domain name in lower case; `undefined` when nothing is. */
export function checkDomain(text: string): string | undefined {
  if (Buffer.byteLength(text) > 253) return `domain name length exceeds limit of 253: ${quoted(text)}`;
  return /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/.test(text)
    ? undefined
    : `domain doesn't match required format: ${quoted(text)}`;
}

function whyNotValue(text: string): readonly string[] | undefined {
  if (Buffer.byteLength(text) > 63) return [`label value length exceeds limit of 63: ${quoted(text)}`];
  return /^(?:(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/.test(text) ? undefined : [`label value ${quoted(text)} is invalid`];
}
