import { existsSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { AccessFiles } from "./access-files.ts";
import type { NamedObject } from "./apply-object.ts";
import { exampleManifest } from "./example.ts";

/** How this process was started: what is printed for a person to type is typed in the same way. */
export interface StartedAs {
  /** Words after the program: `demo --data-dir D`. */
  readonly words: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  /** Folder of this process. */
  readonly folder: string;
  /** The command in the root of the checkout that this process runs from; absent: it was installed. */
  readonly program?: string | undefined;
}

export function startedAs(): StartedAs {
  return { words: process.argv.slice(2), environment: process.env, folder: process.cwd(), program: checkoutProgram() };
}

/** A shell runs it, so Windows has none; a bundle is no checkout. */
function checkoutProgram(): string | undefined {
  if (process.platform === "win32" || !import.meta.url.endsWith(".ts")) return undefined;
  return fileURLToPath(new URL("../../../../talos-operator", import.meta.url));
}

/** The command line of this process, or another command of the program, as a person types it in the shell that this one was typed in. */
export function commandLine(started: StartedAs, other?: readonly string[]): string {
  const { words, environment, program } = started;
  const script = environment["npm_lifecycle_event"];
  const [first = "", ...rest] = words;
  if (other === undefined && script === "start" && first === "demo")
    return ["npm start", ...(rest.length === 0 ? [] : ["--", ...rest.map(quoted)])].join(" ");
  const isScript = script === "start" || script === "talos-operator";
  // npm changes the folder: what was typed for it is repeated for it, for paths in it are read there.
  const isNpm = isScript && (other === undefined || program === undefined);
  const name = isNpm ? "npm run talos-operator --" : program === undefined ? "talos-operator" : programPath(started, program);
  return [name, ...(other ?? words).map(quoted)].join(" ");
}

/** Without a slash a shell would look for it on its PATH. */
function programPath(started: StartedAs, program: string): string {
  const path = shellPath(started, program);
  return path.includes("/") ? path : `./${path}`;
}

/** How to look at what runs and to work with it. */
export function accessHints(
  started: StartedAs,
  {
    kubeconfig,
    applied,
    files,
    objectStorage,
    chartRepository,
    spare,
  }: {
    readonly kubeconfig: string;
    readonly applied: readonly NamedObject[];
    readonly files: readonly AccessFiles[];
    /** Host and port of the S3 endpoint that is served beside. */
    readonly objectStorage?: string | undefined;
    /** URL of the repository of charts that is served beside; absent where no helm can install them. */
    readonly chartRepository?: string | undefined;
    /** Address of a machine that no object names. */
    readonly spare?: string | undefined;
  },
): readonly string[] {
  const [first] = applied.filter(({ kind }) => SHOWN.has(kind));
  const inNamespace = (namespace = "default"): string => (namespace === "default" ? "" : ` -n ${namespace}`);
  const hasComposition = applied.some(({ kind }) => kind === "KubernetesCluster");
  const grown = isExample(started, applied) ? spare : undefined;
  const backup = exampleFile(
    started,
    applied,
    objectStorage === EXAMPLE_STORE ? "talos-etcd-backup.yaml" : "talos-etcd-backup-directory.yaml",
  );
  const addon = chartRepository === EXAMPLE_CHARTS ? exampleFile(started, applied, "talos-cluster-addon.yaml") : undefined;
  return [
    "",
    "In another terminal:",
    `  export KUBECONFIG=${quoted(kubeconfig)}`,
    `  kubectl get ${hasComposition ? "kubernetesclusters,machines," : ""}talosclusters,taloscontrolplanes,talosworkers,talosmachines${inNamespace(first?.metadata.namespace)}`,
    ...(first === undefined
      ? []
      : [
          `  ${commandLine(started, ["why", `${first.kind.toLowerCase()}/${first.metadata.name}`])}${inNamespace(first.metadata.namespace)}`,
        ]),
    ...(grown === undefined || first === undefined ? [] : [`  ${addWorker(first, grown)}   # adds a worker`]),
    ...(backup === undefined ? [] : [`  kubectl apply -f ${shellPath(started, backup)}   # backs up its etcd; kubectl get teb`]),
    ...(addon === undefined ? [] : [`  kubectl apply -f ${shellPath(started, addon)}   # installs a chart by Helm; kubectl get tca,tcar`]),
    ...clusterHints(files),
  ];
}

/** How to reach clusters with the tools of Kubernetes and Talos. */
export function clusterHints(files: readonly AccessFiles[]): readonly string[] {
  return files.flatMap((one) => [
    "",
    `Cluster ${one.cluster}:`,
    `  kubectl --kubeconfig ${quoted(one.kubeconfig)} get nodes -o wide`,
    `  talosctl --talosconfig ${quoted(one.talosconfig)} get members`,
  ]);
}

/** A patch names no version: a file that does would undo an upgrade. */
function addWorker({ metadata: { name } }: NamedObject, address: string): string {
  const patch = [{ op: "add", path: "/spec/worker/metalSpec/machines/-", value: { address } }];
  return `kubectl patch taloscluster ${name} --type json -p '${JSON.stringify(patch)}'`;
}

/** What stays when it is stopped, how to go on, and how to begin anew. */
export function closingHints(
  started: StartedAs,
  { folder, kept, anew }: { readonly folder: string; readonly kept: string; readonly anew: string | undefined },
): readonly string[] {
  return [
    `Stopped. ${kept} ${shortPath(started, folder)}.`,
    `  To go on:      ${commandLine(started)}`,
    ...(anew === undefined ? [] : [`  To start anew: ${anew}`]),
  ];
}

const SHOWN: ReadonlySet<string> = new Set(["KubernetesCluster", "TalosCluster", "TalosControlPlane"]);

/** What `talos-etcd-backup.yaml` names. */
const EXAMPLE_STORE = "127.0.0.1:9333";

/** What `talos-cluster-addon.yaml` names. */
const EXAMPLE_CHARTS = "https://127.0.0.1:9444";

/** Whether the demo made its example, and nothing else. */
function isExample({ words }: StartedAs, applied: readonly NamedObject[]): boolean {
  return !words.includes("--manifest") && words[0] === "demo" && applied.length === 1;
}

/** An example for what the demo makes, where both are in a checkout. */
function exampleFile(started: StartedAs, applied: readonly NamedObject[], name: string): string | undefined {
  if (!isExample(started, applied)) return undefined;
  const file = join(dirname(exampleManifest()), "..", name);
  return existsSync(file) ? file : undefined;
}

/** A path as a person types it in the shell that the command was typed in. */
export function shellPath(started: StartedAs, path: string): string {
  return quoted(shortPath(started, path));
}

/** Relative to the folder of the shell, where it is inside. npm changes the folder, and says which one it was. */
function shortPath({ environment, folder }: StartedAs, path: string): string {
  const from = environment["INIT_CWD"] ?? folder;
  const short = relative(from, resolve(path));
  return short === "" || short.startsWith(`..${sep}`) || short === ".." ? path : short;
}

/** For a shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
