import { identityOfDocument, type ConfigDocument } from "../document/load.ts";
import { printDocuments } from "../document/print.ts";
import type { ConfigMap } from "../document/value.ts";
import { identityText, legacyKind } from "../document-identity.ts";
import { generationOf, loadConfig, type PatchOptions } from "../patch/patch.ts";
import type { ConfigChange } from "./effect.ts";

/**
 * The new config without some of its changes: each document that one of them lies in, and of the v1alpha1 document each field of `machine` and `cluster`, is as
 * the old config has it. What else changes there is left out with it.
 *
 * @throws ConfigError for a text that cannot be read strictly
 */
export function configWithoutChanges(
  before: string,
  after: string,
  changes: readonly Pick<ConfigChange, "document" | "path">[],
  { contract }: PatchOptions = {},
): string {
  const generation = generationOf(contract);
  const old = new Map(loadConfig(before, generation).map((document) => [identityText(identityOfDocument(document)), document]));
  const left = new Map(loadConfig(after, generation).map((document) => [identityText(identityOfDocument(document)), document]));
  for (const { document: identity, path } of changes) {
    const [was, is] = [old.get(identity), left.get(identity)];
    if (was === undefined) left.delete(identity);
    else if (is === undefined || is.shape.kind !== legacyKind) left.set(identity, was);
    else left.set(identity, withField(is, was, fieldOf(path)));
  }
  return printDocuments([...left.values()], generation);
}

/** `machine.network.interfaces[0].mtu` lies in the field `machine.network`; what is no part of a section is a field itself. */
function fieldOf(path: string): readonly [string, string?] {
  const [, section = "", field] = /^(\w+)(?:\.(\w+))?/.exec(path) ?? [];
  return field === undefined ? [section] : [section, field];
}

/** The document with one field as another one has it. */
function withField(document: ConfigDocument, from: ConfigDocument, [section, field]: readonly [string, string?]): ConfigDocument {
  const [is, was] = [document.members.get(section), from.members.get(section)];
  const isInside = field !== undefined && is instanceof Map && was instanceof Map;
  const value = isInside ? put(is, field, was.get(field)) : was;
  return { ...document, members: put(document.members, section, value) };
}

function put(map: ConfigMap, key: string, value: ReturnType<ConfigMap["get"]>): ConfigMap {
  const next = new Map(map);
  if (value === undefined) next.delete(key);
  else next.set(key, value);
  return next;
}
