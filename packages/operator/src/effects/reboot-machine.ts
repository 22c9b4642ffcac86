import { EffectError } from "../errors.ts";
import { LOOK_TIMEOUT_MS } from "../looking/look-at.ts";
import { known, NEXT_BOOT, withConfig, withFact, withTalos, withoutDrain } from "../planning/afterwards-machines.ts";
import { besideFull } from "../assess/quorum.ts";
import { onMachine } from "../planning/step-of.ts";
import { factsOf, intentOn, machineFact } from "../record/facts.ts";
import type { MachineName, MachineRole } from "../model/machine.ts";
import { always, where } from "./define.ts";
import { sameMachine } from "./demand-machine.ts";
import { ownMember, quorumWithout } from "./demand-quorum.ts";
import { onRunningMachine } from "./on-running-machine.ts";
import { defineSend, toMachine } from "./send-to-machine.ts";
import type { Connected } from "./send-to-machine.ts";

interface RebootMachine {
  readonly machine: MachineName;
  /** etcd must bear the loss of a control plane. */
  readonly role: MachineRole;
  readonly address: string;
  readonly ifUuid: string;
  readonly ifBootId: string;
  /** It brings a larger quota to an etcd that is full: that alarm, and no other one, does not hold it up. */
  readonly isForSpace?: true;
}

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Only while the machine runs the boot that was written down. */
    RebootMachine: RebootMachine;
  }
}

/**
 * Boots a machine anew whose reboot stands in the record.
 *
 * On the connection of the send: it is the machine that was written down, and it still runs the boot of then. A repetition is thus harmless: once it has
 * rebooted its boot id is another one.
 */
export const rebootMachine = defineSend("RebootMachine", {
  inventory: "T11",
  ...toMachine,
  disrupts: "machine",
  goesTogether: true,
  intent: "Reboot",
  ...onRunningMachine("Reboot", always(120_000)),
  checks: {
    sameMachine,
    sameBoot: async ({ action, client, effects: { signal } }) => {
      const bootId = (await client.bootId({ timeoutMs: LOOK_TIMEOUT_MS, signal })).trim();
      if (bootId !== action.ifBootId) throw new EffectError("PRECONDITION_GONE", "it has booted meanwhile");
    },
    ...where(({ action }: Connected<RebootMachine>) => action.role === "controlplane", {
      ownMember,
      ...quorumWithout(
        "is-down",
        ({ machine }: RebootMachine) => ({ machine }),
        (view, { isForSpace }) => (isForSpace === true ? besideFull(view) : view),
      ),
    }),
  },
  record: {
    boot: (facts, { machine, ifBootId }) => intentOn(facts, machine, "Reboot")?.bootIdBefore === ifBootId,
    uuid: (facts, { machine, ifUuid }) => intentOn(facts, machine, "Reboot")?.uuid === ifUuid,
  },
  doing: "Rebooting machine",
  send: ({ client }, options) => client.reboot({}, options),
  step: ({ machine }) => onMachine("reboot", machine, (named) => `Reboot machine: ${named}.`),
  afterwards(seen, { machine }) {
    const { installed } = machineFact(factsOf(seen), machine) ?? {};
    if (installed !== undefined) return withTalos(seen, machine, installed);
    const config = known(seen, machine);
    return withFact(withConfig(withoutDrain(seen, machine), machine, { ...config, bootId: NEXT_BOOT }), machine, ({ staged, ...rest }) =>
      staged === undefined ? rest : { ...rest, configHash: staged.configHash, appliedHash: config.activeHash },
    );
  },
});
