import { systemClock, systemTimers } from "@talos-operator/adapters";
import { findInTrees, readTreeInput, statusTrees, type TreeNode } from "@talos-operator/operator";
import { CliError } from "../cli-error.ts";
import { booleanFlag, requiredString, stringFlag, type CommandContext, type FlagValues } from "../command.ts";
import { renderTrees } from "../live/render-trees.ts";
import { createScreen } from "../live/screen.ts";
import { terminalOf } from "../live/terminal.ts";
import { timeOfDay } from "../live/times.ts";
import { withKube, type KubeOfFlags } from "../process/kube-of-flags.ts";
import { untilAborted } from "../process/until-aborted.ts";
import { askedObject, noSuchObject, outputForm, type AskedObject } from "./asked-object.ts";

/** Machines that are alike are shown up to this many. */
const MOST_ALIKE = 10;
/** Least time from one look to the next, milliseconds. */
const LOOK_EVERY_MS = 1_000;
/** What it takes to read thousands of machines must not be all that the API does. */
const REST_FACTOR = 5;

interface ShowOptions {
  readonly withNamespace: boolean;
  readonly most?: number;
}

export async function runStatus(flags: FlagValues, context: CommandContext): Promise<void> {
  const form = outputForm(requiredString(flags, "output"));
  const word = stringFlag(flags, "object");
  const asked = word === undefined ? undefined : askedObject(word);
  const isEverywhere = booleanFlag(flags, "all-namespaces");
  const isWatch = booleanFlag(flags, "watch");
  if (isEverywhere && asked !== undefined)
    throw new CliError("an object is in one namespace", "Leave out --all-namespaces, or the object.", { exitCode: 2 });
  if (isWatch && form === "json") throw new CliError("--watch shows text only", "Leave out --watch, or -o json.", { exitCode: 2 });
  await withKube(flags, async (kube) => {
    const look = (): Promise<readonly TreeNode[]> => treesOf(kube, asked, isEverywhere);
    const options: ShowOptions = { withNamespace: isEverywhere, ...(booleanFlag(flags, "all") ? {} : { most: MOST_ALIKE }) };
    if (isWatch) return watch(look, options, context);
    const trees = await look();
    const text =
      form === "json"
        ? JSON.stringify(trees, undefined, 2)
        : trees.length === 0
          ? `There is no cluster in ${isEverywhere ? "any namespace" : `namespace ${kube.namespace}`}.`
          : renderTrees(trees, { ...options, terminal: terminalOf(context.stdout, process.env), isStill: true }).join("\n");
    context.stdout.write(`${text}\n`);
  });
}

/** @throws CliError when the object that was asked for is not there */
async function treesOf(
  { client, namespace }: KubeOfFlags,
  asked: AskedObject | undefined,
  isEverywhere: boolean,
): Promise<readonly TreeNode[]> {
  const trees = statusTrees(await readTreeInput(client, isEverywhere ? undefined : namespace));
  if (asked === undefined) return trees;
  const found = findInTrees(trees, { kind: asked.type.kind, namespace, name: asked.name });
  if (found === undefined) throw noSuchObject(asked, namespace);
  return [found];
}

/** Until Ctrl-C. An API that does not answer ends it, as it ends kubectl. */
async function watch(look: () => Promise<readonly TreeNode[]>, options: ShowOptions, { signal, stdout }: CommandContext): Promise<void> {
  const screen = createScreen(stdout, process.env, { ...options, beginsWhole: true });
  while (!signal.aborted) {
    const begun = performance.now();
    const trees = await look();
    screen.show({ trees, at: timeOfDay(systemClock.now()), ...(trees.length === 0 ? { title: "There is no cluster." } : {}) });
    const pauseMs = Math.max(LOOK_EVERY_MS, (performance.now() - begun) * REST_FACTOR);
    await Promise.race([systemTimers.sleep(pauseMs), untilAborted(signal)]);
  }
}
