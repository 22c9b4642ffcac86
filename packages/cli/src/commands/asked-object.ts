import { askableKinds, resourceOfWord } from "@talos-operator/operator";
import type { ResourceType } from "@talos-operator/kube-runtime";
import { CliError } from "../cli-error.ts";

/** An object as a person names it: `tcp/demo`. */
export interface AskedObject {
  readonly type: ResourceType;
  readonly name: string;
}

/** @throws CliError when the word names no object of a kind that is known */
export function askedObject(asked: string): AskedObject {
  const [word = "", name = "", ...rest] = asked.split("/");
  if (word === "" || name === "" || rest.length > 0)
    throw new CliError(`"${asked}" names no object`, "Write <kind>/<name>, for example tcp/demo.", { exitCode: 2 });
  const type = resourceOfWord(word);
  if (type === undefined)
    throw new CliError(`"${word}" is no kind that this command knows`, `Use one of ${askableKinds.join(", ")}.`, { exitCode: 2 });
  return { type, name };
}

/** The object was asked for, and is not there. */
export function noSuchObject({ type, name }: AskedObject, namespace: string): CliError {
  return new CliError(
    `there is no ${type.kind} ${name} in namespace ${namespace}`,
    `Look with \`kubectl get ${type.plural} -A\`; -n names the namespace, --kubeconfig the cluster.`,
  );
}

/** Text for people, or data. @throws CliError */
export function outputForm(form: string): "text" | "json" {
  if (form !== "text" && form !== "json") throw new CliError(`"${form}" is no form of output`, "Use text or json.", { exitCode: 2 });
  return form;
}
