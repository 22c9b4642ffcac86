import { parseVersion } from "@talos-operator/talos";
import type { MachineConfigFacts } from "@talos-operator/talos";
import type { SecurityStateSpec } from "@talos-operator/talos/client";
import type { SeenArguments } from "../model/config.ts";

/** What Talos, its boot loaders and platforms put on every command line in some release: what becomes of it is theirs. */
const OF_TALOS = new Set(
  "BOOT_IMAGE initrd console consoleblank ima_appraise ima_hash ima_template init_on_alloc module.sig_enforce nvme_core.io_timeout printk.devkmsg proc_mem.force_override pti selinux slab_nomerge talos.config talos.platform".split(
    " ",
  ),
);

/** What a person does about kernel arguments that do nothing. */
export const STARTS_FROM_UKI =
  "starts from a UKI, which brings its own kernel arguments: put them into customization.extraKernelArgs of the schematic, and name its image";

/** Most names that are kept of a machine. */
const MOST = 32;

/**
 * Kernel arguments of a machine, by their names alone: a value may be secret, as the token of SideroLink is.
 *
 * @param version Talos that runs: before 1.10 nobody tells whether systemd-boot started it
 * @param cmdline what its kernel was started with; absent = not told
 * @see siderolabs/talos v1.13.9 `cmd/installer/pkg/install/install.go` Install, `cmd/installer/cmd/installer/install.go`
 */
export function seenArguments(
  { kernelArguments, usesArgumentsOfImage }: MachineConfigFacts["install"],
  version: string,
  security: Partial<SecurityStateSpec> | undefined,
  cmdline: string | undefined,
): SeenArguments {
  const asked = kernelArguments.flatMap(wordsOf);
  const isUki = security?.isBootedWithUki === true || security?.isSecureBoot === true;
  const isGrub = !isUki && security?.isBootedWithUki === false && parseVersion(version).minor >= 10;
  const seen: SeenArguments = {
    ...(isUki ? { loader: "uki" } : isGrub ? { loader: "grub" } : {}),
    bySettings: isGrub && !usesArgumentsOfImage,
    asked: namesOf(asked),
  };
  if (cmdline === undefined) return seen;
  const words = wordsOf(cmdline);
  const running = new Set(words);
  const names = namesOf(words);
  // A dash before a name takes the argument off the command line.
  const lacks = asked.filter((word) => (word.startsWith("-") ? words.some((one) => nameOf(one) === word.slice(1)) : !running.has(word)));
  const others = names.filter((name) => !OF_TALOS.has(name));
  return { ...seen, lacks: namesOf(lacks), ...(others.length > MOST ? {} : { names: others.toSorted() }) };
}

/** A quoted value may hold blanks; one that is empty is shown without its sign. */
function wordsOf(text: string): readonly string[] {
  return (text.match(/(?:[^\s"]|"[^"]*")+/g) ?? []).map((word) => word.replace(/=$/, ""));
}

function nameOf(word: string): string {
  return word.split("=", 1)[0] ?? "";
}

/** The record takes no longer one. */
function namesOf(words: readonly string[]): readonly string[] {
  return [...new Set(words.map(nameOf))].filter((name) => /^[\x21-\x7e]{1,64}$/.test(name));
}
