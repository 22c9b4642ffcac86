import { guardWithout, type Stands } from "./guard-without.ts";
import { engine, type Mutant } from "./mutant.ts";

const effect = (name: string): string => `${engine}/effects/${name}.ts`;
const tables = {
  last: "testkit/src/effects/last-looks.test.ts",
  first: "testkit/src/effects/first-looks.test.ts",
  unlisted: `${engine}/effects/demand-unlisted.test.ts`,
  machine: `${engine}/effects/demand-machine.test.ts`,
  guard: `${engine}/effects/guard.test.ts`,
  dialer: "operator/src/looking/checked-dialer.test.ts",
  mode: `${engine}/effects/demand-reconciled.test.ts`,
} as const;

const without = guardWithout(tables);

const everything: readonly Stands[] = ["T2", "T3", "T4", "T6", "T7", "T8", "T9", "T11"];
const first = effect("configure-machine");
const founding = effect("bootstrap-etcd");
const quorum = effect("demand-quorum");
const unlisted = effect("demand-unlisted");
const identity = effect("demand-machine");
const guard = `${engine}/effects/guard.ts`;
const dialer = "operator/src/looking/checked-dialer.ts";

/** What the checks of effects on machines are made of; the checks themselves are taken out one by one by the tests of each effect. */
export const effectGuards: readonly Mutant[] = [
  without("the-record", "the record is gone", everything, "guard", [
    guard,
    "if (facts === undefined || !holds(facts))",
    "if (facts !== undefined && !holds(facts))",
  ]),
  without("the-word", "the cluster says disable or dryrun by now", everything, "mode", [
    effect("demand-reconciled"),
    'if (mode === "disable" || mode === "dryrun" || isImport)',
    "if (isImport)",
  ]),
  without("a-deadline", "an effect may be answered after the lease has ended", everything, "guard", [
    guard,
    "return Math.min(LONGEST_EFFECT_MS, leftOf(leading));",
    "return LONGEST_EFFECT_MS;",
  ]),
  without("one-operator", "another operator is at work on an adopted cluster", everything, "guard", [
    guard,
    "if (isAdopted || (facts?.intents.length ?? 0) > 0) await",
    "if ((facts?.intents.length ?? 0) > 0 && !isAdopted) await",
  ]),
  without("one-operator-at-disturbances", "another operator is at work while machines are disturbed", everything, "guard", [
    guard,
    "if (isAdopted || (facts?.intents.length ?? 0) > 0) await",
    "if (isAdopted) await",
  ]),

  without("a-uuid", "another machine answers", ["T4", "T9", "T11"], "machine", [identity, 'if (uuid !== "" && shown.uuid !== uuid)']),
  without("a-network-card", "a clone of the machine answers", ["T4", "T9", "T11"], "machine", [
    identity,
    'if (fact === undefined || identityOf(facts, fact) === "own") return;',
    "if (fact === undefined || fact.name !== '') return;",
  ]),
  without("a-network-card-alone", "another machine answers for one that has no UUID", ["T4", "T9", "T11"], "machine", [
    identity,
    'if (uuid === "" && (fact?.macs ?? []).length === 0) return;',
    'if (uuid === "") return;',
  ]),

  without("a-pinned-connection", "the connection of a configuration takes any key", ["T1", "T2"], "first", [
    first,
    "expectedSpki: ifSpki",
    "expectedSpki: undefined as unknown as string",
  ]),

  without("an-empty-folder", "the target holds etcd data", ["T4"], "first", [
    founding,
    "return hasData === undefined ? etcd : { ...etcd, hasData };",
    "return hasData === undefined ? etcd : { ...etcd, hasData: false };",
  ]),
  without("doubt-about-the-missing", "a control plane that was configured has no address", ["T4"], "first", [
    founding,
    `(target.address !== "" || target.wasConfigured)`,
    `target.address !== ""`,
  ]),

  without("the-same-control-plane", "another object has the name of the control plane", everything, "mode", [
    effect("demand-reconciled"),
    "if (controlPlane !== undefined && controlPlane.metadata.uid !== metadata.uid)",
  ]),

  without("answers-of-the-right-machine", "a machine answers for another one", ["T7", "T8", "T11"], "last", [
    quorum,
    "return isOther ? [] : [{ machine: declared.name, look }];",
    "return [{ machine: declared.name, look, isOther }];",
  ]),

  without("the-list-of-references", "the pool lists a reference of its name", ["T7", "T8", "T9"], "unlisted", [
    unlisted,
    "...(machineRef?.name === undefined ? []",
    "...(machineRef?.name !== undefined || machineRef === undefined ? []",
  ]),

  without("denied-addresses", "an address is one where no machine can be", ["T1", "T2"], "dialer", [
    dialer,
    '"kind" in host && host.kind === "ip" && deniedHost(host, hosts) === undefined',
    '"kind" in host && host.kind === "ip"',
  ]),
  without("denied-names", "a name is one that leads to no machine", ["T1", "T2"], "dialer", [
    dialer,
    "  if (denied !== undefined) throw",
    "  if (denied !== undefined && host.kind === 'ip') throw",
  ]),
  without("denied-answers", "DNS leads to an address where no machine can be", ["T1", "T2"], "dialer", [
    dialer,
    "if (problem !== undefined)",
  ]),
  without("a-limit-of-answers", "DNS gives very many addresses", ["T1", "T2"], "dialer", [dialer, "if (found.length > MAX_ADDRESSES)"]),
  without("an-answer", "DNS gives no address", ["T1", "T2"], "dialer", [dialer, "if (found.length === 0)"]),
  without("the-checked-address", "the connection goes to the name that was checked", ["T1", "T2"], "dialer", [
    dialer,
    'return { address: first?.text ?? "", serverName: host.text };',
    "return { address: first === undefined ? '' : host.text, serverName: host.text };",
  ]),
];
