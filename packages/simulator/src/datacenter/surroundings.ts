import type { Clock, Keys, Timers } from "@talos-operator/ports";
import type { Timings } from "../node/timings.ts";
import type { Cell } from "./cell.ts";

/** What every part of a datacenter has around it: time, keys and the machines. `World` puts the parts together. */
export interface Surroundings {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly keys: Keys;
  readonly timings: Timings;
  readonly isClosed: boolean;
  cells(): readonly Cell[];
  cell(address: string): Cell | undefined;
}
