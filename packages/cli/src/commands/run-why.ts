import { systemClock } from "@talos-operator/adapters";
import { explain, printExplanation, readSubject } from "@talos-operator/operator";
import { requiredString, type CommandContext, type FlagValues } from "../command.ts";
import { withKube } from "../process/kube-of-flags.ts";
import { askedObject, noSuchObject, outputForm } from "./asked-object.ts";

export async function runWhy(flags: FlagValues, { stdout }: CommandContext): Promise<void> {
  const form = outputForm(requiredString(flags, "output"));
  const asked = askedObject(requiredString(flags, "object"));
  await withKube(flags, async ({ client, namespace }) => {
    const subject = await readSubject(client, asked.type, namespace, asked.name);
    if (subject === undefined) throw noSuchObject(asked, namespace);
    const explanation = explain(subject);
    stdout.write(form === "json" ? `${JSON.stringify(explanation, undefined, 2)}\n` : printExplanation(explanation, systemClock.now()));
  });
}
