import type { Cell } from "../datacenter/cell.ts";
import type { World } from "../datacenter/world.ts";

/** One resource without its bookkeeping. */
export interface Projected {
  readonly id: string;
  /** Mapping or scalar, as YAML shows it. */
  readonly spec: unknown;
  readonly owner?: string;
  /** Set where the machine itself counts: every apply raises the version, also with the same text. */
  readonly counted?: { readonly version: number; readonly created: number; readonly updated: number };
  /** Grows with each change: one that was taken back between two looks counts, too. Default: what is looked at tells. */
  readonly changes?: number;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** What a projection looks at. */
export interface View {
  readonly world: World;
  readonly cell: Cell;
}

/** Resources of one type as they follow from the machine's state now. */
export type Projection = (view: View) => readonly Projected[];
