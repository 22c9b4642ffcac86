import { equalJson, type JsonObject } from "../json.ts";
import { isIP } from "../net-address.ts";
import { objectAt, objectsAt, stringAt, stringsAt, without } from "../request/json.ts";
import { problemsOfLabelKey, problemsOfLabelValue } from "../request/qualified-name.ts";
import type { FieldError } from "../schema/index.ts";
import { inside } from "./defaults/fill.ts";
import { duplicate, forbiddenValue, invalidValue, required, unsupported } from "./rule-errors.ts";

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** `podCIDR` is the first of `podCIDRs`; where they say two things the older field counts. */
export function prepareNode(node: JsonObject): JsonObject {
  return inside(node, "spec", (spec) => {
    const one = stringAt(spec, "podCIDR") ?? "";
    const given = stringsAt(spec, "podCIDRs");
    const all = one !== "" && given[0] !== one ? [one] : given;
    return all.length === 0 ? without(spec, "podCIDR", "podCIDRs") : { ...spec, podCIDR: all[0], podCIDRs: all };
  });
}

/** What a Node may not say; where it is, and the network of its pods, never change once they are known. */
export function validateNode(node: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const spec = objectAt(node, "spec");
  const before = objectAt(old, "spec");
  const errors = [...validateTaints(objectsAt(spec, "taints")), ...validateNetworks(stringsAt(spec, "podCIDRs"))];
  const fixed = (field: string, name: string): FieldError =>
    forbiddenValue(field, `node updates may not change ${name} except from "" to valid`);
  const networks = stringsAt(before, "podCIDRs");
  if (networks.length > 0 && !equalJson(networks, stringsAt(spec, "podCIDRs"))) errors.push(fixed("spec.podCIDRs", "podCIDR"));
  const provider = stringAt(before, "providerID") ?? "";
  if (provider !== "" && provider !== stringAt(spec, "providerID")) errors.push(fixed("spec.providerID", "providerID"));
  return errors;
}

function validateTaints(taints: readonly JsonObject[]): readonly FieldError[] {
  const seen = new Set<string>();
  return taints.flatMap((taint, index) => {
    // kube-apiserver looks for them beside the labels.
    const at = `metadata.taints[${index}]`;
    const [key, value, effect] = ["key", "value", "effect"].map((name) => stringAt(taint, name) ?? "") as [string, string, string];
    const errors = problemsOfLabelKey(key).map((why) => invalidValue(`${at}.key`, key, why));
    const ofValue = problemsOfLabelValue(value);
    if (ofValue.length > 0) errors.push(invalidValue(`${at}.value`, value, ofValue.join(";")));
    if (effect === "") errors.push(required(`${at}.effect`));
    else if (!effects.includes(effect)) errors.push(unsupported(`${at}.effect`, effect, effects));
    const pair = `${effect} ${key}`;
    if (seen.has(pair)) {
      const twice = duplicate(at, { Key: key, Value: value, Effect: effect, TimeAdded: taint["timeAdded"] ?? null });
      errors.push({ ...twice, message: `${twice.message}: taints must be unique by key and effect pair` });
    }
    seen.add(pair);
    return errors;
  });
}

function validateNetworks(networks: readonly string[]): readonly FieldError[] {
  const at = "spec.podCIDRs";
  const why = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
  const errors = networks.flatMap((network, index) => (isNetwork(network) ? [] : [invalidValue(`${at}[${index}]`, network, why)]));
  const families = new Set(networks.map((network) => network.includes(":")));
  if (errors.length === 0 && families.size < networks.length)
    errors.push(invalidValue(at, networks, "may specify no more than one CIDR for each IP family"));
  return errors;
}

/** `address/bits`, with as many bits as the family has at most. */
function isNetwork(text: string): boolean {
  const [address = "", bits = "", ...more] = text.trim().split("/");
  return more.length === 0 && isIP(address) && /^\d{1,3}$/.test(bits) && Number(bits) <= (address.includes(":") ? 128 : 32);
}
