import { contractFor, parseContract } from "../../versions/contract.ts";
import { identityOf, identityText, legacyKind, type DocumentIdentity } from "../document-identity.ts";
import { generationOf } from "../patch/patch.ts";
import { schemaOf, type Schema } from "../schema/notation.ts";
import { emitYaml } from "../yaml/emit.ts";
import type { YamlNode } from "../yaml/node.ts";
import { readYaml } from "../yaml/read.ts";
import { differences, type Difference } from "./diff.ts";
import { documentRules } from "./document-rules.ts";
import { worseEffect, type ConfigChange, type ConfigEffect, type ConfigEffects } from "./effect.ts";
import { hiddenText, isSecretPath, shownText, shownValue } from "./redact.ts";
import { findRule, type EffectRule } from "./rule.ts";
import { rebootsForPath, v1alpha1Rules } from "./v1alpha1-rules.ts";

/**
 * What a new config does to a machine that runs the old one: one entry per changed field, and the gravest effect of all.
 *
 * Fields and kinds that this release does not know are `unknown`, never an error: configs of newer Talos can be compared. Neither config is
 * validated.
 *
 * @param talosVersion of the machine, for example `v1.13.2`: up to 1.13 some changes make the machine reboot by itself, from 1.14 none does
 * @throws ConfigError for text that is not YAML, `INVALID_VERSION`
 */
export function classifyConfigEffects(oldText: string, newText: string, talosVersion: string): ConfigEffects {
  const contract = contractFor(talosVersion);
  const { major, minor } = parseContract(contract);
  const context: Context = { schema: schemaOf(generationOf(contract)), minor: major > 1 ? Number.POSITIVE_INFINITY : minor };
  const before = documentsOf(oldText);
  const after = documentsOf(newText);
  const changes = [
    ...[...after].flatMap(([key, document]) => changesOf(before.get(key), document, context)),
    ...[...before].flatMap(([key, document]) => (after.has(key) ? [] : changesOf(document, undefined, context))),
  ];
  return {
    worst: changes.reduce<ConfigEffect | "none">((worst, { effect }) => (worst === "none" ? effect : worseEffect(worst, effect)), "none"),
    services: [...new Set(changes.flatMap(({ services }) => services))],
    rebootsItself: changes.some(({ rebootsItself }) => rebootsItself),
    changes,
  };
}

/** The rule for a field of a document kind, by its schema path; `undefined` when nobody has classified it. */
export function effectRuleOf(kind: string, schemaPath: string): EffectRule | undefined {
  return findRule(kind === legacyKind ? v1alpha1Rules : (documentRules.get(kind) ?? []), schemaPath);
}

interface Context {
  readonly schema: Schema;
  readonly minor: number;
}

interface Document {
  readonly identity: DocumentIdentity;
  readonly root: YamlNode;
}

function documentsOf(text: string): ReadonlyMap<string, Document> {
  const documents = new Map<string, Document>();
  for (const { root } of readYaml(text)) {
    const identity = root === undefined ? undefined : identityOf(root);
    if (root === undefined || identity === undefined) continue;
    const own = identity.kind === legacyKind ? { ...identity, apiVersion: "", name: "" } : identity;
    documents.set(identityText(own), { identity: own, root });
  }
  return documents;
}

function changesOf(before: Document | undefined, after: Document | undefined, context: Context): readonly ConfigChange[] {
  const { identity } = (after ?? before) as Document;
  const type = context.schema.document(identity.kind)?.type;
  const isWhole = identity.kind !== legacyKind && (before === undefined || after === undefined);
  const found = isWhole
    ? [{ path: "", schemaPath: "", isKnown: type !== undefined, before: before?.root, after: after?.root }]
    : differences(type, before?.root, after?.root);
  return found.map((difference) => changeOf(identity, difference, context.minor));
}

function changeOf(identity: DocumentIdentity, difference: Difference, minor: number): ConfigChange {
  const { before, after, path, schemaPath } = difference;
  const { kind, name } = identity;
  const change = before === undefined ? "added" : after === undefined ? "removed" : "changed";
  const rule = difference.isKnown ? effectRuleOf(kind, schemaPath) : undefined;
  const effect = rule?.when[change] ?? rule?.effect ?? "unknown";
  const rebootsItself = kind === legacyKind && rebootsForPath(schemaPath, minor);
  const isRaised = rebootsItself && worseEffect(effect, "reboot") !== effect;
  const shown = (node: YamlNode | undefined): string | undefined => (node === undefined ? undefined : textOf(kind, schemaPath, node));
  return {
    document: identityText(identity),
    path,
    change,
    effect: isRaised ? "reboot" : effect,
    services: isRaised || effect !== "restarts-service" ? [] : (rule?.services ?? []).map((service) => service.replace("<name>", name)),
    rebootsItself,
    reason: isRaised
      ? "this Talos applies it with a reboot only"
      : (rule?.reason ?? "this release does not know the field, so it may need a reboot"),
    before: shown(before),
    after: shown(after),
  };
}

/** A value as text for people; a whole document is not shown, its fields are in the config. */
function textOf(kind: string, schemaPath: string, node: YamlNode): string | undefined {
  if (schemaPath === "") return undefined;
  if (isSecretPath(kind, schemaPath)) return hiddenText;
  return node.type === "scalar" ? shownText(node.text) : emitYaml(shownValue(node)).trimEnd();
}
