import type { ConfigMap } from "../../document/value.ts";
import { integerAt, listAt, textAt } from "../access.ts";
import type { Report } from "../report.ts";

/** Settings that are one of some words, with the words and what Talos calls anything else; the empty word is the first one. */
const choices: readonly (readonly [field: string, words: readonly string[], refusal: string])[] = [
  ["mode", ["balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"], "invalid bond type"],
  ["xmitHashPolicy", ["layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4"], "invalid xmit hash policy"],
  ["lacpRate", ["slow", "fast"], "invalid lacp rate"],
  ["arpValidate", ["none", "active", "backup", "all", "filter", "filter-active", "filter-backup"], "invalid arp_validate mode"],
  ["arpAllTargets", ["any", "all"], "invalid arp_all_targets mode"],
  ["primaryReselect", ["always", "better", "failure"], "invalid primary_reselect mode"],
  ["failOverMac", ["none", "active", "follow"], "invalid fail_over_mac value"],
  ["adSelect", ["stable", "bandwidth", "count"], "invalid ad_select mode"],
];

/** A bond of the v1alpha1 document: its words, and which settings a mode has. */
export function checkBond(bond: ConfigMap, report: Report): void {
  for (const [field, words, refusal] of choices) {
    const word = textAt(bond, field);
    report.errorIf(word !== "" && !words.includes(word), `${refusal} ${word}`);
  }
  const mode = modeOf(bond);
  const isLacp = mode === "802.3ad";
  const isBalancing = mode === "balance-tlb" || mode === "balance-alb";
  checkDelays(bond, report);
  report.errorIf(listAt(bond, "arpIPTarget").length > 0, "bond.arpIPTarget is not supported");
  report.errorIf(textAt(bond, "lacpRate") !== "" && !isLacp, "bond.lacpRate is only available in 802.3ad mode");
  report.errorIf(textAt(bond, "adActorSystem") !== "", "bond.adActorSystem is not supported");
  const notInMode = (isUsed: boolean, field: string): void => report.errorIf(isUsed, `bond.${field} is not available in ${mode} mode`);
  notInMode((isLacp || isBalancing) && textAt(bond, "arpValidate") !== "", "arpValidate");
  notInMode(mode !== "active-backup" && !isBalancing && textAt(bond, "primary") !== "", "primary");
  notInMode((isLacp || isBalancing) && integerAt(bond, "arpInterval") > 0n, "arpInterval");
  notInMode(mode !== "balance-rr" && integerAt(bond, "packetsPerSlave") > 1n, "packetsPerSlave");
  notInMode(!isBalancing && integerAt(bond, "tlbDynamicLb") > 0n, "tlbDynamicTLB");
  report.errorIf(!isLacp && integerAt(bond, "adActorSysPrio") > 0n, "bond.adActorSysPrio is only available in 802.3ad mode");
  report.errorIf(!isLacp && integerAt(bond, "adUserPortKey") > 0n, "bond.adUserPortKey is only available in 802.3ad mode");
}

/** A mode that does not exist counts as the first one. */
function modeOf(bond: ConfigMap): string {
  const [, modes] = choices[0] as (typeof choices)[number];
  const mode = textAt(bond, "mode");
  return modes.includes(mode) ? mode : (modes[0] as string);
}

function checkDelays(bond: ConfigMap, report: Report): void {
  const interval = integerAt(bond, "miimon");
  for (const [field, name] of [
    ["updelay", "upDelay"],
    ["downdelay", "downDelay"],
  ] as const) {
    const delay = integerAt(bond, field);
    if (interval === 0n) report.errorIf(delay !== 0n, `bond.${name} can't be set if miiMon is zero`);
    else report.errorIf(delay % interval !== 0n, `bond.${name} should be a multiple of miiMon`);
  }
}
