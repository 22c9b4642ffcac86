import { ConfigError } from "../errors.ts";
import type { YamlNode } from "./node.ts";

/**
 * Anchors of a text and what their aliases repeat. As in Go's library an anchor lives on in later documents, and the latest of a name counts.
 *
 * Aliases share the node that they repeat, but whoever walks the values meets it again each time: what they add up to is limited, because a
 * few hundred bytes of nested aliases stand for millions of values.
 */
export class Anchors {
  readonly #known = new Map<string, { readonly node: YamlNode; readonly size: number }>();
  readonly #open = new Set<string>();
  readonly #maxRepeated: number;
  #repeated = 0;

  constructor(maxRepeated: number) {
    this.#maxRepeated = maxRepeated;
  }

  /** From here on the name stands for a value that is not complete. */
  begin(name: string): void {
    this.#open.add(name);
  }

  /** @param size how many values the node has, those that its own aliases repeat among them */
  end(name: string, node: YamlNode, size: number): void {
    this.#open.delete(name);
    this.#known.set(name, { node, size });
  }

  /**
   * The node that an alias repeats, and how many values it has. Refusals do not name it: a key that begins with an asterisk by mistake looks like one.
   *
   * @throws ConfigError `YAML_ALIAS`
   */
  repeat(name: string, place: { readonly line: number; readonly column: number; readonly path: string }): { node: YamlNode; size: number } {
    if (this.#open.has(name)) throw new ConfigError("YAML_ALIAS", "yaml: the value of the anchor contains itself", place);
    const known = this.#known.get(name);
    if (known === undefined) throw new ConfigError("YAML_ALIAS", "yaml: unknown anchor referenced", place);
    this.#repeated += known.size;
    if (this.#repeated > this.#maxRepeated)
      throw new ConfigError("YAML_ALIAS", `the aliases up to here repeat more than ${this.#maxRepeated} values`, place);
    return { node: { ...known.node, alias: name }, size: known.size };
  }
}
