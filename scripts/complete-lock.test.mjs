import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";

const locks = [
  { name: "package-lock.json", least: 200 },
  { name: "scripts/launch/node/package-lock.json", least: 2 },
];
for (const { name, least } of locks)
  describe(name, () => {
    const { packages } = JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), "utf8"));
    const installed = Object.entries(packages).filter(([key, { link }]) => key.includes("node_modules/") && link !== true);

    it("proves every package by its integrity, those of other platforms too", () => {
      assert.ok(installed.length >= least);
      for (const [key, { integrity }] of installed)
        assert.match(integrity ?? "", /^sha512-[A-Za-z0-9+/]{86}==$/, `${key} has no integrity: run scripts/complete-lock.mjs`);
    });

    it("has the packages of every platform, or npm ci refuses it elsewhere", () => {
      for (const [key, { optionalDependencies = {} }] of Object.entries(packages))
        for (const name of Object.keys(optionalDependencies))
          assert.ok(
            Object.keys(packages).some((known) => known.endsWith(`node_modules/${name}`)),
            `${key} wants ${name}: run scripts/complete-lock.mjs`,
          );
    });

    it("names no registry", () => {
      for (const [key, { resolved }] of installed) assert.equal(resolved, undefined, key);
    });
  });
