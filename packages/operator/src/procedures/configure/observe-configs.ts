import type { SecretsBundle } from "@talos-operator/talos";
import { elapsedMs } from "../../elapsed.ts";
import { LOOK_TIMEOUT_MS } from "../../looking/look-at.ts";
import { withClient } from "../../effects/admin-client.ts";
import type { AdminPorts } from "../../effects/admin-client.ts";
import { configQuestions, configWish, isFirstReading } from "./config-questions.ts";
import { configIntents, KEEP_BEFORE_MS, SOAK_MS, TRY_MS } from "./config-intents.ts";
import { sentUnder, troubleOf } from "./config-probe.ts";
import { upgradeIntents } from "../../record/upgrades.ts";
import { mintCredentials } from "../../secrets/credentials.ts";
import type { ConfigReader } from "./live-configs.ts";
import { readConfig } from "./read-config.ts";
import type { ClusterSession } from "../../reconcilers/cluster-session.ts";
import type { ClusterFacts } from "../../model/record.ts";
import type { Observed } from "../../model/observation.ts";

/** After this time those that are there do not wait for the others any more. */
const FOUNDING_MS = 20_000;

/** What reading configurations needs. */
export interface ConfigReaderPorts extends AdminPorts {
  /** The bundle that the record names. */
  readonly bundle: () => Promise<SecretsBundle>;
  readonly wake: () => void;
}

/**
 * What is known of the configurations of running machines. What is due is read beside the passes, with an `os:admin` certificate made for it.
 *
 * Nothing is read of a cluster that is paused, going, or whose spec cannot be used.
 */
export function withConfigs(seen: Observed, session: ClusterSession, ports: ConfigReaderPorts): Observed {
  if (seen.mode === "disable" || seen.record.kind !== "present" || seen.controlPlane.metadata.deletionTimestamp !== undefined) return seen;
  const { facts } = seen.record.value;
  if (seen.problems.length > 0) return { ...seen, configs: session.configs.seen() };
  const isFounding = isBeingFounded(seen, facts);
  const questionTo = configQuestions(seen.machines, seen.controlPlane, facts);
  const questions = seen.machines
    .flatMap((machine) => questionTo(machine) ?? [])
    .filter((question) => !isFounding || !isFirstReading(question, facts));
  session.configs.ask(
    questions.map((question) => configWish(question, facts)),
    () => openReader(ports),
    ports.wake,
  );
  return {
    ...seen,
    configs: session.configs.seen(),
    isReadingConfigs: session.configs.wakeAfterReading(),
    troubles: troublesOf(seen, facts, session),
    soaking: session.soaks.of(configIntents(facts).map(({ machine }) => machine)),
    baking: session.bakes.of(upgradeIntents(facts).flatMap(({ machine, provenAt }) => (provenAt === undefined ? [] : [machine]))),
    overdue: session.stepTimes.overdue(seen, facts),
  };
}

/** Machines of a new cluster turn up within moments of each other, and what they run is read of all of them together; nobody waits for it. */
function isBeingFounded({ machines, now }: Observed, { bootstrapDone }: ClusterFacts): boolean {
  const isComing = machines.some(({ look }) => look.kind !== "running" || look.stage !== "running");
  return isComing && bootstrapDone !== undefined && elapsedMs(bootstrapDone.at, now) < FOUNDING_MS;
}

async function openReader(ports: ConfigReaderPorts): Promise<ConfigReader> {
  const secrets = await ports.bundle();
  const credentials = await mintCredentials(secrets, "os:admin", ports.keys, ports.clock);
  return {
    read: (question) =>
      withClient(question.address, credentials, ports.dialer, async (client) => {
        const { seen } = await readConfig(client, question, secrets, () => ports.clock.now(), { timeoutMs: LOOK_TIMEOUT_MS });
        return seen;
      }),
  };
}

/**
 * Remembers how a machine is for as long as what it tries can still be kept: when it has taken it back, nothing shows it any more. What passes by, as while
 * services restart, is no trouble; nor is what was seen last long before the end, by a process that was kept from looking.
 */
function troublesOf(seen: Observed, facts: ClusterFacts, { troubles }: ClusterSession): ReadonlyMap<string, string> {
  const tried = configIntents(facts).filter((intent) => intent.applyMode === "try");
  for (const name of troubles.keys()) if (!tried.some((intent) => intent.machine === name)) troubles.delete(name);
  const told = new Map<string, string>();
  for (const intent of tried) {
    const machine = seen.machines.find((one) => one.declared.name === intent.machine);
    const sent = sentUnder(seen, "ApplyConfig", intent);
    if (machine === undefined || sent === undefined) continue;
    const keptUntil = sent.at + TRY_MS - KEEP_BEFORE_MS;
    if (seen.now < keptUntil) {
      const why = troubleOf(machine, sent.before ?? "ready");
      if (why === undefined) troubles.delete(intent.machine);
      else troubles.set(intent.machine, { at: seen.now, why });
    }
    const last = troubles.get(intent.machine);
    if (last !== undefined && last.at >= keptUntil - SOAK_MS) told.set(intent.machine, last.why);
  }
  return told;
}
