import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMetricsRegistry } from "./create-metrics-registry.ts";

describe("metrics registry", () => {
  it("writes the text format: help, type, escaped labels, cumulative buckets", () => {
    const registry = createMetricsRegistry();
    const calls = registry.counter({ name: "calls_total", help: "Calls.\nAll \\ of them.", labels: ["code", "host"] });
    calls.with({ code: "200", host: 'a"b\\c\nd' }).add(2);
    calls.with({ code: "200", host: 'a"b\\c\nd' }).add();
    registry.gauge({ name: "depth", help: "Depth." }).with().set(-1.5);
    const took = registry.histogram({ name: "took_seconds", help: "Time.", labels: ["x"], buckets: [0.1, 1] }).with({ x: "y" });
    for (const value of [0.05, 0.1, 0.5, 7]) took.observe(value);
    assert.equal(
      registry.text(),
      [
        "# HELP calls_total Calls.\\nAll \\\\ of them.",
        "# TYPE calls_total counter",
        'calls_total{code="200",host="a\\"b\\\\c\\nd"} 3',
        "# HELP depth Depth.",
        "# TYPE depth gauge",
        "depth -1.5",
        "# HELP took_seconds Time.",
        "# TYPE took_seconds histogram",
        'took_seconds_bucket{x="y",le="0.1"} 2',
        'took_seconds_bucket{x="y",le="1"} 3',
        'took_seconds_bucket{x="y",le="+Inf"} 4',
        'took_seconds_sum{x="y"} 7.65',
        'took_seconds_count{x="y"} 4',
        "",
      ].join("\n"),
    );
  });

  it("shares a family that is asked for twice, and refuses another one of the same name", () => {
    const registry = createMetricsRegistry();
    const spec = { name: "a_total", help: "A.", labels: ["x"] };
    registry.counter(spec).with({ x: "1" }).add();
    registry.counter(spec).with({ x: "1" }).add();
    assert.match(registry.text(), /^a_total\{x="1"\} 2$/m);
    assert.throws(() => registry.gauge(spec), RangeError);
    assert.throws(() => registry.counter({ ...spec, labels: ["y"] }), RangeError);
  });

  it("refreshes what is read only when it is collected", () => {
    const registry = createMetricsRegistry();
    const gauge = registry.gauge({ name: "now", help: "Now." }).with();
    let value = 1;
    const end = registry.onCollect(() => gauge.set(value));
    assert.match(registry.text(), /^now 1$/m);
    value = 2;
    assert.match(registry.text(), /^now 2$/m);
    end();
    value = 3;
    assert.match(registry.text(), /^now 2$/m);
  });

  const wrong: readonly { readonly name: string; readonly make: (registry: ReturnType<typeof createMetricsRegistry>) => unknown }[] = [
    { name: "a name with a dash", make: (registry) => registry.counter({ name: "a-b", help: "" }) },
    { name: "a label le", make: (registry) => registry.counter({ name: "a", help: "", labels: ["le"] }) },
    { name: "a missing label", make: (registry) => registry.counter({ name: "a", help: "", labels: ["x"] }).with({}) },
    { name: "a label too many", make: (registry) => registry.counter({ name: "a", help: "" }).with({ x: "1" }) },
    { name: "a counter that falls", make: (registry) => registry.counter({ name: "a", help: "" }).with().add(-1) },
    { name: "buckets that do not grow", make: (registry) => registry.histogram({ name: "a", help: "", buckets: [1, 1] }) },
  ];
  for (const { name, make } of wrong) it(`refuses ${name}`, () => assert.throws(() => make(createMetricsRegistry()), RangeError));
});
