import { withoutRecord } from "./guard-without.ts";
import { engine, type Mutant } from "./mutant.ts";

/** Faults of what makes a cluster: keys, identities, configuration, founding. */
export const founding: readonly Mutant[] = [
  {
    name: "double-bootstrap",
    stands: ["INC5", "INC16", "V5", "guard T4"],
    about: "asks a second control plane to bootstrap etcd after the first (INC16)",
    edits: [
      {
        file: `${engine}/effects/bootstrap-etcd.ts`,
        find: "    await asked.client.bootstrap(options);",
        replace: `    await asked.client.bootstrap(options);
    for (const other of asked.action.probe.filter((target) => target.machine !== asked.action.machine))
      await asAdmin(other.address, asked.effects, (second) => second.bootstrap(options));`,
      },
      {
        file: `${engine}/effects/bootstrap-etcd.ts`,
        find: 'import { sameMachine } from "./demand-machine.ts";',
        replace: 'import { sameMachine } from "./demand-machine.ts";\nimport { asAdmin } from "./admin.ts";',
      },
    ],
  },
  {
    name: "bootstrap-intent-in-memory",
    stands: ["INC17", "INC19", "W3", "guard T4"],
    about: "sends the bootstrap without having written down to whom (INC18, INC19)",
    edits: [
      withoutRecord("BootstrapEtcd"),
      {
        file: `${engine}/procedures/bootstrap/rule.ts`,
        find: `      { kind: "WriteRecord", ifResourceVersion: resourceVersion, facts: next, why: "BootstrapIntent" },`,
        replace: "",
      },
    ],
  },
  {
    name: "regenerate-missing-bundle",
    stands: ["INC21", "INC22", "W1", "V2", "guard K1"],
    about: "makes new keys when the bundle is not there (INC21, INC22)",
    edits: [
      {
        file: `${engine}/gates/keep-keys.ts`,
        find: `  if (bundle.kind === "absent")
    return lost(`,
        replace: `  if (bundle.kind === "absent") return { actions: [{ kind: "CreateBundle", secret: name }] };
  if (false as boolean)
    return lost(`,
      },
      {
        file: `${engine}/effects/create-bundle.ts`,
        find: 'return record === undefined ? undefined : "not-now";',
        replace: "",
      },
    ],
  },
  {
    name: "bootstrap-another-target",
    stands: ["INC15", "V5"],
    about: "after an unknown outcome asks another control plane than the recorded one (S3)",
    edits: [
      withoutRecord("BootstrapEtcd"),
      {
        file: `${engine}/procedures/bootstrap/rule.ts`,
        find: "const target = controlPlanesOf(seen).find((machine) => machine.declared.name === intent.machine);",
        replace: `const target = controlPlanesOf(seen).at(-1);
  if (target !== undefined) intent = { ...intent, machine: target.declared.name, address: target.declared.address };`,
      },
    ],
  },
  {
    name: "bootstrap-while-one-is-silent",
    stands: ["INC15", "INC16", "guard T4"],
    about: "takes the silence of a configured control plane for the absence of etcd (S2, INC16)",
    edits: [
      {
        file: `${engine}/procedures/bootstrap/rule.ts`,
        find: "function mayHoldData(facts: ClusterFacts, machine: SeenMachine): boolean {",
        replace: `function mayHoldData(facts: ClusterFacts, machine: SeenMachine): boolean {
  if (machine.look.kind === "silent") return false;`,
      },
      {
        file: `${engine}/effects/bootstrap-etcd.ts`,
        find: `othersHeard: noneOf(({ target, look }) => look?.kind === "silent" && target.wasConfigured),`,
        replace: "",
      },
    ],
  },
  {
    name: "bootstrap-only-while-preparing",
    about: "asks the recorded target only while its etcd prepares, though a Bootstrap that died in the middle leaves it stopped",
    tests: [`${engine}/decide.test.ts`],
    edits: [
      {
        file: `${engine}/procedures/bootstrap/rule.ts`,
        find: "const isStopped = stoppedWithoutData(target.look.etcd) &&",
        replace: "const isStopped = target.look.stage === '' &&",
      },
    ],
  },
  {
    name: "bootstrap-beside-a-stopped-target",
    about: "asks another control plane when the etcd of the recorded target has stopped (S3)",
    tests: [`${engine}/decide.test.ts`],
    edits: [
      {
        file: `${engine}/procedures/bootstrap/rule.ts`,
        find: "  // What was seen before the last call is no news of what came of it.",
        replace: `  if (stoppedWithoutData(target.look.etcd)) {
    const other = controlPlanesOf(seen).find((one) => one !== target && one.look.kind === "running" && waitsForEtcd(one.look.etcd));
    if (other !== undefined)
      return { actions: [bootstrap(seen, facts, { ...intent, machine: other.declared.name, address: other.declared.address })] };
  }`,
      },
    ],
  },
  {
    name: "stopped-means-empty",
    about: "takes an etcd that has stopped for one without data, whatever its folder holds (S1)",
    tests: [`${engine}/decide.test.ts`],
    edits: [
      {
        file: `${engine}/assess/etcd-view.ts`,
        find: '&& etcd.localMember === "none" && etcd.hasData === false',
        replace: '&& etcd.localMember === "none"',
      },
    ],
  },
  {
    name: "bootstrap-anybody-without-discovery",
    about: "bootstraps another machine than the endpoint's where nobody finds the others by discovery",
    tests: [`${engine}/decide.test.ts`],
    edits: [
      {
        file: `${engine}/procedures/bootstrap/rule.ts`,
        find: "(only === undefined ? candidates[0] : undefined)",
        replace: "candidates[0]",
      },
    ],
  },
  {
    name: "stop-hangs-up",
    about: "hangs up on the machine that it sent something to when the process is told to stop",
    tests: [`${engine}/effects/sends.test.ts`],
    edits: [
      {
        file: `${engine}/effects/sends.ts`,
        find: "if (underWay === 0 || !isStopInOrder(pass.reason)) end();",
        replace: "if (underWay >= 0 || !isStopInOrder(pass.reason)) end();",
      },
    ],
  },
  {
    name: "any-maintenance-proves",
    stands: ["guard T4"],
    about: "takes whatever waits in maintenance mode at an address for the machine that was configured there (S2, S20)",
    trouble: "founded-and-replaced",
    edits: [
      {
        file: `${engine}/effects/bootstrap-etcd.ts`,
        find: "target.wasConfigured && look.spki !== target.spki",
        replace: 'target.wasConfigured && look.spki === ""',
      },
    ],
  },
  {
    name: "record-without-compare",
    stands: ["INC6", "guard K2"],
    about: "writes the record whatever it says by now (S3, S20, S32)",
    trouble: "paused-before-record",
    edits: [
      {
        file: `${engine}/effects/write-record.ts`,
        find: "await replaceRecord(records, before, record);",
        replace: `await records.patch(
            { namespace, name },
            { type: "json", operations: [{ op: "replace", path: "/spec", value: record.spec }] },
          );`,
      },
    ],
  },
  {
    name: "act-without-lease",
    stands: ["V1", "INC31"],
    about: "sends although another process holds the lease (S32, INC5)",
    trouble: "lease-taken",
    edits: [{ file: `${engine}/effects/guard.ts`, find: "if (!isLeading) throw", replace: "if (key.name === '' && !isLeading) throw" }],
  },
  {
    name: "configure-before-pinning",
    stands: ["guard T2"],
    about: "sends a configuration before the machine's identity is written down (S20)",
    edits: [
      withoutRecord("ConfigureMachine"),
      {
        file: `${engine}/procedures/join/rule.ts`,
        find: "...(plan.facts === facts",
        replace: "...(plan.facts === facts || plan.configure.length > 0",
      },
    ],
  },
  {
    name: "bundle-in-log",
    about: "writes the secrets bundle into the log (S9)",
    edits: [
      {
        file: `${engine}/effects/create-bundle.ts`,
        find: `log.info({ action: "CreateBundle", secretName: action.secret }, "Creating secrets bundle");`,
        replace: `log.info({ action: "CreateBundle", secretName: action.secret, key: bundle.certs.os.key }, "Creating secrets bundle");`,
      },
    ],
  },
  {
    name: "key-in-the-log-without-its-header",
    about: "writes a part of the body of a key into the log (S9)",
    edits: [
      {
        file: `${engine}/effects/create-bundle.ts`,
        find: `log.info({ action: "CreateBundle", secretName: action.secret }, "Creating secrets bundle");`,
        replace: `log.info({ action: "CreateBundle", secretName: action.secret, note: bundle.certs.os.key.split("\\n")[1]?.slice(16) }, "Creating secrets bundle");`,
      },
    ],
  },
  {
    name: "half-a-token-in-an-event",
    about: "tells half of the token of workers in an event (S9)",
    edits: [
      {
        file: `${engine}/effects/create-bundle.ts`,
        find: "`Made the cluster's keys: Secret ${action.secret}.`",
        replace: "`Made the cluster's keys: Secret ${action.secret}, ${bundle.trustdInfo.token.slice(12)}.`",
      },
    ],
  },
  {
    name: "key-in-hex-in-the-record",
    about: "writes bytes of a key into the ClusterRecord, in hex, where its fingerprint belongs (S9)",
    edits: [
      {
        file: "talos/src/secrets/print.ts",
        find: `  return \`sha256:\${createHash("sha256")`,
        replace: `  return \`sha256:\${Buffer.from(bundle.certs.os.key).toString("hex").slice(88, 152)}\`;
  return \`sha256:\${createHash("sha256")`,
      },
    ],
  },
  {
    name: "status-written-every-pass",
    stands: ["W46"],
    about: "writes a status that says nothing new (Li2)",
    edits: [
      {
        file: "operator/src/controllers/shared/status-writer.ts",
        find: "if (after === before) return pauses.end(key);",
        replace: "",
      },
    ],
  },
  {
    name: "earlier-life-forgotten",
    stands: ["INC21"],
    about: "takes a cluster whose record and bundle were lost for a new one (INC21, S5)",
    trouble: "all-lost",
    // What tells of an earlier life also tells of machines that hold its keys: each guard is enough.
    edits: [
      { file: `${engine}/gates/keep-keys.ts`, find: "if (sign !== undefined)", replace: 'if (sign === "")' },
      { file: `${engine}/gates/keep-keys.ts`, find: "if (holders !== undefined)", replace: 'if (holders === "")' },
    ],
  },
  {
    name: "configured-machines-forgotten",
    stands: ["INC22"],
    about: "makes new keys although machines were configured with keys that were lost (INC21, S5)",
    trouble: "lost-before-founding",
    edits: [{ file: `${engine}/gates/keep-keys.ts`, find: "if (holders !== undefined)", replace: 'if (holders === "")' }],
  },
  {
    name: "bundle-owned",
    stands: ["INC20"],
    about: "lets the bundle belong to an object that can go (INC20, S8)",
    edits: [
      {
        file: "operator/src/secrets/bundle-store.ts",
        find: "finalizers: [finalizers.bundle],",
        replace: `finalizers: [finalizers.bundle],
            ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "x", uid: "x" }],`,
      },
    ],
  },
  {
    name: "bundle-mutable",
    about: "leaves the bundle open to changes (S8)",
    edits: [{ file: "operator/src/secrets/bundle-store.ts", find: "immutable: true,", replace: "" }],
  },
  {
    name: "keys-before-finalizer",
    stands: ["INC12"],
    about: "makes keys before the object that guards them is held (S23, INC12)",
    edits: [{ file: `${engine}/decide.ts`, find: "  keepFinalizers,\n  keepKeys,", replace: "  keepKeys,\n  keepFinalizers," }],
  },
  {
    name: "changed-keys-used",
    stands: ["guard K1"],
    about: "goes on with a bundle that is not the recorded one (S6, S7)",
    trouble: "bundle-changed",
    edits: [
      {
        file: "operator/src/secrets/bundle-store.ts",
        find: "stored.fingerprint !== expected.fingerprint",
        replace: 'stored.fingerprint === ""',
      },
      {
        file: `${engine}/gates/keep-keys.ts`,
        find: "bundle.value.fingerprint !== facts.bundle.fingerprint || bundle.value.clusterId !== facts.clusterId",
        replace: 'bundle.value.fingerprint === ""',
      },
    ],
  },
  {
    name: "reprovision-in-silence",
    stands: ["guard T1"],
    about: "configures a machine again that came back with another key (S22)",
    tests: ["testkit/src/stories/identity.test.ts"],
    edits: [
      {
        file: `${engine}/procedures/join/plan.ts`,
        find: "if (wasConfigured && fact.spki !== look.spki &&",
        replace: 'if (wasConfigured && fact.spki === "" &&',
      },
    ],
  },
  {
    name: "founded-because-answered",
    stands: ["INC18", "V6"],
    about: "takes the answer to the bootstrap for the proof of it (S4, INC18)",
    trouble: "rebooted-founding",
    edits: [
      {
        file: `${engine}/procedures/bootstrap/rule.ts`,
        find: "const founded = foundedBy(controlPlanesOf(seen));",
        replace: `const founded =
      foundedBy(controlPlanesOf(seen)) ??
      (facts.bootstrapIntent !== undefined && seen.sent.get("Bootstrap")?.outcome === "answered"
        ? { ...facts.bootstrapIntent, members: [] }
        : undefined);`,
      },
    ],
  },
  {
    name: "never-asked-again",
    about: "does not ask again a machine that lost the request with its memory (Li1)",
    trouble: "rebooted-founding",
    edits: [
      {
        file: `${engine}/effects/bootstrap-etcd.ts`,
        find: "if (!action.onlyAfterReboot || hasStopped(await asked.ask(etcdNow)) || !isKnown) return undefined;",
        replace: "if (!action.onlyAfterReboot && (hasStopped(await asked.ask(etcdNow)) || !isKnown)) return undefined;",
      },
    ],
  },
  {
    name: "new-record-knows-nothing",
    stands: ["INC19"],
    about: "bootstraps etcd from a record that is younger than the machines' configuration (S2, INC19)",
    trouble: "record-lost",
    edits: [
      {
        file: `${engine}/assess/etcd-view.ts`,
        find: 'return facts.bundle.wasFound && machine.look.kind !== "maintenance";',
        replace: "return false;",
      },
      // The record that is made anew knows them from their TalosMachines: either would do.
      {
        file: `${engine}/procedures/join/first-facts.ts`,
        find: "machines: wasFound ? toldMachines(seen) : [],",
        replace: "machines: wasFound ? toldMachines(seen).slice(0, 0) : [],",
      },
      // Each pass looks for them again.
      {
        file: `${engine}/observe/told-machines.ts`,
        find: "const told = isTold ? ",
        replace: "const told = isTold && seen.now < 0 ? ",
      },
    ],
  },
  {
    name: "access-secret-of-another",
    about: "writes the kubeconfig over somebody else's Secret (S7)",
    trouble: "names-taken",
    edits: [
      { file: `${engine}/procedures/access/rule.ts`, find: "if (!isOurs) return false;", replace: "" },
      { file: "operator/src/secrets/access-store.ts", find: "if (!seen.isOurs) return seen;", replace: "" },
    ],
  },
  {
    name: "foreign-bundle-taken",
    stands: ["W36"],
    about: "takes a Secret for the bundle that it did not make",
    trouble: "names-taken",
    edits: [{ file: `${engine}/gates/keep-keys.ts`, find: "if (!bundle.value.isOurs)", replace: 'if (bundle.value.clusterId === "x")' }],
  },
  {
    name: "pause-ignored",
    stands: ["W8"],
    about: "works on a paused cluster (S31)",
    trouble: "paused-by-person",
    edits: [
      {
        file: `${engine}/observe/see.ts`,
        find: "const mode = effectiveMode(controlPlane.metadata, options.talosClusters.store);",
        replace: "const mode = effectiveMode({}, options.talosClusters.store);",
      },
      {
        file: `${engine}/effects/demand-reconciled.ts`,
        find: "const live = { ...metadata, annotations: controlPlane?.metadata.annotations ?? {} };",
        replace: "const live = { ...metadata, annotations: {}, ownerReferences: [] };",
      },
    ],
  },
  {
    name: "certificates-of-the-future",
    about: "makes client certificates that begin now by a clock that may be ahead (Li1)",
    trouble: "clock-jump",
    edits: [
      {
        file: "operator/src/secrets/credentials.ts",
        find: "export const BACKDATE_MS = 25 * 3_600_000;",
        replace: "export const BACKDATE_MS = 60_000;",
      },
    ],
  },
  {
    name: "waits-in-circles",
    about: "tries again at once what cannot be done without the lease (Cost)",
    trouble: "stale-watches",
    edits: [
      {
        file: `${engine}/effects/create-bundle.ts`,
        find: "    lease,\n",
        replace: '    lease: async ({ effects }) => ((await effects.leading.confirm()) ? undefined : "not-now"),\n',
      },
    ],
  },
];
