// Genuine parts: etcd, kube-apiserver, kubectl
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startEmbedded, startGenuine } from "./real-servers.ts";
import type { Outcome, RealServer } from "./real-servers.ts";
import { kubectlEverydaySessions } from "./kubectl-everyday-sessions.ts";

/** What no two servers have in common: names of things that were made up, addresses, times. */
const different: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "<uid>"],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z\b/g, "<time>"],
  [/\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, "<time>"],
  [/("?[rR]esource ?Version"?: +)"?\d+"?/g, "$1<revision>"],
  [/(Expected resource version to be \d+, was )\d+/g, "$1<revision>"],
  [/\b10\.96\.\d+\.\d+/g, "<address>"],
  [/\b3[0-2]\d{3}(\/TCP)/g, "<port>$1"],
  [/nodePort: 3[0-2]\d{3}/g, "nodePort: <port>"],
  [/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \+0000/g, "<time>"],
  // Whether a controller was there first.
  [/ patched \(no change\)/g, " patched"],
  // In its column, or where the line begins.
  [/(?:^| +)(?:\d+(?:ms|[smhdy]))+\b/gm, " <age>"],
  [/127\.\d+\.\d+\.\d+:\d+/g, "<server>"],
  [/\/tmp\/\S+/g, "<file>"],
  [/ +/g, " "],
];

function common({ code, stdout, stderr }: Outcome): string {
  const text = different.reduce((current, [pattern, replacement]) => current.replaceAll(pattern, replacement), `${stdout}\n${stderr}`);
  const lines = text.split("\n").map((line) => line.trimEnd());
  // kubectl logs it when a watch ends at the very moment in which it gives up by itself.
  const isSaid = (line: string): boolean => line !== "" && !/^[IWE]\d{4} \S+ +\d+ reflector\.go:/.test(line);
  return `exit ${code}\n${sortWalked(lines.filter(isSaid)).join("\n")}`;
}

/**
 * Faults of an object of a custom kind, and the labels or annotations that `--list` prints, come in the order
 * in which Go walks a map: another one each time.
 */
function sortWalked(lines: readonly string[]): readonly string[] {
  const isWalked = (line: string): boolean => /^(\* |[\w./-]+=)/.test(line);
  const sorted = lines.filter(isWalked).sort();
  return lines.map((line) => (isWalked(line) ? (sorted.shift() ?? line) : line));
}

describe("genuine kubectl prints the same against the embedded API and the genuine kube-apiserver", () => {
  let ours: RealServer;
  let genuine: RealServer;
  before(async () => {
    [ours, genuine] = await Promise.all([startEmbedded(), startGenuine()]);
  });
  after(() => Promise.all([ours.close(), genuine.close()]));

  kubectlEverydaySessions.forEach(({ name, steps }, number) => {
    it(name, async (t) => {
      const namespace = `session-${number}`;
      for (const server of [ours, genuine]) {
        assert.equal((await server.kubectl(["create", "namespace", namespace])).code, 0);
        // Where a controller manager runs every namespace has this account; the genuine one runs without.
        await server.kubectl(["-n", namespace, "create", "serviceaccount", "default"]);
      }
      for (const step of steps) {
        const { args, input } = typeof step === "string" ? { args: step, input: "" } : step;
        const fill = (text: string): string => text.replaceAll("$NS", namespace);
        const words = ["-n", namespace, ...fill(args).split(" ")];
        const [mine, theirs] = await Promise.all([ours.kubectl(words, fill(input)), genuine.kubectl(words, fill(input))]);
        await t.test(`kubectl ${args}`, () => assert.equal(common(mine), common(theirs)));
      }
    });
  });
});
