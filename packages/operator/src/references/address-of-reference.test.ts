import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ObjectReference } from "@talos-operator/api";
import { addressIn, usableReference } from "./address-of-reference.ts";

const reference: ObjectReference = { apiVersion: "vitistack.io/v1alpha1", kind: "Machine", name: "m-1", fieldPath: ".status.ip" };

describe("a reference", () => {
  const refused: readonly { readonly name: string; readonly over: Partial<ObjectReference>; readonly says: RegExp }[] = [
    { name: "without apiVersion", over: { apiVersion: "" }, says: /names no apiVersion/ },
    { name: "without kind and name", over: { kind: "", name: "" }, says: /names no kind, no name/ },
    { name: "without fieldPath", over: { fieldPath: "" }, says: /fieldPath is the JSONPath to the address/ },
    { name: "with an apiVersion that is a path", over: { apiVersion: "../../api/v1" }, says: /is no group and version/ },
    { name: "with a kind that is a path", over: { kind: "Pod/../Secret" }, says: /is no kind/ },
    { name: "IN1: with a name that leaves its folder", over: { name: "../../etc/passwd" }, says: /is no name of an object/ },
    { name: "with a namespace that is none", over: { namespace: "kube-system/secrets" }, says: /namespace .* is no name/ },
    { name: "IN7: to a Secret", over: { apiVersion: "v1", kind: "Secret" }, says: /never read for an address/ },
    { name: "with a path that cannot be read", over: { fieldPath: ".status[" }, says: /cannot be read: .* at character 9/ },
  ];
  for (const { name, over, says } of refused)
    test(`${name} is refused, with field and remedy`, () => {
      const problem = usableReference({ ...reference, ...over }, "default");
      assert.ok("reason" in problem);
      assert.equal(problem.reason, "ReferenceInvalid");
      assert.match(problem.message, says);
      assert.match(problem.message, /machineRef/);
    });

  test("is followed in the namespace it names, and without one in that of the object that refers", () => {
    const own = usableReference(reference, "default");
    const other = usableReference({ ...reference, namespace: "machines" }, "default");
    assert.deepEqual(["namespace" in own && own.namespace, "namespace" in other && other.namespace], ["default", "machines"]);
  });
});

describe("the address in a referenced object", () => {
  const cases: readonly { readonly name: string; readonly value: unknown; readonly want: string }[] = [
    { name: "an IPv4 address", value: "10.0.0.1", want: "10.0.0.1" },
    { name: "IN55: an IPv6 address, in its one spelling", value: "FD00:0::0001", want: "fd00::1" },
    { name: "none yet", value: undefined, want: "AddressMissing" },
    { name: "null", value: null, want: "AddressMissing" },
    { name: "an empty text", value: "", want: "AddressMissing" },
    { name: "a number", value: 167_772_161, want: "AddressNotUsable" },
    { name: "a list", value: ["10.0.0.1"], want: "AddressNotUsable" },
    { name: "a word", value: "Pending", want: "AddressNotUsable" },
    { name: "a name", value: "machine.example.com", want: "AddressNotUsable" },
    { name: "IN49: an address with a port", value: "10.0.0.1:50000", want: "AddressNotUsable" },
    { name: "IN49: an address with a zone", value: "fe80::1%eth0", want: "AddressNotUsable" },
    { name: "IN49: digits of another script", value: "１０.0.0.1", want: "AddressNotUsable" },
    { name: "IN44: an address in disguise", value: "0x7f.1", want: "AddressNotUsable" },
    { name: "a network", value: "10.0.0.1/24", want: "AddressNotUsable" },
  ];
  for (const { name, value, want } of cases)
    test(`${name} gives ${want}`, () => {
      const usable = usableReference(reference, "default");
      assert.ok("path" in usable);
      const resolution = addressIn({ status: { ip: value } }, usable);
      assert.equal(resolution.kind === "address" ? resolution.address : resolution.problem.reason, want);
    });

  test("several values are no address", () => {
    const usable = usableReference({ ...reference, fieldPath: ".status.ips[*]" }, "default");
    assert.ok("path" in usable);
    const resolution = addressIn({ status: { ips: ["10.0.0.1", "10.0.0.2"] } }, usable);
    assert.equal(resolution.kind === "unresolved" && resolution.problem.reason, "AddressAmbiguous");
  });

  test("IN7: what stands in the object is never quoted: its author may not be the reader of the condition", () => {
    const usable = usableReference(reference, "default");
    assert.ok("path" in usable);
    assert.doesNotMatch(JSON.stringify(addressIn({ status: { ip: "s3cret-token" } }, usable)), /s3cret/);
  });
});
