import type { ScalarKind } from "./resolve.ts";
import type { ScalarStyle } from "./scalar-style.ts";

/** One node of a YAML text, with its place. Lines and columns count from 1. */
export type YamlNode = YamlScalarNode | YamlSequenceNode | YamlMappingNode;

/** Where a node stands. */
export interface Placed {
  readonly line: number;
  readonly column: number;
}

interface Named {
  /** The anchor that the node carries. */
  readonly anchor?: string;
  /** The node stands here because this alias repeats it; its place is that of its anchor. */
  readonly alias?: string;
}

export interface YamlScalarNode extends Placed, Named {
  readonly type: "scalar";
  /** The text after unescaping; for a plain scalar exactly what was written. */
  readonly text: string;
  /** What Go reads it as. Quoted and block scalars are strings. */
  readonly kind: ScalarKind;
  readonly style: ScalarStyle;
  /** What stands behind it on its line, `# ` included. */
  readonly comment?: string;
}

export interface YamlSequenceNode extends Placed, Named {
  readonly type: "sequence";
  readonly items: readonly YamlNode[];
  /** Written in brackets. */
  readonly isFlow: boolean;
}

export interface YamlMappingNode extends Placed, Named {
  readonly type: "mapping";
  readonly entries: readonly YamlEntry[];
  /** Written in braces. */
  readonly isFlow: boolean;
}

/** A key of a mapping and its value. */
export interface YamlEntry {
  readonly key: string;
  readonly keyNode: YamlScalarNode;
  readonly value: YamlNode;
}
