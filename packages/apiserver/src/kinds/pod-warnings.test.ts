import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withinDeadline } from "../request/deadline.ts";
import { podWarnings } from "./pod-warnings.ts";

const containers = (part: object): object => ({
  spec: { terminationGracePeriodSeconds: 1, containers: [{ name: "c", image: "i", ...part }] },
});
const many = <T>(count: number, make: (index: number) => T): readonly T[] => Array.from({ length: count }, (_, index) => make(index));
const warningsOf = (part: object): readonly string[] => podWarnings(containers(part) as Record<string, unknown>, "");

describe("warnings about a pod", () => {
  it("name the first of many ports with one name, and of the same number and protocol each", () => {
    const port = (name: string, more: object = {}): object => ({ containerPort: 80, protocol: "TCP", name, ...more });
    const at = (index: number): string => `spec.containers[0].ports[${index}]`;
    assert.deepEqual(warningsOf({ ports: [port("a"), port("b", { protocol: "UDP" }), port("a"), port("a", { hostPort: 1 })] }), [
      `${at(2)}: duplicate port definition with ${at(0)}`,
      `${at(3)}: overlapping port definition with ${at(0)}`,
      `${at(3)}: overlapping port definition with ${at(2)}`,
      `${at(2)}: duplicate port name "a" with ${at(0)}, services and probes that select ports by name will use ${at(0)}`,
      `${at(3)}: duplicate port name "a" with ${at(0)}, services and probes that select ports by name will use ${at(0)}`,
    ]);
  });

  it("end where 20,000 ports clash with each other, and need no time where none does", () => {
    const ports = (make: (index: number) => object): object => ({ ports: many(20_000, make) });
    assert.equal(warningsOf(ports(() => ({ containerPort: 80 }))).length, 4096);
    let looks = 0;
    const clock = (): number => looks++ * 1000;
    assert.deepEqual(
      withinDeadline(clock, () => warningsOf(ports((index) => ({ containerPort: index, name: `p${index}` })))),
      [],
    );
    // On one port with many ports of the node each is compared with each: that ends with the request.
    const quadratic = (): unknown => warningsOf(ports((index) => ({ containerPort: 80, hostPort: index + 1 })));
    assert.throws(() => withinDeadline(clock, quadratic), { code: 504 });
  });

  it("find a variable that hides another among 20,000", () => {
    const env = many(20_000, (index) => ({ name: `E${index === 19_999 ? 0 : index}`, value: "v" }));
    assert.deepEqual(warningsOf({ env }), [
      'spec.containers[0].env[19999]: hides previous definition of "E0", which may be dropped when using apply',
    ]);
  });
});
