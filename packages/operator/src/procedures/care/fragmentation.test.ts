import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations } from "@talos-operator/api";
import { configured, controlPlane, facts, founded, member, NOW, observed, running, silent } from "../../testing/builders.ts";
import { etcdQuorum } from "../../assess/quorum.ts";
import { askedFor, nextFragmented } from "./fragmentation.ts";
import type { Look, SeenEtcd } from "../../model/look.ts";
import type { EtcdQuorum } from "../../model/etcd.ts";
import type { Observed } from "../../model/observation.ts";
import type { ClusterFacts } from "../../model/record.ts";

const MIB = 1_048_576;
const DAY_MS = 24 * 3_600_000;
const file = (size: number, inUse: number): Partial<SeenEtcd> => ({ dbSizeBytes: size * MIB, dbInUseBytes: inUse * MIB });
const loose = file(200, 40);
const tight = file(200, 150);

/** Three members, of which the first leads. */
function world(
  told: readonly (Partial<SeenEtcd> | undefined)[],
  ago?: number,
  word?: string,
): { readonly seen: Observed; readonly known: ClusterFacts; readonly view: EtcdQuorum } {
  const looks: Record<string, Look> = Object.fromEntries(
    told.map((etcd, index) => [`10.0.0.${index + 1}`, etcd === undefined ? silent : running({ ...member(index, 3), ...etcd })]),
  );
  const last = ago === undefined ? {} : { defragmentedAt: NOW - ago };
  const known = facts({ bootstrapDone: founded, machines: [1, 2, 3].map((n) => configured(`10.0.0.${n}`, "controlplane", "demo", last)) });
  const metadata = word === undefined ? {} : { annotations: { [annotations.defragment]: word } };
  const seen = observed({ controlPlane: controlPlane(3, {}, metadata), facts: known, looks });
  const view = etcdQuorum(seen);
  assert.ok(view.kind === "known");
  return { seen, known, view };
}

describe("a member whose file has more free pages than content", () => {
  const cases: readonly (readonly [string, readonly (Partial<SeenEtcd> | undefined)[], string | undefined, number?])[] = [
    ["none", [tight, tight, tight], undefined],
    ["a follower first", [loose, loose, loose], "demo-10.0.0.2"],
    ["the leader last", [loose, tight, tight], "demo-10.0.0.1"],
    ["half in use is no reason", [file(200, 100), tight, tight], undefined],
    ["a small file is none", [file(100, 1), tight, tight], undefined],
    ["a file that is not told is none", [{}, {}, {}], undefined],
    ["not while another is away", [loose, loose, undefined], undefined],
    ["not while another is ill", [loose, loose, { ...tight, isHealthy: false }], undefined],
    ["not twice a day", [loose, loose, loose], undefined, DAY_MS - 1],
    ["once a day", [loose, loose, loose], "demo-10.0.0.2", DAY_MS],
  ];
  for (const [what, told, want, ago] of cases)
    test(what, () => {
      const { seen, known, view } = world(told, ago);
      assert.equal(nextFragmented(seen, known, view)?.file.machine, want);
    });
});

test("a member of a machine that leaves is not defragmented, however much of its file is free", () => {
  const { seen, known, view } = world([tight, tight, loose]);
  assert.equal(nextFragmented(seen, known, view)?.file.machine, "demo-10.0.0.3");
  const [leaver, staying] = [2, 0].map((from) => seen.machines.slice(from, from + 2));
  assert.equal(nextFragmented({ ...seen, machines: staying ?? [], former: leaver ?? [] }, known, view), undefined);
});

describe("what a person asks to be defragmented", () => {
  const cases: readonly (readonly [string, string | undefined, readonly (Partial<SeenEtcd> | undefined)[], string | undefined])[] = [
    ["nothing", undefined, [loose, loose, loose], undefined],
    ["a member, whatever its size", "demo-10.0.0.1", [file(4, 3), loose, loose], "member"],
    ["nobody's name", "demo-10.0.0.9", [loose, loose, loose], "pointless"],
    ["one whose file was all in use when it was looked at", "demo-10.0.0.1", [file(4, 4), loose, loose], "member"],
    ["one that does not answer waits", "demo-10.0.0.3", [loose, loose, undefined], undefined],
    ["one that does not tell waits", "demo-10.0.0.3", [loose, loose, {}], undefined],
  ];
  for (const [what, word, told, want] of cases)
    test(what, () => {
      const { seen, view } = world(told, undefined, word);
      assert.equal(askedFor(seen, view)?.kind, want);
    });

  test("two names are none: one member is named at a time", () => {
    const { seen, view } = world([loose, loose, loose], undefined, "demo-10.0.0.1,demo-10.0.0.2");
    const asked = askedFor(seen, view);
    assert.match(asked?.kind === "pointless" ? asked.message : "", /"demo-10\.0\.0\.1,demo-10\.0\.0\.2"; one is named at a time$/);
  });
});
