import assert from "node:assert/strict";
import { test } from "node:test";
import { documentName } from "./document-name.ts";

test("documents are called as people call them", () => {
  for (const [identity, name] of [
    ["/v1alpha1/", "v1alpha1"],
    ["v1alpha1/HostnameConfig/", "HostnameConfig"],
    ["v1alpha1/VolumeConfig/EPHEMERAL", "VolumeConfig EPHEMERAL"],
    ["v1alpha1/RegistryMirrorConfig/a/b", "RegistryMirrorConfig a/b"],
    ["v2/Own/x", "v2/Own x"],
  ] as const)
    assert.equal(documentName(identity), name);
});
