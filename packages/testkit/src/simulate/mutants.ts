/** A fault planted into the product's own source while it is loaded: the harness must notice. */
export interface Mutant {
  readonly name: string;
  /** Which rule it breaks, or which incident of the field it replays. */
  readonly about: string;
  readonly edits: readonly SourceEdit[];
}

export interface SourceEdit {
  /** Below `packages/`. */
  readonly file: string;
  /** Occurs exactly once in the file; otherwise loading fails, so that a mutant cannot go stale in silence. */
  readonly find: string;
  readonly replace: string;
}

const brain = "operator/src/controllers/taloscontrolplane";

/** The last check before a bootstrap is sent, gone. */
const unguardedBootstrap: SourceEdit = {
  file: `${brain}/effects/bootstrap-etcd.ts`,
  find: "(facts) => facts.bootstrapDone === undefined && facts.bootstrapIntent?.machine === action.machine",
  replace: "() => true",
};

/** The last check before a configuration is sent, gone. */
const unguardedConfigure: SourceEdit = {
  file: `${brain}/effects/configure-machine.ts`,
  find: "return fact?.configuredAt !== undefined && fact.spki === ifSpki",
  replace: "return fact === undefined || fact.spki !== undefined || fact.spki === ifSpki",
};

export const mutants: readonly Mutant[] = [
  {
    name: "double-bootstrap",
    about: "asks a second control plane to found etcd after the first (INC16)",
    edits: [
      {
        file: `${brain}/effects/bootstrap-etcd.ts`,
        find: "      await client.bootstrap({ timeoutMs, signal });",
        replace: `      await client.bootstrap({ timeoutMs, signal });
      for (const other of action.probe.filter((target) => target.machine !== action.machine)) {
        await asAdmin(other.address, effects, (second) => second.bootstrap({ timeoutMs, signal }));
      }`,
      },
    ],
  },
  {
    name: "bootstrap-intent-in-memory",
    about: "sends the bootstrap without having written down to whom (INC18, INC19)",
    edits: [
      unguardedBootstrap,
      {
        file: `${brain}/rules/bootstrap.ts`,
        find: `      { kind: "WriteRecord", ifResourceVersion: resourceVersion, facts: next, why: "BootstrapIntent" },`,
        replace: "",
      },
    ],
  },
  {
    name: "regenerate-missing-bundle",
    about: "makes new keys when the bundle is not there (INC21, INC22)",
    edits: [
      {
        file: `${brain}/rules/keep-keys.ts`,
        find: `  if (bundle.kind === "absent")
    return lost(`,
        replace: `  if (bundle.kind === "absent") return { actions: [{ kind: "CreateBundle", secret: name }] };
  if (false as boolean)
    return lost(`,
      },
      {
        file: `${brain}/execute.ts`,
        find: "if (record !== undefined || !(await leading.confirm())) return;",
        replace: "if (!(await leading.confirm())) return;",
      },
    ],
  },
  {
    name: "bootstrap-another-target",
    about: "after an unknown outcome asks another control plane than the recorded one (S3)",
    edits: [
      unguardedBootstrap,
      {
        file: `${brain}/rules/bootstrap.ts`,
        find: "const target = controlPlanesOf(seen).find((machine) => machine.declared.name === intent.machine);",
        replace: `const target = controlPlanesOf(seen).at(-1);
  if (target !== undefined) intent = { ...intent, machine: target.declared.name, address: target.declared.address };`,
      },
    ],
  },
  {
    name: "bootstrap-while-one-is-silent",
    about: "takes the silence of a configured control plane for the absence of etcd (S2, INC16)",
    edits: [
      {
        file: `${brain}/rules/bootstrap.ts`,
        find: "function mayHoldData(facts: ClusterFacts, machine: SeenMachine): boolean {",
        replace: `function mayHoldData(facts: ClusterFacts, machine: SeenMachine): boolean {
  if (machine.look.kind === "silent") return false;`,
      },
      {
        file: `${brain}/effects/bootstrap-etcd.ts`,
        find: `if (look.kind === "silent" && !target.wasConfigured) return;`,
        replace: `if (look.kind === "silent") return;`,
      },
    ],
  },
  {
    name: "configure-before-pinning",
    about: "sends a configuration before the machine's identity is written down (S20)",
    edits: [
      unguardedConfigure,
      {
        file: `${brain}/rules/configure-machines.ts`,
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
        file: `${brain}/execute.ts`,
        find: `log.info({ action: "CreateBundle", secret }, "Creating secrets bundle");`,
        replace: `log.info({ action: "CreateBundle", secret, key: bundle.certs.os.key }, "Creating secrets bundle");`,
      },
    ],
  },
  {
    name: "status-written-every-pass",
    about: "writes a status that says nothing new (Li2)",
    edits: [
      {
        file: "operator/src/controllers/shared/status-writer.ts",
        find: "if (after === before) return undefined;",
        replace: "",
      },
    ],
  },
];
