/** Everything that reads a person's text, for the tests that feed it nonsense. */
import {
  canonicalMachineConfig,
  describeMachineConfig,
  findForbiddenPatchPaths,
  mergeTalosconfigs,
  parseSecretsBundle,
  parseTalosconfig,
  patchMachineConfig,
  printSecretsBundle,
  printTalosconfig,
  secretsBundleFromMachineConfig,
  validateMachineConfig,
} from "../index.ts";

const BASE = `version: v1alpha1
machine:
    type: worker
    token: a
    sysctls:
        a: b
    certSANs: []
cluster:
    controlPlane:
        endpoint: https://a:6443
`;
const PATCH = "machine:\n    sysctls:\n        z: q\n";

export interface Reader {
  readonly name: string;
  readonly read: (text: string) => unknown;
  /** Prints what was read, where that is a text that can be read again: reading and printing it once more must give the same. */
  readonly print?: (text: string) => string;
  /** Has limits of its own. */
  readonly isGate?: true;
}

export const readers: readonly Reader[] = [
  { name: "config", isGate: true, read: canonicalMachineConfig, print: canonicalMachineConfig },
  { name: "description of a config", read: describeMachineConfig },
  { name: "validation of a config", read: (text) => validateMachineConfig(text, { mode: "metal" }) },
  {
    name: "patch",
    isGate: true,
    read: (text) => patchMachineConfig(BASE, [text]),
    print: (text) => canonicalMachineConfig(patchMachineConfig(BASE, [text])),
  },
  {
    name: "config that is patched",
    read: (text) => patchMachineConfig(text, [PATCH]),
    print: (text) => patchMachineConfig(text, [PATCH]),
  },
  { name: "what a patch must not touch", read: findForbiddenPatchPaths },
  { name: "secrets", read: parseSecretsBundle, print: (text) => printSecretsBundle(parseSecretsBundle(text)) },
  { name: "secrets of a config", read: secretsBundleFromMachineConfig },
  {
    name: "talosconfig",
    isGate: true,
    read: (text) => mergeTalosconfigs(parseTalosconfig(text), parseTalosconfig(text)),
    print: (text) => printTalosconfig(parseTalosconfig(text)),
  },
];
