import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { renderTrees } from "./render-trees.ts";
import { widthOf } from "./text-width.ts";
import { clusterNode, machineNode, many, poolNode, waitingNode } from "./testing/trees.ts";

const plain = { useColour: false, useUnicode: true };
const LONG = "something that takes long ".repeat(20);
// oxlint-disable-next-line no-control-regex -- colour codes are what is removed
const visible = (line: string): string => line.replaceAll(/\u001b\[\d+m/g, "");
const note = (type: string, message: string) => ({ type, status: "True", reason: "X", message }) as const;

describe("trees in a terminal", () => {
  const tree = clusterNode(
    [
      poolNode([machineNode("cp-10.0.0.1", { role: "control plane", node: "talos-a" })], {
        kind: "TalosControlPlane",
        role: "control plane",
      }),
      poolNode([machineNode("w-10.0.0.2", { node: "talos-b" }), waitingNode("w-10.0.0.3", "Installing Talos")], {
        ready: "False",
        state: "Pending",
      }),
    ],
    { machines: { ready: 2, wanted: 3 } },
  );

  it("draws a cluster in 80 columns: what a ready object runs, what another waits for", () => {
    assert.deepEqual(renderTrees([tree], { terminal: { ...plain, columns: 79 } }), [
      "OBJECT                     READY    STATE         RUNS / WAITS FOR",
      "TalosCluster/first         True     Ready         2/3  v1.13.9  k8s v1.36.3",
      "├─TalosControlPlane/first  True     Ready         1/1  v1.13.9",
      "│ └─cp-10.0.0.1            True     Available     talos-a  v1.13.9",
      "└─TalosWorker/first        False    Pending       1/2  v1.13.9",
      "  ├─w-10.0.0.2             True     Available     talos-b  v1.13.9",
      "  └─w-10.0.0.3             False    Installing    Installing Talos",
    ]);
  });

  it("has columns of their own for role, node and versions in 140 columns", () => {
    const [head, root, , machine, , , waiting] = renderTrees([tree], { terminal: { ...plain, columns: 139 } });
    assert.match(head ?? "", /^OBJECT +READY +STATE +ROLE +NODE +TALOS +KUBERNETES +WAITS FOR$/);
    assert.match(root ?? "", /^TalosCluster\/first +True +Ready +2\/3 ready +v1\.13\.9 +v1\.36\.3$/);
    assert.match(machine ?? "", /^│ └─cp-10\.0\.0\.1 +True +Available +control plane +talos-a +v1\.13\.9$/);
    assert.match(waiting ?? "", /^ {2}└─w-10\.0\.0\.3 +False +Installing +worker +v1\.13\.9 +Installing Talos$/);
  });

  it("draws with ASCII alone, whatever a message holds", () => {
    const lines = renderTrees([clusterNode([poolNode([waitingNode("w-1", `Größe … ${LONG}`)])])], {
      terminal: { useColour: false, useUnicode: false, columns: 79 },
    });
    for (const line of lines) assert.match(line, /^[\u0020-\u007e]*$/);
    assert.match(lines.join("\n"), /^`-TalosWorker\/first[^]*\n {2}`-w-1 .*Gr\?\?e \.\.\./m);
  });

  for (const columns of [1, 19, 59, 79, 117, 118, 139])
    it(`is nowhere wider than ${columns} columns, and keeps every colour code whole`, () => {
      const wide = clusterNode([poolNode([waitingNode(`w-${"x".repeat(200)}`, `中文字符 ${LONG}`)], { notes: [note("Removing", LONG)] })], {
        notes: [note("UpgradePending", LONG)],
      });
      for (const useColour of [true, false])
        for (const isStill of [true, false])
          for (const line of renderTrees([wide], { terminal: { useColour, useUnicode: true, columns }, isStill })) {
            assert.ok(widthOf(visible(line)) <= columns, line);
            assert.equal(visible(line).includes("\u001b"), false, line);
          }
    });

  it("lets nothing that a machine says move the cursor", () => {
    const lines = renderTrees([clusterNode([poolNode([waitingNode("w-1", "a\u001b[2Jb\nc\r\u009bd")])])], {
      terminal: { ...plain, columns: 79 },
    });
    assert.match(lines.at(-1) ?? "", /a \[2Jb c d$/);
  });

  it("cuts nothing where there is no terminal", () => {
    const lines = renderTrees([clusterNode([poolNode([waitingNode("w-1", LONG)])])], { terminal: plain });
    assert.ok(lines.some((line) => line.includes(LONG.trim())));
  });

  it("shows the conditions of clusters and pools below them, and more than one of a machine", () => {
    const both = waitingNode("w-1", "Draining.", { notes: [note("Ready", "Draining."), note("Deleting", "It goes.")] });
    const lines = renderTrees([clusterNode([poolNode([both], { notes: [note("Removing", "w-1 leaves.")] })])], {
      terminal: { ...plain, columns: 79 },
    });
    assert.deepEqual(
      lines.filter((line) => line.includes("!")),
      ["  │ ! Removing: w-1 leaves.", "      ! Deleting: It goes."],
    );
  });

  for (const columns of [79, 119])
    it(`says first and whole what goes on, and nothing of it twice, in ${columns} columns`, () => {
      const headline = "Upgrading Talos v1.13.9 → v1.13.10: 2 of 6 done, first-127.1.0.3 verifying, about 60 s left.";
      const upgrading = [note("UpgradePending", `${headline} first-127.1.0.4 is next.`)];
      const tree = clusterNode([poolNode([machineNode("w-1")], { notes: upgrading })], {
        headline,
        notes: [note("Progressing", headline)],
      });
      const lines = renderTrees([tree], { terminal: { ...plain, columns } });
      const head = lines.findIndex((line) => line.startsWith("OBJECT"));
      const told = lines.slice(0, head).map((line) => line.trim());
      assert.equal(told.join(" "), `first: ${headline}`);
      assert.deepEqual(
        lines.filter((line) => line.includes("!")),
        ["  │ ! UpgradePending: first-127.1.0.4 is next."],
      );
    });

  it("says below a machine what does not fit beside it, where nothing is drawn anew", () => {
    const message = "nodeReady: the network plugin is not installed";
    const still = renderTrees([clusterNode([poolNode([waitingNode("w-1", message)])])], {
      terminal: { ...plain, columns: 79 },
      isStill: true,
    });
    assert.equal(still.at(-1), `    ! ${message}`);
    const live = renderTrees([clusterNode([poolNode([waitingNode("w-1", message)])])], { terminal: { ...plain, columns: 79 } });
    assert.equal(live.length, still.length - 1);
  });

  it("keeps machines on their lines and columns in place while they go on", () => {
    const at = (message: string, state: string): string => {
      const lines = renderTrees([clusterNode([poolNode([waitingNode("w-1", message, { state })])])], {
        terminal: { ...plain, columns: 79 },
      });
      const line = lines.findIndex((text) => text.includes("w-1"));
      return `${line}:${lines[line]?.indexOf("some")}`;
    };
    assert.equal(at("some", "Pending"), at(`some ${LONG}`, "Unreachable"));
  });
});

describe("thousands of machines", () => {
  const waiting = waitingNode("w-9", "w-9: kubelet not running.");
  const huge = clusterNode([
    poolNode([...many(2_000, (name) => machineNode(name)), ...many(50, (name) => waitingNode(name, `${name}: no answer.`)), waiting]),
  ]);

  it("counts those that are alike, ready or not, and shows each that is not", () => {
    const lines = renderTrees([huge], { terminal: { ...plain, columns: 79 }, most: 10 });
    assert.equal(lines.length, 1 + 2 + 10 + 10 + 1 + 2);
    assert.match(lines.join("\n"), /├─\+ 1,990 more +True +Available +v1\.13\.9\n {2}└─\+ 40 more +False +Installing +each: no answer\./);
    assert.match(lines.join("\n"), /├─w-9 .*w-9: kubelet/);
  });

  it("shows every one when it is asked to", () => {
    assert.equal(renderTrees([huge], { terminal: { ...plain, columns: 79 } }).length, 3 + 2_051);
  });

  it("does not count a single one", () => {
    const lines = renderTrees([clusterNode([poolNode(many(11, (name) => machineNode(name)))])], { terminal: plain, most: 10 });
    assert.doesNotMatch(lines.join("\n"), /more/);
  });

  for (const rows of [6, 8, 23, 39])
    it(`fits into ${rows} lines`, () => {
      const lines = renderTrees([huge], { terminal: { ...plain, columns: 79 }, most: 10, rows });
      assert.ok(lines.length <= rows);
      if (rows > 6) assert.match(lines.join("\n"), /w-9/);
    });

  it("looks at each machine as often in a large pool as in a small one", () => {
    const looks = (count: number): number => {
      let looked = 0;
      const counted = (node: ReturnType<typeof waitingNode>): typeof node =>
        new Proxy(node, { get: (target, key, receiver) => ((looked += 1), Reflect.get(target, key, receiver) as unknown) });
      const pool = poolNode(many(count, (name) => counted(waitingNode(name, `${name}: no answer.`))));
      looked = 0;
      renderTrees([clusterNode([pool])], { terminal: { ...plain, columns: 79 }, most: 10, rows: 23 });
      return looked;
    };
    assert.ok(looks(5_000) < 11 * looks(500), `${looks(5_000)} looks at 5,000 machines, ${looks(500)} at 500`);
  });
});
