import assert from "node:assert/strict";
import { it } from "node:test";
import type { TalosControlPlane } from "@talos-operator/api";
import { configured, controlPlane, facts, observed } from "../testing/index.ts";
import { endpointChosen } from "./endpoint-chosen.ts";

const machines = ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map((address) => configured(address));

/** A control plane whose spec names this endpoint, or none. */
function naming(endpoint: string | undefined): TalosControlPlane {
  const { spec, ...object } = controlPlane(3);
  if (spec === undefined) throw new TypeError("the builder gives a spec");
  const { endpoint: _set, ...others } = spec;
  return { ...object, spec: endpoint === undefined ? others : { ...others, endpoint } };
}

function said(endpoint: string, specEndpoint?: string): readonly (readonly [string, string])[] {
  const seen = observed({ controlPlane: naming(specEndpoint), facts: facts({ machines, endpoint }) });
  return endpointChosen(seen).map(({ reason, message }) => [reason, message] as const);
}

it("names the address that was taken, its machine, and what depends on it", () => {
  const [one] = said("https://10.0.0.1:6443");
  assert.equal(one?.[0], "FirstMachine");
  assert.match(
    one[1],
    /spec\.endpoint is not set: .* https:\/\/10\.0\.0\.1:6443, the address of demo-10\.0\.0\.1\. While demo-10\.0\.0\.1 is away/,
  );
});

it("says that the address is no listed machine's any more", () => {
  const [one] = said("https://10.0.0.9:6443");
  assert.equal(one?.[0], "NoMachine");
  assert.match(one[1], /10\.0\.0\.9:6443, which is no listed control plane's address/);
});

it("says nothing where the spec names one, or none was taken yet", () => {
  assert.deepEqual(said("https://10.0.0.100:6443", "https://10.0.0.100:6443"), []);
  assert.deepEqual(endpointChosen(observed({ controlPlane: naming(undefined) })), []);
});
