import { EffectError } from "../errors.ts";
import { LOOK_TIMEOUT_MS } from "../looking/look-at.ts";
import { configQuestion } from "../procedures/configure/config-questions.ts";
import { readConfig } from "../procedures/configure/read-config.ts";
import type { ConfigQuestion, ConfigReading } from "../procedures/configure/read-config.ts";
import type { MachineName } from "../model/machine.ts";
import type { Check, Sending } from "./define.ts";
import { demandMachine } from "./demand-machine.ts";
import type { Connected } from "./send-to-machine.ts";

interface Asked {
  readonly machine: MachineName;
  readonly ifUuid: string;
  readonly settings: string;
}

/** What the machine is declared with, by what was seen and the record. */
export const questionNow = ({ action, effects }: Sending<Asked>): ConfigQuestion | undefined => {
  const { seen } = effects;
  const machine = seen.machines.find((one) => one.declared.name === action.machine);
  return machine === undefined ? undefined : configQuestion(machine, seen.machines, seen.controlPlane, effects.facts());
};

/** Its configuration as it is now, and the wanted one. */
export const readingNow = async (connected: Connected<Asked>): Promise<ConfigReading> => {
  const { client, effects } = connected;
  const question = connected.ask(questionNow);
  if (question === undefined) throw notDeclared();
  const options = { timeoutMs: LOOK_TIMEOUT_MS, signal: effects.signal };
  return readConfig(client, question, await effects.bundle(), () => effects.clock.now(), options);
};

/** The machine is still declared with these settings. */
export const declaredSettings: Check<Sending<Asked>> = (sending) => {
  if (sending.ask(questionNow)?.settings !== sending.action.settings) throw notDeclared();
};

/** What answers is the machine that the record knows. */
export const recordedMachine: Check<Connected<Asked>> = (connected) => {
  const { action, client, effects } = connected;
  return demandMachine(client, action.machine, connected.ask(questionNow)?.uuid ?? action.ifUuid, effects.signal, effects.facts());
};

/** Another declaration is in force by now. */
export function notDeclared(): EffectError {
  return new EffectError("PRECONDITION_GONE", "it is not declared with these settings any more");
}
