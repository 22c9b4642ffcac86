import { engine, type Mutant } from "./mutant.ts";
import { guardWithout } from "./guard-without.ts";

const tables = {
  writes: "testkit/src/effects/writes.test.ts",
  poolWrites: "testkit/src/effects/pool-writes.test.ts",
  demandPool: `${engine}/effects/demand-pool.test.ts`,
  tending: `${engine}/effects/tend-nodes.test.ts`,
  nodeOwners: `${engine}/assess/node-owners.test.ts`,
  tendNodes: `${engine}/procedures/nodes/rule.test.ts`,
  nodeOf: "operator/src/workload/seen-node.test.ts",
  nodes: "operator/src/workload/cordon.test.ts",
  drain: "operator/src/workload/drain-run.test.ts",
  drains: `${engine}/disruption/drain.test.ts`,
  pods: "operator/src/workload/pods.test.ts",
} as const;
const without = guardWithout(tables);

const execute = `${engine}/effects/execute.ts`;
const writeRecord = `${engine}/effects/write-record.ts`;
const createMachine = `${engine}/effects/create-machine.ts`;
const bundles = "operator/src/secrets/bundle-store.ts";
const owners = `${engine}/assess/node-owners.ts`;
const nodes = "operator/src/workload/node-objects.ts";
const cordons = "operator/src/workload/cordon.ts";
const evict = "operator/src/workload/evict.ts";
const drain = "operator/src/workload/drain-run.ts";
const pool = `${engine}/effects/demand-pool.ts`;

/** The checks of effects that write to Kubernetes: keys, record, objects, and the Nodes and pods of the cluster itself; each taken out by itself. */
export const writeGuards: readonly Mutant[] = [
  without("create-only-keys", "keys are there already", ["K1"], "writes", [
    bundles,
    'if (isAlreadyExists(thrown)) return "existed";',
    `if (isAlreadyExists(thrown)) {
          const there = await secrets.tryGet(key);
          if (there !== undefined) await this.delete(key, readBundle(there).fingerprint);
          return this.create(key, cluster, bundle);
        }`,
  ]),
  without("the-keys-that-were-seen", "other keys are in the Secret that is to go", ["K1"], "writes", [
    bundles,
    "if (secret === undefined || readBundle(secret).fingerprint !== ifFingerprint) return;",
    "if (secret === undefined || ifFingerprint === '') return;",
  ]),
  without("the-named-keys", "the Secret holds other keys than the record names", ["K1"], "writes", [
    bundles,
    "if (stored.fingerprint !== expected.fingerprint)",
  ]),

  without("a-word-at-objects", "the cluster was paused since the caches were read", ["K1", "K2", "K5"], "writes", [
    execute,
    "if (group.some((action) => asksWord(action, effects.seen))) await effects.demandReconciled();",
    "if (group.some((action) => asksWord(action, effects.seen)) && group.length === 0) await effects.demandReconciled();",
  ]),
  without("a-new-record", "there is a record by now", ["K2"], "writes", [
    writeRecord,
    "? await records.create(record)",
    "? await records.create(record).catch(async () => records.update({ ...record, metadata: (await records.get({ namespace, name })).metadata }))",
  ]),
  without("the-record-that-was-read", "the record changed since it was read", ["K2"], "writes", [
    writeRecord,
    ": await replaceRecord(records, before, record);",
    ": await records.update({ ...record, metadata: (await records.get({ namespace, name })).metadata });",
  ]),
  without("fields-that-are-kept", "the API server dropped fields of the record", ["K2"], "writes", [
    writeRecord,
    "if (readRecord(stored) === undefined)",
  ]),

  without("create-only-objects", "a machine's object is there already", ["K5"], "writes", [
    createMachine,
    "if (!isAlreadyExists(thrown)) throw thrown;",
    `if (!isAlreadyExists(thrown)) throw thrown;
    const machines = client.resource<TalosMachine>(talosMachineResource);
    const key = { namespace: seen.controlPlane.metadata.namespace ?? "", name: machine.name };
    const wanted = talosMachineFor(machine, pool ?? seen.controlPlane, seen.controlPlane.metadata.name);
    await machines.update({ ...wanted, metadata: (await machines.get(key)).metadata });`,
  ]),
  without(
    "names-that-stay",
    "a machine's object gets another name each time",
    ["K5"],
    "writes",
    [
      createMachine,
      "      name: machine.name,\n      finalizers",
      "      name: `${machine.name}-${String(nameCount++)}`,\n      finalizers",
    ],
    [createMachine, "/** Makes the TalosMachine of", "let nameCount = 0;\n/** Makes the TalosMachine of"],
  ),
  without("the-object-that-was-seen", "the machine's object changed since it was seen", ["K5"], "writes", [
    `${engine}/effects/follow-endpoint.ts`,
    "const value = { metadata: { resourceVersion }, spec: { endpoint: to } };",
    "const value = { metadata: resourceVersion === '' ? {} : { name }, spec: { endpoint: to } };",
  ]),
  without("the-word-that-was-read", "a person wrote a newer word", ["K5"], "writes", [
    `${engine}/effects/answer-annotation.ts`,
    `{ op: "test", path, value: action.value } as const, `,
    "",
  ]),

  without("the-owner-of-a-node", "the Node belongs to no machine that was released", ["WL1"], "tending", [
    `${engine}/effects/delete-node.ts`,
    "live.every((facts) => formerNodeOwner(facts, seen)?.name === machine)",
    "live.length >= 0 || seen.name === formerNodeOwner(live[0] as ClusterFacts, seen)?.name",
  ]),
  without("machines-that-stay", "the Node belongs to a machine of the cluster", ["WL1"], "nodeOwners", [
    owners,
    "return fitting.every((fact) => fact.releasedAt !== undefined || isClone(fact)) ? owner : undefined;",
    "return isClone(owner) ? undefined : owner;",
  ]),
  without("a-silent-kubelet", "the Node is ready", ["WL1"], "tending", [
    nodes,
    "if (seen.isReady || !fits(seen)) return false;",
    "if (!fits(seen)) return false;",
  ]),
  without("the-node-that-was-read", "the Node changed since it was read", ["WL1"], "nodes", [
    nodes,
    "...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion })",
    "...(uid === undefined || resourceVersion === undefined ? {} : { uid })",
  ]),
  without("the-node-of-the-machine", "the Node belongs to another machine", ["WL1"], "nodes", [
    cordons,
    'if (!isNodeOf(seenNode(node), owner)) return "other-machine";',
    "",
  ]),
  without("the-uuid-of-a-node", "the Node tells another UUID", ["WL1"], "nodeOf", [
    "operator/src/workload/seen-node.ts",
    "return spellingsOf(owner.uuid).includes(node.uuid);",
    "return spellingsOf(owner.uuid).includes(node.uuid) || node.addresses.includes(canonicalAddress(owner.address));",
  ]),
  without("cordons-of-people", "a person cordoned the Node", ["WL1"], "nodes", [
    cordons,
    "node.spec?.unschedulable === true ? undefined : {",
    "node.spec?.unschedulable === null ? undefined : {",
  ]),
  without("our-own-mark", "the cordon is not ours", ["WL1"], "nodes", [
    cordons,
    "isOurs = node.metadata?.annotations?.[CORDON_MARK] !== undefined;",
    "isOurs = node.metadata !== undefined;",
  ]),
  without("the-cordon-that-was-read", "somebody wrote the Node meanwhile", ["WL1"], "nodes", [
    cordons,
    "metadata: { resourceVersion, annotations: next.annotations }",
    "metadata: resourceVersion === undefined ? {} : { annotations: next.annotations }",
  ]),
  without("the-pod-that-was-seen", "another pod took the name", ["WL1"], "drain", [
    evict,
    "preconditions: uid === undefined ? {} : { uid }",
    "preconditions: uid === undefined ? { uid } : {}",
  ]),
  without("budgets", "a budget keeps the pod", ["WL1"], "drain", [
    evict,
    ': { kind: "blocked", budget: budgetOf(cause.message, namespace), retryAfterMs };',
    ': { kind: "leaves" };',
  ]),
  without("two-budgets", "two budgets keep the pod", ["WL1"], "drain", [
    evict,
    'return { kind: "blocked", budget: undefined, retryAfterMs };',
    'return { kind: "leaves" };',
  ]),
  without("pods-that-are-gone", "pods that were evicted are still there", ["WL1"], "drain", [
    drain,
    "if (toEvict.length + leaving.length === 0)",
    "if (toEvict.length === 0)",
  ]),
  without("the-right-in-every-round", "another process leads by now", ["WL1"], "drain", [
    drain,
    "const options = { timeoutMs: Math.min(CALL_MS, await this.#ports.demand()), signal };",
    "const options = { timeoutMs: CALL_MS, signal };",
  ]),
  without("the-right-in-every-handful", "the lease was lost in the middle of many evictions", ["WL1"], "drain", [
    drain,
    "const inTime = { timeoutMs: Math.min(CALL_MS, await this.#ports.demand()), signal };",
    "const inTime = { timeoutMs: CALL_MS, signal };",
  ]),
  without("names-of-nodes", "the machine tells a name that no Node can have", ["WL1"], "drain", [drain, "if (!NODE_NAME.test(name))"]),
  without("pods-that-stay", "static pods and those of DaemonSets would come back", ["WL1"], "pods", [
    "operator/src/workload/pods.ts",
    'if (controllerOf(pod)?.kind === "DaemonSet") return false;',
    "",
  ]),
  without("a-drain-before", "the node was not drained", ["WL1"], "drains", [
    `${engine}/disruption/drain.ts`,
    `if (policy.kind === "Skip" ||`,
    `if (policy.kind !== "Skip" ||`,
  ]),
  without("waiting-by-default", "the drain takes longer than its time, and nobody said to go on", ["WL1"], "drains", [
    `${engine}/disruption/drain.ts`,
    'return isOver && policy.kind === "Proceed";',
    "return isOver;",
  ]),
  without("patience-with-a-silent-api", "the cluster's API is silent for a moment", ["WL1"], "drains", [
    `${engine}/disruption/drain.ts`,
    "return drain.unreachableMs >= policy.timeoutMs;",
    "return true;",
  ]),
  without("fresh-drains", "the drain was long ago", ["WL1"], "drains", [
    `${engine}/disruption/drain.ts`,
    "if (drain !== undefined && isFresh && mayGoOn(",
    "if (drain !== undefined && mayGoOn(",
  ]),
  without("the-end-of-a-takeover", "an earlier leader's effects may still take place", ["WL1"], "tendNodes", [
    `${engine}/procedures/nodes/rule.ts`,
    "facts?.bootstrapDone === undefined || !seen.mayDisturb) return undefined;",
    "facts?.bootstrapDone === undefined) return undefined;",
  ]),
  without("the-pool-of-the-decision", "another pool has the name by now", ["K5"], "demandPool", [
    pool,
    "pool === undefined || decided === undefined || pool.metadata.uid !== decided.metadata.uid",
    "pool === undefined || decided === undefined",
  ]),
  without("a-pool-that-refers-here", "the pool refers to another control plane by now", ["K5"], "demandPool", [
    pool,
    "if (pool.spec?.controlPlaneRef?.name !== controlPlane.metadata.name)",
  ]),
  without("the-word-of-a-pool", "the pool is paused by now", ["K5"], "poolWrites", [
    pool,
    'if (mode !== "reconcile" && !(mode === "import" && isImported))',
  ]),
  without("the-record-of-a-pool-that-goes", "a machine of the pool is written down by now", ["K5"], "poolWrites", [
    `${engine}/effects/release-pool.ts`,
    "if (held.length > 0)",
  ]),
];
