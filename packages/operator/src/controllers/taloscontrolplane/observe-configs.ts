import type { SecretsBundle } from "@talos-operator/talos";
import { EffectError } from "../../errors.ts";
import { LOOK_TIMEOUT_MS } from "../../looking/look-at.ts";
import { withAdminClient } from "./admin-client.ts";
import type { AdminPorts } from "./admin-client.ts";
import { configQuestion, configWish } from "./config-questions.ts";
import { configIntents } from "./config-intents.ts";
import { sentUnder, troubleOf } from "./config-probe.ts";
import type { Before } from "./config-probe.ts";
import type { ClusterFacts } from "./facts.ts";
import type { Observed } from "./model.ts";
import { readConfig } from "./read-config.ts";
import type { ConfigQuestion } from "./read-config.ts";
import type { KnownConfig } from "./seen-config.ts";
import type { ClusterSession } from "./session.ts";

/** What reading configurations needs. */
export interface ConfigReaderPorts extends AdminPorts {
  /** The bundle that the record names. */
  readonly bundle: () => Promise<SecretsBundle>;
  readonly wake: () => void;
}

/**
 * What is known of the configurations of running machines. What is due is read beside the passes, each with an `os:admin` certificate made for it.
 *
 * Nothing is read of a cluster that is paused, going, or whose spec cannot be used.
 */
export function withConfigs(seen: Observed, session: ClusterSession, ports: ConfigReaderPorts): Observed {
  if (seen.mode === "disable" || seen.record.kind !== "present" || seen.controlPlane.metadata.deletionTimestamp !== undefined) return seen;
  const { facts } = seen.record.value;
  if (seen.problems.length > 0) return { ...seen, configs: session.configs.seen() };
  const questions = new Map(
    seen.machines.flatMap((machine) => {
      const question = configQuestion(machine, seen.machines, seen.controlPlane, facts);
      return question === undefined ? [] : [[question.machine, question] as const];
    }),
  );
  session.configs.ask(
    [...questions.values()].map((question) => configWish(question, facts)),
    (machine) => read(questions.get(machine), ports),
    ports.wake,
  );
  return { ...seen, configs: session.configs.seen(), troubles: troublesOf(seen, facts, session) };
}

async function read(question: ConfigQuestion | undefined, ports: ConfigReaderPorts): Promise<KnownConfig> {
  if (question === undefined) throw new EffectError("PRECONDITION_GONE", "it does not run");
  const secrets = await ports.bundle();
  return withAdminClient(question.address, secrets, ports, async (client) => {
    const { seen } = await readConfig(client, question, secrets, () => ports.clock.now(), { timeoutMs: LOOK_TIMEOUT_MS });
    return seen;
  });
}

/** Remembers what goes wrong while a configuration is tried: when the machine has taken it back, nothing shows it any more. */
function troublesOf(seen: Observed, facts: ClusterFacts, { troubles }: ClusterSession): ReadonlyMap<string, string> {
  const tried = configIntents(facts).filter((intent) => intent.applyMode === "try");
  for (const name of troubles.keys()) if (!tried.some((intent) => intent.machine === name)) troubles.delete(name);
  for (const intent of tried) {
    const machine = seen.machines.find((one) => one.declared.name === intent.machine);
    const sent = sentUnder(seen, "ApplyConfig", intent);
    if (machine === undefined || sent === undefined || troubles.has(intent.machine)) continue;
    const trouble = troubleOf(machine, sent.detail as Before);
    if (trouble !== undefined) troubles.set(intent.machine, trouble);
  }
  return new Map(troubles);
}
