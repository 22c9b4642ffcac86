import { load } from "js-yaml";
import { child } from "./child.ts";

/** What Talos writes into a kubeconfig, and nothing that acts on the host of whoever uses it. */
const KEYS = {
  clusters: ["cluster", new Set(["certificate-authority-data", "server"])],
  users: ["user", new Set(["client-certificate-data", "client-key-data"])],
} as const;

/** A machine's kubeconfig has some kilobytes; a Secret takes no more than a mebibyte. */
const LONGEST = 256 * 1024;

/**
 * What is wrong with a kubeconfig that a machine made; `undefined` = nothing. kubectl runs commands, reads files and follows proxies that a kubeconfig names: a
 * machine that was taken over must not reach its administrators by it.
 */
export function kubeconfigFault(text: string): string | undefined {
  if (text.length > LONGEST) return "it is longer than a kubeconfig is";
  let whole: unknown;
  try {
    whole = load(text);
  } catch {
    return "it is no YAML";
  }
  for (const [list, [part, known]] of Object.entries(KEYS)) {
    const entries = child(whole, list);
    if (!Array.isArray(entries) || entries.length !== 1) return `it does not hold one entry in ${list}`;
    const fields = child(entries[0], part);
    if (typeof fields !== "object" || fields === null) return `${list} holds no ${part}`;
    if (Object.keys(fields).some((key) => !known.has(key))) return `${list} says more than a machine's does`;
  }
  return undefined;
}
