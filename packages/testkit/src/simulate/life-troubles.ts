import type { Report } from "./violation.ts";
import { makeTrouble, type TroubleInput, type TroubleKind } from "./troubles.ts";

/** The troubles of one life. */
export interface LifeTroubles {
  /** From now on they come, each in its own time. */
  begin(): void;
  /** Those that have not begun never do. @returns whether there were any */
  forgetWaiting(): boolean;
  areOver(): boolean;
}

/** @param inputOf what a trouble sees and does; its own random numbers by its position */
export function createLifeTroubles(
  kinds: readonly TroubleKind[],
  inputOf: (kind: TroubleKind, index: number) => TroubleInput,
  report: Report,
): LifeTroubles {
  /** Where each stands that is not over. */
  const going = new Map(kinds.map((kind): [TroubleKind, "waits" | "goes-on"] => [kind, "waits"]));

  const befall = async (kind: TroubleKind, index: number): Promise<void> => {
    const input = inputOf(kind, index);
    const trace = (line: string): void => {
      if (line.startsWith("trouble") && going.has(kind)) going.set(kind, "goes-on");
      input.trace(line);
    };
    try {
      await makeTrouble({ ...input, trace });
      going.delete(kind);
    } catch (thrown) {
      report("Own", thrown instanceof Error ? thrown.message : String(thrown));
    }
  };

  return {
    begin() {
      for (const [index, kind] of kinds.entries()) void befall(kind, index);
    },
    forgetWaiting() {
      const waiting = [...going].filter(([, state]) => state === "waits");
      for (const [kind] of waiting) going.delete(kind);
      return waiting.length > 0;
    },
    areOver: () => going.size === 0,
  };
}
