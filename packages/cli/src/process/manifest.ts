import { readFileSync } from "node:fs";
import { KubernetesYamlError, parseKubernetesYaml } from "@talos-operator/kube-runtime/yaml";
import { CliError } from "../cli-error.ts";

/** One object of a manifest, checked only as far as applying it needs. */
export interface ManifestObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly [key: string]: unknown;
}

/**
 * Reads a file of YAML documents as kubectl does. Empty documents are skipped.
 *
 * @param edit changes the text before it is parsed
 */
export function readManifest(path: string, edit = (text: string): string => text): readonly ManifestObject[] {
  let text: string;
  try {
    text = edit(readFileSync(path, "utf8"));
  } catch (error) {
    throw new CliError(`cannot read the manifest ${path}: ${(error as Error).message}`, "Give the path of a YAML file that you may read.", {
      cause: error,
    });
  }
  let documents: readonly unknown[];
  try {
    documents = parseKubernetesYaml(text);
  } catch (error) {
    if (!(error instanceof KubernetesYamlError)) throw error;
    throw new CliError(`${path} is not valid YAML: ${error.message}`, "Mend the line that the message names.", { cause: error });
  }
  const objects = documents.filter((document) => document !== null && document !== undefined);
  if (objects.length === 0) throw new CliError(`${path} holds no object`, "Put at least one Kubernetes object into it.");
  return objects.map((document, index) => checkObject(document, path, index));
}

function checkObject(document: unknown, path: string, index: number): ManifestObject {
  const object = document as Partial<ManifestObject> | undefined;
  if (typeof object?.apiVersion !== "string" || typeof object.kind !== "string" || typeof object.metadata?.name !== "string") {
    throw new CliError(`document ${index + 1} of ${path} lacks apiVersion, kind or metadata.name`, "Write it as a Kubernetes object.");
  }
  return object as ManifestObject;
}

/** Every machine address that the objects name, in order of appearance and once each. */
export function machineAddresses(objects: readonly ManifestObject[]): readonly string[] {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (typeof value === "object" && value !== null) {
      for (const [key, child] of Object.entries(value)) {
        if (key === "machines" && Array.isArray(child)) {
          for (const machine of child as { address?: unknown }[]) if (typeof machine?.address === "string") found.add(machine.address);
        } else visit(child);
      }
    }
  };
  visit(objects);
  return [...found];
}
