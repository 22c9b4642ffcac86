import assert from "node:assert/strict";
import { test } from "node:test";
import { validateMachineConfig } from "../validate.ts";

const image = `example.org/app@sha256:${"0".repeat(64)}`;

function errorsOf(members: string): readonly string[] {
  const text = `apiVersion: v1alpha1\nkind: ContainerConfig\nname: a\nimage: ${image}\n${members}\n`;
  return validateMachineConfig(text, { mode: "metal", contract: "1.14" }).errors;
}

const cases: readonly (readonly [string, string | undefined])[] = [
  ["", undefined],
  ["resources: {limits: {cpu: 1500m, memory: 64MiB}}", undefined],
  ["resources: {limits: {cpu: '2'}}", 'limits.cpu "2" must be expressed in millicores, e.g. 1500m'],
  ["resources: {limits: {cpu: 0m}}", 'limits.cpu "0m" must be greater than zero'],
  [
    "resources: {limits: {cpu: -1m}}",
    'limits.cpu "-1m" is not a valid millicore quantity: strconv.ParseUint: parsing "-1": invalid syntax',
  ],
  ["resources: {limits: {cpu: m}}", 'limits.cpu "m" is not a valid millicore quantity: strconv.ParseUint: parsing "": invalid syntax'],
  [
    "resources: {limits: {cpu: 18446744073709551616m}}",
    'limits.cpu "18446744073709551616m" is not a valid millicore quantity: strconv.ParseUint: parsing "18446744073709551616": value out of range',
  ],
  ["mounts: [{}]", "mounts[0]: exactly one of userVolume, tmpfs or hostPath must be set"],
  ["network: {mode: bridge}", 'unsupported network mode "bridge", expected none or host'],
  ["security: {capabilities: {add: [net_admin]}}", 'capabilities.add: capability "net_admin" must be upper case'],
];

for (const [members, error] of cases) {
  test(`a container with ${members === "" ? "nothing more" : members} is ${error === undefined ? "taken" : "refused"}`, () => {
    assert.deepEqual(errorsOf(members), error === undefined ? [] : [`ContainerConfig/a: ${error}`]);
  });
}
