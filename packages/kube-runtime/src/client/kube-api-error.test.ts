import assert from "node:assert/strict";
import { it } from "node:test";
import { KubeApiError } from "./kube-api-error.ts";

it("does not say of a read that it may have taken effect", () => {
  for (const verb of ["get", "list", "watch"]) {
    const { message } = KubeApiError.from(new Error("connect ECONNREFUSED"), `${verb} talosclusters default`);
    assert.match(message, /Check that the API server runs/);
    assert.doesNotMatch(message, /took effect/);
  }
  for (const verb of ["create", "update status of", "patch", "apply", "delete collection of"])
    assert.match(KubeApiError.from(new Error("reset"), `${verb} talosclusters default/a`).message, /unknown whether the call took effect/);
});
