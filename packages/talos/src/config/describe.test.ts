import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { describeMachineConfig } from "./describe.ts";

describe("whether a kubelet asks for its serving certificate", () => {
  const kubelet = (text: string): string => `version: v1alpha1\nmachine:\n  kubelet:\n${text}`;
  const cases: readonly (readonly [name: string, text: string, asks: boolean])[] = [
    ["nothing said", kubelet("    image: x\n"), false],
    ["by argument", kubelet("    extraArgs:\n      rotate-server-certificates: true\n"), true],
    ["by argument, as text", kubelet('    extraArgs:\n      rotate-server-certificates: "true"\n'), true],
    ["by argument, as list", kubelet('    extraArgs:\n      rotate-server-certificates: ["false", "true"]\n'), true],
    ["not by argument", kubelet('    extraArgs:\n      rotate-server-certificates: "false"\n'), false],
    ["rotation of the client's certificate", kubelet('    extraArgs:\n      rotate-certificates: "true"\n'), false],
    ["by configuration", kubelet("    extraConfig:\n      serverTLSBootstrap: true\n"), true],
    [
      "an argument beats the configuration",
      kubelet('    extraConfig:\n      serverTLSBootstrap: true\n    extraArgs:\n      rotate-server-certificates: "false"\n'),
      false,
    ],
    ["by a document of Talos 1.14", 'apiVersion: v1alpha1\nkind: KubeletConfig\nextraArgs:\n  rotate-server-certificates: "true"\n', true],
    ["by configuration in a document", "apiVersion: v1alpha1\nkind: KubeletConfig\nconfig:\n  serverTLSBootstrap: true\n", true],
  ];
  for (const [name, text, asks] of cases) it(name, () => assert.equal(describeMachineConfig(text).rotatesServerCertificates, asks));
});
