import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { checksOf, effects } from "@talos-operator/operator/testing";
import type { EffectKind } from "@talos-operator/operator/testing";
import { ADDON_TROUBLES, BACKUP_TROUBLES, EDIT_TROUBLES, LATER_TROUBLES, TROUBLES } from "../simulate/troubles/kinds.ts";
import { workloads } from "../simulate/workloads/index.ts";
import { mutants } from "./index.ts";
import { readIndependent } from "./independent/adapters/lists.ts";
import { executedIn, placeOf } from "./independent/executed.ts";
import { mutantOf } from "./independent/fault.ts";
import { play, staleEdits } from "./adapters/play.ts";
import { required, unplantable } from "./required.ts";
import { plantedAs } from "./list.ts";

/** Independent faults without a known test. Lower it with each that a test is found for. */
const UNNOTICED = 60;

describe("planted faults", () => {
  it("have names of their own, and stand for what is known", () => {
    assert.equal(new Set(mutants.map(({ name }) => name)).size, mutants.length);
    for (const { name, stands = [] } of mutants) for (const id of stands) assert.ok(id in required, `${name} stands for ${id}`);
  });

  it("are noticed by tests, lives and troubles that there are", () => {
    const packages = new URL("../../../", import.meta.url);
    const troubles: readonly string[] = [TROUBLES, LATER_TROUBLES, EDIT_TROUBLES, BACKUP_TROUBLES, ADDON_TROUBLES].flat();
    for (const { name, tests, workload, trouble } of mutants) {
      for (const file of tests ?? []) assert.ok(existsSync(new URL(file, packages)), `${name}: ${file}`);
      if (tests === undefined)
        assert.ok(
          workloads.some((one) => one.name === workload),
          `${name}: ${workload ?? ""}`,
        );
      if (trouble !== undefined) assert.ok(troubles.includes(trouble), `${name}: ${trouble}`);
    }
  });

  it("fit the source as it is now", () => {
    assert.deepEqual(
      mutants.flatMap((mutant) => staleEdits(mutant).map((stale) => `${mutant.name}: ${stale}`)),
      [],
    );
  });

  it("stand for every incident, fault of another operator and guard that can be planted", () => {
    const missing = Object.keys(required).filter((id) => plantedAs(id, mutants).length === 0);
    assert.deepEqual(missing, Object.keys(unplantable));
  });

  it("made of checks are no fewer than were quoted once, and each effect with checks has a table", () => {
    const kinds = Object.keys(effects) as EffectKind[];
    assert.ok(kinds.reduce((sum, kind) => sum + checksOf(kind).length, 0) >= 152);
    const folder = new URL("../effects/", import.meta.url);
    const nodes = new URL("../../../operator/src/effects/tend-nodes.test.ts", import.meta.url);
    const tables = [...readdirSync(folder).map((file) => new URL(file, folder)), nodes].map((file) => readFileSync(file, "utf8")).join("");
    const without = kinds.filter(
      (kind) => checksOf(kind).length > 0 && !new RegExp(`play\\("${kind}"|^ {4,6}${kind}: [[{]`, "m").test(tables),
    );
    assert.deepEqual(without, []);
  });

  for (const name of ["bundle-owned", "without-a-uuid"])
    it(`are noticed: ${name}`, async () => {
      const mutant = mutants.find((one) => one.name === name);
      assert.ok(mutant !== undefined);
      const outcome = await play(mutant);
      assert.ok(outcome.isCaught, outcome.detail);
    });
});

describe("independent faults", () => {
  const faults = readIndependent();

  it("have names of their own, and say what they break", () => {
    const names = [...mutants, ...faults].map(({ name }) => name);
    assert.deepEqual(
      names.filter((name, position) => names.indexOf(name) !== position),
      [],
    );
    for (const { name, breaks, was, is } of faults) {
      assert.match(breaks, /[^.]\.$/, name);
      assert.notEqual(was, is, name);
    }
  });

  it("fit the source as it is now", () => {
    assert.deepEqual(
      faults.flatMap((fault) => staleEdits(mutantOf(fault)).map((stale) => `${fault.name}: ${stale}`)),
      [],
    );
  });

  it("name a test file that is there", () => {
    const root = new URL("../../../../", import.meta.url);
    assert.deepEqual(
      faults.filter(({ noticedBy }) => noticedBy !== undefined && !existsSync(new URL(noticedBy, root))).map(({ name }) => name),
      [],
    );
  });

  it("without a test that is known to notice them become no more", () => {
    assert.ok(faults.filter(({ noticedBy }) => noticedBy === undefined).length <= UNNOTICED);
  });

  it("are known to be run by a process that reaches their text", () => {
    const fault = { name: "f", area: "K1", file: "packages/a.ts", was: "if (x) yes();", is: "if (x) no();", breaks: "It breaks." };
    const source = "begin(); if (x) yes();";
    const place = placeOf(fault, source);
    assert.deepEqual(place?.offsets, [9, 16, 18]);
    const coverage = (inner: number): Parameters<typeof executedIn>[0] => ({
      result: [
        {
          url: "file:///r/packages/a.ts",
          functions: [
            {
              ranges: [
                { startOffset: 0, endOffset: source.length, count: 1 },
                { startOffset: 9, endOffset: source.length, count: inner },
              ],
            },
          ],
        },
      ],
    });
    assert.deepEqual(executedIn(coverage(2), [place ?? assert.fail()]), ["f"]);
    assert.deepEqual(executedIn(coverage(0), [place ?? assert.fail()]), []);
    assert.equal(placeOf(fault, "other"), undefined);
  });
});
