import assert from "node:assert/strict";
import { test } from "node:test";
import { annotations } from "@talos-operator/api";
import { assess } from "../../assess/assess.ts";
import { configured, controlPlane, facts, NOW, observed } from "../../testing/builders.ts";
import { answerAnnotations } from "./rule.ts";

const known = facts({ machines: [configured("10.0.0.1", "controlplane", "demo", { uuid: "", macs: ["old"] })] });

/** What is done when a person accepts this key, and a container that was made anew shows `shown`. */
function accepting(value: string): readonly string[] {
  const seen = observed({ controlPlane: controlPlane(1, {}, { annotations: { [annotations.acceptIdentity]: value } }), facts: known });
  const look = { kind: "silent", at: NOW, since: NOW, detail: "", claimed: { spki: "shown", macs: ["new"] } } as const;
  const machines = seen.machines.map((machine) => ({ ...machine, look }));
  const verdict = answerAnnotations.decide(assess({ ...seen, machines }));
  return (verdict?.actions ?? []).map((action) =>
    action.kind === "WriteRecord" ? `write ${action.facts.machines[0]?.macs.join(",") ?? ""}` : action.kind,
  );
}

test("a container that was made anew is taken in for the very key that a person names", () =>
  assert.deepEqual(accepting("shown"), ["write new", "AnswerAnnotation"]));

test("a person's word for another key takes in no container", () => assert.deepEqual(accepting("another"), ["AnswerAnnotation"]));
