import { demandLead } from "../leading.ts";
import type { Check } from "./define.ts";

/** This process still leads; for what writes objects that are not taken back. */
export const lease: Check = ({ effects: { leading } }) => demandLead(leading);
