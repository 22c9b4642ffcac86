import { fileURLToPath } from "node:url";

/**
 * Environment for processes that load the same sources many times over: types are stripped and code is compiled once, in the folder that `npm test` uses.
 * Texts are told apart by what they hold, so a planted fault compiles what it changes anew.
 */
export const compiledOnce = { NODE_COMPILE_CACHE: fileURLToPath(new URL("../../../../node_modules/.cache/compiled", import.meta.url)) };
