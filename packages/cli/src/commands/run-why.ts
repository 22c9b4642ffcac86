import { systemClock } from "@talos-operator/adapters";
import { askableKinds, explain, printExplanation, readSubject, resourceOfWord } from "@talos-operator/operator";
import { CliError } from "../cli-error.ts";
import { requiredString, type CommandContext, type FlagValues } from "../command.ts";
import { withKube } from "../process/kube-of-flags.ts";

export async function runWhy(flags: FlagValues, { stdout }: CommandContext): Promise<void> {
  const form = requiredString(flags, "output");
  if (form !== "text" && form !== "json") throw new CliError(`"${form}" is no form of output`, "Use text or json.", { exitCode: 2 });
  const asked = requiredString(flags, "object");
  const [word = "", name = "", ...rest] = asked.split("/");
  if (word === "" || name === "" || rest.length > 0)
    throw new CliError(`"${asked}" names no object`, "Write <kind>/<name>, for example tcp/demo.", { exitCode: 2 });
  const type = resourceOfWord(word);
  if (type === undefined)
    throw new CliError(`"${word}" is no kind that this command knows`, `Use one of ${askableKinds.join(", ")}.`, { exitCode: 2 });

  await withKube(flags, async ({ client, namespace }) => {
    const subject = await readSubject(client, type, namespace, name);
    if (subject === undefined)
      throw new CliError(
        `there is no ${type.kind} ${name} in namespace ${namespace}`,
        `Look with \`kubectl get ${type.plural} -A\`; -n names the namespace, --kubeconfig the cluster.`,
      );
    const explanation = explain(subject);
    stdout.write(form === "json" ? `${JSON.stringify(explanation, undefined, 2)}\n` : printExplanation(explanation, systemClock.now()));
  });
}
