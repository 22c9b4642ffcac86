import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosMachine, VitistackMachine } from "@talos-operator/api";
import { machineAnnotations } from "../kubernetescluster/keys.ts";
import { decideMachineAnnotations } from "./decide.ts";

const at = "2026-01-01T00:00:00Z";
const condition = (type: string, status: "True" | "False"): object => ({ type, status, reason: "x", message: "", lastTransitionTime: at });
const talosMachine = (state: string, reachable: "True" | "False", applied: "True" | "False"): TalosMachine =>
  ({ status: { state, conditions: [condition("Reachable", reachable), condition("ConfigApplied", applied)] } }) as unknown as TalosMachine;
const machine = (annotations: Readonly<Record<string, string>> = {}): VitistackMachine =>
  ({ metadata: { namespace: "default", name: "demo-cp-0", annotations } }) as unknown as VitistackMachine;
const installed = { [machineAnnotations.osInstalled]: "true" };

for (const [what, has, seen, want] of [
  ["that runs with its configuration", {}, talosMachine("Available", "True", "True"), "true"],
  ["that was only sent a configuration (V8)", {}, talosMachine("Installing", "True", "True"), undefined],
  ["that does not answer (V8)", {}, talosMachine("Available", "False", "True"), undefined],
  ["that answers and did not take its configuration (V8)", {}, talosMachine("Available", "True", "False"), undefined],
  ["that ran and is silent now", installed, talosMachine("Available", "False", "True"), undefined],
  ["that was wiped", installed, talosMachine("Pending", "True", "False"), null],
  ["that nothing stands for right now", installed, undefined, undefined],
] as const)
  test(`machine: Talos counts as ${want === "true" ? "" : "not newly "}installed on one ${what}`, () => {
    assert.equal(decideMachineAnnotations(machine(has), seen)[machineAnnotations.osInstalled], want);
  });
