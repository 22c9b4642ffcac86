import type { ToldRule } from "./rule.ts";
import { WRITTEN_MS } from "./rule.ts";
import { answers, type ToldMachine } from "./told.ts";

/** A machine that answers is looked at so often, whatever it was before; one that was too slow to answer all looked just before it was well again. */
const LOOKED_AT_MS = 60_000;

/** What a state says of the machine, and is not so; `undefined` = it is so, or nobody can know better. */
function wrongState({ truth, wasRead, openEffect }: ToldMachine, state: string): string | undefined {
  if (truth === undefined) return undefined;
  const { power, isConnected, stage, api, config } = truth;
  const isThere = power === "on" && isConnected;
  switch (state) {
    case "Installing":
      if (openEffect === "Reset" || stage === "resetting") return "it is being reset";
      if (isThere && api.kind === "configured" && stage === "running") return "it runs";
      // One that dies in the middle of its first boot looks like one that takes long: firmware and disks take minutes.
      return wasRead && !isThere ? "it was installed and is away" : undefined;
    case "Unreachable":
      return answers(truth) && stage === "running"
        ? "it answers"
        : isThere && api.kind === "maintenance"
          ? "it answers in maintenance mode"
          : undefined;
    case "Available":
      if (!isThere) return "it is away";
      return stage === "resetting" || api.kind === "maintenance" ? `it is ${stage}` : undefined;
    case "Pending":
      return config.persisted !== undefined && stage === "running" && api.kind === "configured"
        ? "it runs with a configuration"
        : undefined;
    default:
      return undefined;
  }
}

/** W9 the state of a TalosMachine is what its machine does. */
const machineState: ToldRule = {
  id: "W9",
  toleranceMs: LOOKED_AT_MS + WRITTEN_MS,
  judge({ machines }, broken) {
    for (const machine of machines.values()) {
      const state = machine.object?.status?.state;
      if (machine.object === undefined || state === undefined) continue;
      const wrong = wrongState(machine, state);
      if (wrong !== undefined) broken(`${machine.name} ${state}`, () => `TalosMachine ${machine.name} is ${state}, and ${wrong}`);
    }
  },
};

/** W10 a machine that is being reset is not in a state of its installation: the operator itself ordered the reset. */
const resetState: ToldRule = {
  id: "W10",
  toleranceMs: WRITTEN_MS,
  judge({ machines }, broken) {
    for (const { name, object, truth, openEffect } of machines.values())
      if (object?.status?.state === "Installing" && openEffect === "Reset" && truth?.stage === "resetting")
        broken(name, () => `TalosMachine ${name} is Installing, and it is being reset`);
  },
};

export const machineRules: readonly ToldRule[] = [machineState, resetState];
