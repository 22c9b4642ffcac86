import type { Telling } from "../telling/telling.ts";

/** Tells nobody anything. For tests. */
export const silentTelling: Telling = { tell: () => undefined, gather: () => undefined, close: async () => undefined };
