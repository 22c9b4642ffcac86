export { simulatedCodec } from "./simulated-codec.ts";
export { memoryScratch } from "./memory-scratch.ts";
