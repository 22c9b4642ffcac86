import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createScreen } from "./screen.ts";
import { terminalOf } from "./terminal.ts";
import { clusterNode, machineNode, many, poolNode, waitingNode } from "./testing/trees.ts";

const UTF8 = { LANG: "C.UTF-8" };

function stream(size?: { readonly columns: number; readonly rows: number }): {
  readonly stream: NodeJS.WriteStream;
  written(this: void): string;
} {
  let text = "";
  const fake = { isTTY: size !== undefined, ...size, hasColors: () => true, write: (chunk: string) => (text += chunk) !== "" };
  return {
    stream: fake as unknown as NodeJS.WriteStream,
    written: () => {
      const said = text;
      text = "";
      return said;
    },
  };
}

const trees = [clusterNode([poolNode([machineNode("w-1"), waitingNode("w-2", "Installing Talos")])])];

describe("a screen", () => {
  it("draws anew in place on a terminal, with as many lines as it has", () => {
    const { stream: terminal, written } = stream({ columns: 80, rows: 24 });
    const screen = createScreen(terminal, UTF8, { most: 10 });
    screen.show({ trees, title: "Not Ready yet, 1.0s" });
    const first = written();
    assert.match(first, /Not Ready yet, 1\.0s/);
    const lines = first.split("\n").length - 1;
    screen.show({ trees });
    assert.ok(written().startsWith(`\u001b[${lines}A`));
    screen.show({ trees: [clusterNode([poolNode(many(500, (name) => machineNode(name, { state: name })))])] });
    assert.ok(written().split("\n").length <= 24);
  });

  it("keeps what is said for good above the view, commands whole, and draws below it", () => {
    const { stream: terminal, written } = stream({ columns: 40, rows: 24 });
    const out = stream();
    const screen = createScreen(terminal, UTF8, { kept: out.stream });
    screen.show({ trees });
    written();
    const command = `  kubectl --kubeconfig ${"x".repeat(100)}`;
    screen.keep(["Ready after 1.0s."], [command], ["Ctrl-C stops it."]);
    assert.equal(out.written(), `${command}\n`);
    // oxlint-disable-next-line no-control-regex -- the cursor is moved by it
    assert.match(written(), /\u001b\[0JReady after 1\.0s\.\nCtrl-C stops it\.\n$/);
    screen.show({ trees });
    // oxlint-disable-next-line no-control-regex -- the cursor is moved by it
    assert.doesNotMatch(written(), /^\u001b\[\d+A/);
  });

  it("writes a line for each change elsewhere: in a pipe, in a build, on a terminal that cannot move its cursor", () => {
    for (const [size, environment] of [
      [undefined, UTF8],
      [
        { columns: 80, rows: 24 },
        { ...UTF8, CI: "true" },
      ],
      [
        { columns: 80, rows: 24 },
        { ...UTF8, TERM: "dumb" },
      ],
    ] as const) {
      const { stream: place, written } = stream(size);
      const screen = createScreen(place, environment, { most: 10 });
      const events = [{ id: "1", at: "10:00:00", text: "TalosMachine/w-2 Configured: x" }];
      screen.show({ trees, at: "10:00:00", title: "Not Ready yet, 1.0s", events });
      assert.equal(written().split("\n").length, 1 + 4 + 1);
      screen.show({ trees, at: "10:00:01", title: "Not Ready yet, 2.0s", events });
      assert.equal(written(), "");
    }
  });

  it("shows the newest events that there is room for", () => {
    const { stream: terminal, written } = stream({ columns: 80, rows: 12 });
    const events = Array.from({ length: 30 }, (_, index) => ({ id: `${index}`, at: "10:00:00", text: `event ${index}` }));
    createScreen(terminal, UTF8, {}).show({ trees, events });
    const text = written();
    assert.match(text, /event 29/);
    assert.doesNotMatch(text, /event 20\b/);
    assert.ok(text.split("\n").length <= 12);
  });
});

describe("a terminal", () => {
  const columns = { columns: 100, rows: 30 };
  const colours = { isTTY: true, ...columns, hasColors: () => true };
  it("leaves its last column and line free, and takes 80 by 24 where it has no size", () => {
    assert.deepEqual([terminalOf(colours, UTF8).columns, terminalOf(colours, UTF8).rows], [99, 29]);
    assert.deepEqual(terminalOf({ isTTY: true, columns: 0, rows: 0 }, UTF8).columns, 79);
    assert.equal(terminalOf({ isTTY: false, ...columns }, UTF8).columns, undefined);
  });
  it("has no colour with NO_COLOR, TERM=dumb or without colours, nor in a pipe", () => {
    assert.equal(terminalOf(colours, UTF8).useColour, true);
    for (const environment of [{ NO_COLOR: "1" }, { TERM: "dumb" }]) assert.equal(terminalOf(colours, environment).useColour, false);
    assert.equal(terminalOf({ ...colours, hasColors: () => false }, UTF8).useColour, false);
    assert.equal(terminalOf({ ...colours, isTTY: false }, UTF8).useColour, false);
  });
  it("has UTF-8 where the locale says so, its gravest word first", () => {
    const has = (environment: NodeJS.ProcessEnv): boolean => terminalOf(colours, environment).useUnicode;
    assert.deepEqual(
      [
        has({ LANG: "de_DE.UTF-8" }),
        has({ LC_ALL: "C", LANG: "C.UTF-8" }),
        has({ LC_CTYPE: "en_US.utf8" }),
        has({ ...UTF8, TERM: "dumb" }),
      ],
      [true, false, true, false],
    );
  });
});
