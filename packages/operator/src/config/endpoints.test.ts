import assert from "node:assert/strict";
import { test } from "node:test";
import { describeMachineConfig } from "@talos-operator/talos";
import { renderInput } from "../testing/render-input.ts";
import { certificateHosts, endpointOf, keptOf } from "./endpoints.ts";
import { noSecrets } from "./no-secrets.ts";
import { renderMachineConfig } from "./render.ts";
import type { MachineSettings } from "../model/machine.ts";

const OLD = "https://10.0.0.100:6443";
const NEW = "https://api.example:6443";
const moved = { endpoint: NEW, formerEndpoints: [OLD] };

/** The config of a control plane after its cluster's endpoint changed. */
function config(version: string, machineSpec: MachineSettings = {}, endpoints: Parameters<typeof keptOf>[1] = moved): string {
  return renderMachineConfig({
    ...renderInput(version, machineSpec),
    endpoint: endpointOf("controlplane", endpoints),
    kept: keptOf("controlplane", endpoints),
    addresses: ["10.0.0.1", ...certificateHosts(endpoints)],
    secrets: noSecrets,
  });
}

test("control planes get the next endpoint before workers do", () => {
  const moving = { endpoint: OLD, nextEndpoint: NEW };
  assert.deepEqual([endpointOf("controlplane", moving), endpointOf("worker", moving)], [NEW, OLD]);
});

for (const version of ["v1.11.5", "v1.13.9", "v1.14.0"]) {
  test(`certificates are for the new endpoint and every earlier one, Talos ${version}`, () => {
    const { endpoint, apiServerCertSans } = describeMachineConfig(
      config(version, {}, { ...moved, formerEndpoints: [OLD, "https://[fd00::1]:6443"] }),
    );
    assert.equal(endpoint, NEW);
    for (const host of ["10.0.0.100", "api.example", "fd00::1"]) assert.ok(apiServerCertSans.includes(host), host);
  });

  test(`tokens of service accounts keep the issuer that pods have theirs from, Talos ${version}`, () => {
    const inDocuments = /kind: KubeServiceAccountConfig\nissuer:\n(?: .*\n)*? +issuerURL: https:\/\/10\.0\.0\.100:6443\n/;
    const inArguments = /api-audiences: https:\/\/10\.0\.0\.100:6443\n(?:.*\n)*? +service-account-issuer: https:\/\/10\.0\.0\.100:6443\n/;
    assert.match(config(version), version === "v1.14.0" ? inDocuments : inArguments);
  });
}

test("an issuer that a person wrote stays, and on the way back none is written", () => {
  const own = { cluster: { apiServer: { extraArgs: { "service-account-issuer": "https://tokens.example" } } } };
  const text = config("v1.13.9", { configPatches: [own] });
  assert.match(text, /service-account-issuer: https:\/\/tokens\.example\n/);
  assert.doesNotMatch(text, /api-audiences/);
  assert.doesNotMatch(config("v1.13.9", {}, { endpoint: OLD, formerEndpoints: [OLD, NEW] }), /service-account-issuer/);
});
