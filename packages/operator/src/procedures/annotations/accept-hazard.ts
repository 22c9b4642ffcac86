import { annotations } from "@talos-operator/api";
import type { TalosControlPlane, TalosWorker } from "@talos-operator/api";
import { configHashOf } from "../configure/config-hash.ts";
import { codesOf, heldBack } from "../configure/hazards.ts";
import { isMetaUnread, wantedMeta } from "../configure/meta-plan.ts";
import { platformOf } from "../configure/platform-of.ts";
import { withDecisions } from "../../record/facts.ts";
import { listed } from "../../report/listed.ts";
import { asMade } from "../../spec/fixed-properties.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { Action } from "../../model/effect.ts";
import type { DeclaredMachine, MachineName } from "../../model/machine.ts";
import type { Verdict } from "../../model/plans.ts";
import type { ClusterFacts } from "../../model/record.ts";

type Pool = TalosControlPlane | TalosWorker;

/** A machine whose configuration waits for a person, or a pool's machine that has no such wait. */
interface Asking {
  readonly machine: MachineName;
  readonly settings: string;
  readonly codes: readonly string[];
  readonly isUnread: boolean;
}

/**
 * Accepts hazards of configurations on a person's word: for the settings that machines of that pool are to get now, and for no later ones. A word that names
 * nothing that is held back is answered, too, once all of them were read: it would accept something that nobody has seen.
 */
export function acceptedHazards(assessed: Assessment): Verdict | undefined {
  const { seen } = assessed;
  if (seen.record.kind !== "present") return undefined;
  const { facts, resourceVersion } = seen.record.value;
  for (const pool of [seen.controlPlane, ...seen.workers]) {
    const value = pool.metadata.annotations?.[annotations.acceptHazard];
    if (value === undefined || pool.metadata.deletionTimestamp !== undefined) continue;
    const said = answerTo(asking(assessed, pool, facts), value, pool, facts);
    if (said === undefined) continue;
    const answer: Action = {
      kind: "AnswerAnnotation",
      annotation: annotations.acceptHazard,
      value,
      answer: `${said.words} The annotation acts once and is removed.`,
      ...(pool.kind === "TalosWorker" ? { pool: pool.metadata.name } : {}),
    };
    if (said.accepts.length === 0) return { actions: [answer] };
    const next = withDecisions(withAccepted(facts, said.accepts, seen.now), {
      at: seen.now,
      action: "Accept",
      reason: "ApprovedByPerson",
      message: said.words,
    });
    return { actions: [{ kind: "WriteRecord", ifResourceVersion: resourceVersion, facts: next, why: "AcceptHazard" }, answer] };
  }
  return undefined;
}

/** Every machine of the pool that is configured, or is to be. */
function asking({ seen, configs }: Assessment, pool: Pool, facts: ClusterFacts): readonly Asking[] {
  const { spec } = seen.controlPlane;
  const isOf = ({ owner }: DeclaredMachine): boolean => owner.kind === pool.kind && owner.name === pool.metadata.name;
  const running = configs.flatMap(({ machine, settings, state, fact }): readonly Asking[] =>
    isOf(machine.declared)
      ? [
          {
            machine: machine.declared.name,
            settings,
            codes: state.kind === "hazard" ? codesOf(state.hazards) : [],
            isUnread:
              (state.kind === "unknown" && fact.configHash !== settings) ||
              isMetaUnread(fact, wantedMeta(machine.declared, platformOf(machine.look, fact)), seen.configs?.get(machine.declared.name)),
          },
        ]
      : [],
  );
  const waiting = seen.machines.flatMap(({ declared }): readonly Asking[] => {
    if (!isOf(declared) || declared.hazards === undefined || spec === undefined) return [];
    const settings = configHashOf(declared, asMade(spec, facts), facts);
    return [{ machine: declared.name, settings, codes: codesOf(heldBack(facts, settings, declared.hazards)), isUnread: false }];
  });
  return [...running, ...waiting];
}

interface Said {
  readonly words: string;
  readonly accepts: readonly { readonly code: string; readonly configHash: string }[];
}

/** `undefined` while what is named may still be found. */
function answerTo(all: readonly Asking[], value: string, { kind, metadata: { name } }: Pool, facts: ClusterFacts): Said | undefined {
  const named = new Set(value.split(",").map((code) => code.trim()));
  const meant = all.filter(({ codes }) => codes.some((code) => named.has(code)));
  if (meant.length > 0) {
    const accepts = meant.flatMap(({ settings, codes }) =>
      codes.filter((code) => named.has(code)).map((code) => ({ code, configHash: settings })),
    );
    const codes = [...new Set(accepts.map(({ code }) => code))].join(", ");
    return { words: `Accepted ${codes} for the settings of ${listed(meant.map(({ machine }) => machine))}.`, accepts };
  }
  // A process that ended between the record and the answer has accepted it.
  const settings = new Set(all.map((one) => one.settings));
  const standing = (facts.acceptedHazards ?? []).find((one) => named.has(one.code) && settings.has(one.configHash));
  if (standing !== undefined) return { words: `Accepted ${standing.code} for the settings of ${kind} ${name}.`, accepts: [] };
  if (all.some(({ isUnread }) => isUnread)) return undefined;
  const held = [...new Set(all.flatMap(({ codes }) => codes))].join(", ");
  const instead = held === "" ? "no hazard holds them back" : `${held} holds them back`;
  return {
    words: `Accepted nothing: settings of ${kind} ${name} have no hazard ${JSON.stringify(value).slice(0, 64)}; ${instead}.`,
    accepts: [],
  };
}

function withAccepted(facts: ClusterFacts, accepts: Said["accepts"], at: number): ClusterFacts {
  const words = new Set(accepts.map(({ code, configHash }) => `${code} ${configHash}`));
  const before = (facts.acceptedHazards ?? []).filter(({ code, configHash }) => !words.has(`${code} ${configHash}`));
  const added = [...words].map((word) => {
    const [code = "", configHash = ""] = word.split(" ");
    return { code, configHash, at };
  });
  return { ...facts, acceptedHazards: [...before, ...added] };
}
