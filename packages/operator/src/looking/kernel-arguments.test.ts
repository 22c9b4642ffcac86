import assert from "node:assert/strict";
import { test } from "node:test";
import { seenArguments } from "./kernel-arguments.ts";
import type { SeenArguments } from "../model/config.ts";

const grub = { isSecureBoot: false, isBootedWithUki: false };
const uki = { isSecureBoot: false, isBootedWithUki: true };
const shown =
  "BOOT_IMAGE=/A/vmlinuz talos.platform=metal console=tty0 slab_nomerge pti=on quiet isolcpus=2-3 siderolink.api=https://a?jointoken=s3cret";

interface Case {
  readonly says: string;
  readonly asked?: readonly string[];
  readonly ofImage?: boolean;
  readonly version?: string;
  readonly security?: Parameters<typeof seenArguments>[2];
  readonly cmdline?: string | undefined;
  readonly want: Partial<SeenArguments>;
}
const cases: readonly Case[] = [
  {
    says: "what Talos sets itself is not told, and no value is",
    want: { asked: [], lacks: [], names: ["isolcpus", "quiet", "siderolink.api"] },
  },
  { says: "GRUB takes those of the configuration", asked: ["quiet"], want: { loader: "grub", bySettings: true, lacks: [] } },
  { says: "or those of the image where that is asked for", ofImage: true, want: { loader: "grub", bySettings: false } },
  { says: "a UKI has its own", security: uki, want: { loader: "uki", bySettings: false } },
  { says: "Secure Boot starts a UKI", security: { isSecureBoot: true }, version: "v1.8.0", want: { loader: "uki", bySettings: false } },
  { says: "nobody tells before 1.10", version: "v1.9.6", want: { bySettings: false } },
  { says: "nobody tells who tells no state", security: undefined, want: { bySettings: false } },
  { says: "one that is not there", asked: ["quiet", "noapic"], want: { asked: ["quiet", "noapic"], lacks: ["noapic"] } },
  { says: "one of another value", asked: ["isolcpus=2-4"], want: { lacks: ["isolcpus"] } },
  { says: "several in one word of the list", asked: ["quiet isolcpus=2-3"], want: { asked: ["quiet", "isolcpus"], lacks: [] } },
  { says: "an empty value is none", asked: ["slab_nomerge="], want: { lacks: [] } },
  { says: "one that is to go, and is there", asked: ["-pti"], want: { asked: ["-pti"], lacks: ["-pti"] } },
  { says: "one that is to go, and went", asked: ["-noapic"], want: { lacks: [] } },
  {
    says: "blanks in quotes",
    asked: ['dyndbg="file x +p"'],
    cmdline: 'dyndbg="file x +p" quiet',
    want: { lacks: [], names: ["dyndbg", "quiet"] },
  },
  { says: "more than a record takes", cmdline: Array.from({ length: 33 }, (_one, n) => `a${n}`).join(" "), want: { lacks: [] } },
];

for (const { says, asked = [], ofImage = false, version = "v1.13.9", cmdline = shown, want, ...given } of cases)
  test(says, () => {
    const security = "security" in given ? given.security : grub;
    const seen = seenArguments(
      { disk: "", image: "", wipe: false, kernelArguments: asked, usesArgumentsOfImage: ofImage },
      version,
      security,
      cmdline,
    );
    assert.deepEqual({ ...seen, ...want }, seen);
    if (want.loader === undefined && "bySettings" in want) assert.equal(seen.loader, undefined);
    assert.doesNotMatch(JSON.stringify(seen), /s3cret/);
    assert.ok((seen.names ?? []).length <= 32);
  });

test("a command line that nobody tells says nothing of what runs", () => {
  const seen = seenArguments(
    { disk: "", image: "", wipe: false, kernelArguments: ["quiet"], usesArgumentsOfImage: false },
    "v1.13.9",
    grub,
    undefined,
  );
  assert.deepEqual(seen, { loader: "grub", bySettings: true, asked: ["quiet"] });
});
