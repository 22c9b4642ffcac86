// Preloaded by `npm test`: properties draw the same values in every run, so that a landing never fails by what nobody changed. The night draws others,
// and `PROPERTY_SEED=N npm test` those of a night.
import { configureGlobal } from "fast-check";

configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 1) });
