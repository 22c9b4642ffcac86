import { nextRoute } from "../config/compare.ts";
import { EffectError } from "../errors.ts";
import { onMachine } from "../planning/step-of.ts";
import { intentOn } from "../record/facts.ts";
import type { MachineName } from "../model/machine.ts";
import { withSettings } from "./apply-config.ts";
import { always } from "./define.ts";
import { howNow, onRunningMachine } from "./on-running-machine.ts";
import { declaredSettings, readingNow, recordedMachine } from "./reading-now.ts";
import { defineSend, toMachine } from "./send-to-machine.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Only while the machine runs the tried configuration. May be repeated. */
    KeepConfig: {
      readonly machine: MachineName;
      readonly address: string;
      readonly ifUuid: string;
      readonly settings: string;
      readonly ifActiveHash: string;
    };
  }
}

/** Tells a machine to keep the configuration that it tries: the same text, without a time. May be repeated. */
export const keepConfig = defineSend("KeepConfig", {
  inventory: "T3",
  ...toMachine,
  disrupts: "nothing",
  goesTogether: true,
  intent: "ApplyConfig",
  ...onRunningMachine("KeepConfig", always(10_000)),
  checks: {
    declaredSettings,
    sameMachine: recordedMachine,
    seenConfig: async (connected) => {
      if ((await connected.ask(readingNow)).seen.activeHash !== connected.action.ifActiveHash) throw notTried();
    },
    wantedConfig: async (connected) => {
      if (nextRoute((await connected.ask(readingNow)).seen) === "guarded") throw notTried();
    },
  },
  record: {
    settings: (facts, { machine, settings }) => intentOn(facts, machine, "ApplyConfig")?.configHash === settings,
    trial: (facts, { machine }) => intentOn(facts, machine, "ApplyConfig")?.applyMode === "try",
    uuid: (facts, { machine, ifUuid }) => intentOn(facts, machine, "ApplyConfig")?.uuid === ifUuid,
  },
  doing: "Having a tried configuration kept",
  async send(connected, options) {
    const { seen, wanted, live } = await connected.ask(readingNow);
    // Where only a part was tried, what is wanted needs a boot.
    await connected.client.applyConfiguration({ config: seen.changes.length === 0 ? wanted : live, mode: "no-reboot" }, options);
  },
  known: howNow,
  step: ({ machine }) => onMachine("live", machine, (named) => `Keep config: ${named}.`),
  afterwards: (seen, { machine, settings }) => withSettings(seen, machine, settings, false),
});

function notTried(): EffectError {
  return new EffectError("PRECONDITION_GONE", "it does not run the tried configuration any more");
}
