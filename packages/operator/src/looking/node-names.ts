import type { Hardware, Look, Running } from "../model/look.ts";
import type { MachineName } from "../model/machine.ts";

/**
 * Which machines of a cluster report one Node. Their kubelets write it in turns, and it is the Node of none of them: two machines are never ready by one.
 */
export class NodeNames {
  readonly #byNode = new Map<string, Map<MachineName, Running>>();
  readonly #nodeOf = new Map<MachineName, string>();

  /** Notes a look at a machine. @returns other machines of which something else is to be said by that */
  saw(machine: MachineName, look: Look): readonly MachineName[] {
    const node = look.kind === "running" ? look.nodeName : undefined;
    const before = this.#nodeOf.get(machine);
    const left = before === undefined || before === node ? [] : this.forget(machine);
    if (look.kind !== "running" || node === undefined) return left;
    const there = this.#byNode.get(node) ?? new Map<MachineName, Running>();
    const isNew = !there.has(machine);
    this.#byNode.set(node, there.set(machine, look));
    this.#nodeOf.set(machine, node);
    return isNew ? [...left, ...[...there.keys()].filter((other) => other !== machine)] : left;
  }

  /** @returns machines that reported the same Node */
  forget(machine: MachineName): readonly MachineName[] {
    const node = this.#nodeOf.get(machine) ?? "";
    const there = this.#byNode.get(node);
    this.#nodeOf.delete(machine);
    there?.delete(machine);
    if (there?.size === 0) this.#byNode.delete(node);
    return [...(there?.keys() ?? [])];
  }

  /** The look, with the other machines that report the same Node. One machine that answers under two names shares nothing with itself. */
  with(machine: MachineName, look: Look): Look {
    if (look.kind !== "running" || look.nodeName === undefined) return look;
    const there = this.#byNode.get(look.nodeName);
    if (there === undefined || there.size < 2) return look;
    const others = [...there].filter(([other, theirs]) => other !== machine && isOther(look.hardware, theirs.hardware));
    return others.length === 0 ? look : { ...look, sharesNode: others.map(([other]) => other).toSorted() };
  }
}

/** Another machine, as far as its hardware tells: clones share a UUID, and have other hardware addresses. */
function isOther(a: Hardware | undefined, b: Hardware | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  if (a.uuid !== b.uuid) return true;
  return a.macs.length > 0 && b.macs.length > 0 && !a.macs.some((mac) => b.macs.includes(mac));
}
