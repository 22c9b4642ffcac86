import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";

const root = new URL("../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");
const isThere = (path: string): boolean => existsSync(new URL(path, root));

/** Rows of the tables of a page, as cells. */
const rowsOf = (text: string): readonly (readonly string[])[] =>
  [...text.matchAll(/^\| (.+) \|$/gm)].map(([, row = ""]) => row.split(" | ").map((cell) => cell.trim()));

const pathsIn = (cell: string): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path);

describe("the table of promises", () => {
  const page = read("docs/reference/promises.md");
  const rows = rowsOf(page).filter(([id = ""]) => /^[ABC]\d{3}$/.test(id));
  const explained = [...page.matchAll(/^- ((?:[ABC]\d{3}(?:, )?)+): .{5,}$/gm)].flatMap(([, ids = ""]) => ids.split(", "));
  /** `stories/x` and `operator/x` are short for paths below packages; others begin at the root. */
  const inTree = (path: string): string =>
    isThere(path) ? path : path.replace(/^stories\//, "testkit/stories/").replace(/^([a-z-]+)\//, "packages/$1/src/");

  it("has every row of part A, each once", () => {
    const ids = rows.map(([id = ""]) => id);
    assert.equal(new Set(ids).size, ids.length);
    const wanted = Array.from({ length: 123 }, (_, index) => `A${String(index + 1).padStart(3, "0")}`);
    assert.deepEqual(
      ids.filter((id) => id.startsWith("A")),
      wanted,
    );
  });

  it("has the rows of parts B and C", () => {
    assert.equal(rows.filter(([id = ""]) => id.startsWith("B")).length, 77);
    assert.equal(rows.filter(([id = ""]) => id.startsWith("C")).length, 3);
  });

  it("names files that are there for all that holds", () => {
    for (const [id = "", promise = "", state = "", shown = ""] of rows) {
      assert.ok(promise.length > 0, id);
      if (state === "not yet") continue;
      assert.ok(pathsIn(shown).length > 0, `${id} names no file`);
      for (const path of pathsIn(shown)) assert.ok(isThere(inTree(path)), `${id} names ${path}, which is not there`);
    }
  });

  it("says of each row that does not hold what is missing, and of no other", () => {
    for (const [id = "", , state = ""] of rows) assert.match(state, /^(?:holds|part|not yet)$/, id);
    const open = rows.filter(([, , state]) => state !== "holds").map(([id = ""]) => id);
    assert.deepEqual(explained.toSorted(), open.toSorted());
  });
});

it("every package names the licence that LICENSE holds, which takes the place of a header in each file (B135)", () => {
  assert.match(read("LICENSE"), /^\s*Apache License\s+Version 2\.0/);
  const packages = readdirSync(new URL("packages/", root)).map((name) => `packages/${name}/package.json`);
  for (const path of ["package.json", ...packages]) {
    const { license } = JSON.parse(read(path)) as { readonly license?: string };
    assert.equal(license, "Apache-2.0", path);
  }
});

describe("the map of folders", () => {
  const [, section = ""] = read("docs/architecture.md").split("## Folders of the first documents");
  const rows = rowsOf(section.split("\n## ")[0] ?? "").filter(([from = ""]) => from.startsWith("`"));

  it("has every folder of the first layouts (A005, B002)", () => {
    const named = rows.flatMap(([from = ""]) => pathsIn(from));
    for (const folder of [
      "cmd",
      "api/controllers/v1alpha1",
      "config/default",
      "config/manager",
      "config/rbac",
      "config/prometheus",
      "config/network-policy",
      "charts/talos-operator",
      "examples",
      "internal",
      "pkg/consts",
      "hack/results",
      "test",
      "api",
      "pkg",
      "deploy",
      "docs",
      "hack",
      "ui",
    ])
      assert.ok(named.includes(folder), folder);
  });

  it("leads to what is there", () => {
    for (const [from, to = ""] of rows) {
      if (to.startsWith("not yet")) continue;
      assert.ok(pathsIn(to).length > 0, from);
      for (const path of pathsIn(to)) assert.ok(isThere(path), `${from} leads to ${path}, which is not there`);
    }
  });

  it("keeps the names that were promised as they are", () => {
    for (const path of [
      "config/crd",
      "config/default",
      "config/manager",
      "config/rbac",
      "config/prometheus",
      "config/network-policy",
      "config/samples",
    ])
      assert.ok(isThere(path), path);
    for (const path of ["charts/talos-operator", "examples", "hack/results", "test", "docs"]) assert.ok(isThere(path), path);
  });
});

describe("the map of ideas", () => {
  const operator = "packages/operator/src/";
  const [, section = ""] = read("docs/architecture.md").split("## Where to change what");
  const rows = rowsOf(section.split("\n## ")[0] ?? "").slice(2);

  it("leads to what is there", () => {
    assert.ok(rows.length > 30);
    for (const [idea, where = ""] of rows) {
      // A short path stands beside, or in, the one before it.
      let beside = "";
      for (const named of pathsIn(where).filter((text) => /\/$|^\S+\.(ts|md)$/.test(text))) {
        const path = named.replace(/^…\//, operator);
        assert.ok(isThere(path) || isThere(`${beside}${path}`), `${idea} leads to ${named}, which is not there`);
        if (isThere(path)) beside = path.slice(0, path.lastIndexOf("/") + 1);
      }
    }
  });
});

describe("the documents", () => {
  it("are the ten that were promised, with something in them (B132)", () => {
    const pages = ["index", "getting_started", "crds/README", "operator_manual/README", "diagram", "kubernetes_upgrade_flow_diagram"];
    for (const page of [...pages, "metrics", "upgrading/README", "contributing", "roadmap"])
      assert.ok(read(`docs/${page}.md`).length > 100, page);
  });

  it("lead to pages that are there", () => {
    for (const page of [
      "docs/index.md",
      "docs/getting_started.md",
      "docs/operator_manual/README.md",
      "docs/upgrading/README.md",
      "docs/howto/change-a-cluster.md",
      "docs/howto/backups.md",
      "docs/runbooks/README.md",
      "docs/roadmap.md",
      "README.md",
    ])
      for (const [, link = ""] of read(page).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g))
        assert.ok(existsSync(new URL(link, new URL(page, root))), `${page} leads to ${link}`);
  });

  it("lead from one table to every runbook", () => {
    const table = read("docs/runbooks/README.md");
    const pages = readdirSync(new URL("docs/runbooks/", root)).filter((name) => name !== "README.md");
    assert.ok(pages.length > 20);
    for (const page of pages) assert.ok(table.includes(`](${page})`), page);
  });

  it("name files of examples that are there", () => {
    for (const page of [
      "README.md",
      "docs/getting_started.md",
      "docs/howto/change-a-cluster.md",
      "docs/howto/backups.md",
      "examples/README.md",
    ])
      for (const [path] of read(page).matchAll(/\bexamples\/[\w./-]+\.(?:yaml|ts)\b/g)) assert.ok(isThere(path), `${page} names ${path}`);
  });

  it("name targets of make that there are, all listed by make help (B143)", () => {
    const makefile = read("Makefile");
    for (const target of ["install", "deploy", "undeploy", "run", "test", "docker-build", "manifests", "generate"])
      assert.match(makefile, new RegExp(`^(?:[a-z-]+ )*${target}(?: [a-z-]+)*: ## `, "m"), target);
    for (const page of ["docs/operator_manual/README.md", "docs/upgrading/README.md", "docs/getting_started.md"])
      for (const [, target = ""] of read(page).matchAll(/(?:`|^ *)make ([a-z-]+)/gm))
        assert.match(makefile, new RegExp(`^${target}: `, "m"), target);
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    const called = [...makefile.matchAll(/^\tnpm (?:run )?([a-z:-]+)/gm)].map(([, script = ""]) => script);
    assert.ok(called.length >= 8);
    for (const script of called) assert.ok(script in scripts, `make calls npm run ${script}, which is not there`);
  });
});
