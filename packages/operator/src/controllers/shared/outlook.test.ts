import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withOutlook } from "./outlook.ts";

describe("the outlook of what is waited for", () => {
  it("says what would release it", () =>
    assert.equal(
      withOutlook({ reason: "EtcdUnhealthy", message: "Not a serving member of etcd: demo-1 (unreachable)." }),
      "Not a serving member of etcd: demo-1 (unreachable). To continue: Bring back the control planes the message names: check their power, network and disk. If one is lost for good, replace its address in metalSpec.machines.",
    ));

  it("does not say twice what the message says, and does not send people to the place where they are", () => {
    assert.doesNotMatch(withOutlook({ reason: "Paused", message: "It is paused. Remove the annotation." }), /To continue/);
    assert.doesNotMatch(withOutlook({ reason: "Deleting", message: "demo-1 is being wiped." }), /To continue/);
  });

  it("adds no second remedy", () =>
    assert.equal(
      withOutlook({ reason: "InstallDiskUnclear", message: "No disk /dev/vdz: correct installDisk.", saysRemedy: true }),
      "No disk /dev/vdz: correct installDisk.",
    ));

  it("offers nothing to do where it goes on by itself", () =>
    assert.equal(withOutlook({ reason: "Configuring", message: "Installing Talos." }), "Installing Talos."));
});
