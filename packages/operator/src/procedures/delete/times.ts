/** Between its reset and its answer in maintenance mode a machine is silent; only after this it is missed. */
export const WIPE_TAKES_MS = 10 * 60_000;
