import { isDeepStrictEqual } from "node:util";
import { compareResponses } from "./compare.ts";
import type { ConformanceSubject, Outcome } from "./subject.ts";
import type { RecordedCall, Transcript } from "./transcript.ts";

/** A call on which the subject may differ, and why. */
export interface KnownDifference {
  readonly transcript: string;
  /** Label of the call, or a regular expression between slashes. */
  readonly label: string;
  /** `not replayed` skips the call, the others let that part differ. */
  readonly what: "code" | "message" | "response" | "not replayed";
  readonly reason: string;
  /** Absent = every simulated subject. */
  readonly only?: "grpc";
}

/** What came of one call. */
export interface Verdict {
  readonly transcript: string;
  readonly label: string;
  readonly result: "same" | "known difference" | "different";
  /** In words, for results other than `same`. */
  readonly detail: string;
}

/** Time that the recorder let pass before a call, where the answer depends on it. */
const pausesMs: Readonly<Record<string, number>> = {
  "b-apply/insecure version after apply +1": 1_000,
  "b-apply/ServiceList soon after apply": 2_000,
  "c-configured/no client cert": 2_000,
  "d-bootstrap/EtcdMember resource": 1_000,
  "e-apply-modes/after both ran out": 8_000,
  "e-apply-modes/after kept": 6_000,
  "e-apply-modes/after try 0s": 100,
  "g-lifecycle/n2 after restart +3.0s": 4_000,
  "g-lifecycle/config after restart": 20_000,
  "g-lifecycle/EtcdMemberList after restart": 3_000,
};

/** Calls before which the recorder started a container that a reset had stopped, and how long it took to stop. */
const stoppedForMs: Readonly<Record<string, number>> = { "g-lifecycle/n2 after restart +3.0s": 12_000 };

const connectionCodes = new Set([4, 14]);
const callTimeoutMs = 10_000;

/**
 * Sends every recorded call to the subject, in order, and compares: the status code always, the text where it is the node's own (not that of
 * a connection that failed), and those parts of answers that a client may depend on.
 */
export async function replay(
  transcripts: readonly Transcript[],
  subject: ConformanceSubject,
  configs: Readonly<Record<string, string>>,
  differences: readonly KnownDifference[],
): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const { name, calls } of transcripts) {
    for (const call of calls) {
      const known = differences.filter((difference) => difference.transcript === name && matches(difference.label, call.label));
      if (known.some((difference) => difference.what === "not replayed")) continue;
      const stoppedFor = stoppedForMs[`${name}/${call.label}`];
      if (stoppedFor !== undefined) {
        await subject.pause(stoppedFor);
        subject.start(call.machine);
      }
      await subject.pause(pausesMs[`${name}/${call.label}`] ?? 0);
      const outcome = await subject.call({
        machine: call.machine,
        method: call.method,
        request: fillConfig(call.request, configs),
        who: call.who,
        metadata: metadataOf(call),
        take: call.code === 0 ? (call.responses?.length ?? 1) : undefined,
        timeoutMs: call.code === 4 ? subject.hangMs : callTimeoutMs,
      });
      verdicts.push(judge(name, call, outcome, known));
    }
  }
  return verdicts;
}

function judge(transcript: string, call: RecordedCall, outcome: Outcome, known: readonly KnownDifference[]): Verdict {
  const found = differenceOf(call, outcome);
  if (found === undefined) {
    const stale = known[0];
    // A difference that is gone must leave the list, or the list stops meaning anything.
    if (stale !== undefined)
      return { transcript, label: call.label, result: "different", detail: `listed as a difference (${stale.what}) but the same` };
    return { transcript, label: call.label, result: "same", detail: "" };
  }
  const excuse = known.find((difference) => difference.what === found.what);
  return { transcript, label: call.label, result: excuse === undefined ? "different" : "known difference", detail: found.detail };
}

function differenceOf(
  call: RecordedCall,
  outcome: Outcome,
): { readonly what: KnownDifference["what"]; readonly detail: string } | undefined {
  if (call.code !== outcome.code)
    return { what: "code", detail: `code ${outcome.code} (${outcome.message}), recorded ${call.code} (${call.message ?? ""})` };
  if (!connectionCodes.has(call.code) && (call.message ?? "") !== outcome.message) {
    return { what: "message", detail: `text ${JSON.stringify(outcome.message)}, recorded ${JSON.stringify(call.message ?? "")}` };
  }
  if (call.code !== 0 || call.responses === undefined) return undefined;
  const { recorded, answered } = compareResponses(call.method, call.responses, outcome.responses);
  if (isDeepStrictEqual(recorded, answered)) return undefined;
  return { what: "response", detail: `answered ${JSON.stringify(answered)}, recorded ${JSON.stringify(recorded)}` };
}

function matches(pattern: string, label: string): boolean {
  return pattern.startsWith("/") ? new RegExp(pattern.slice(1, -1)).test(label) : pattern === label;
}

function fillConfig(request: RecordedCall["request"], configs: Readonly<Record<string, string>>): RecordedCall["request"] {
  const { data } = request;
  if (typeof data !== "string" || !data.startsWith("@cfg/")) return request;
  const name = data.slice("@cfg/".length);
  const text = configs[name];
  if (text === undefined) throw new Error(`the subject has no config named ${name}`);
  return { ...request, data: Buffer.from(text).toString("base64") };
}

function metadataOf(call: RecordedCall): Readonly<Record<string, readonly string[]>> {
  const all: Record<string, string[]> = {};
  for (const entry of call.metadata ?? []) {
    const at = entry.indexOf("=");
    (all[entry.slice(0, at)] ??= []).push(entry.slice(at + 1));
  }
  return all;
}
