import { array, constantFrom, gen, record, subarray, tuple, uniqueArray, type Arbitrary } from "fast-check";
import { below } from "./documents.ts";

/** What is asked of the formats beside machine configs, in the form of a recorded case. */
export type SmallInput = Readonly<Record<string, unknown>>;

type Draw = (limit: number) => number;

const pick = (draw: Draw, list: readonly string[]): string => list[draw(list.length)] ?? "";

/** Client configurations, one merged into another: empty ones, with taken names, with parts that only some releases know. */
export function talosconfigs(): Arbitrary<SmallInput> {
  return tuple(talosconfig(), talosconfig(), constantFrom(true, true, false)).map(([text, merge, isMerged]) =>
    isMerged ? { talosconfig: text, merge } : { talosconfig: text },
  );
}

function talosconfig(): Arbitrary<string> {
  const whole = gen().map((g) => {
    const draw: Draw = (limit) => g(below, limit);
    const names = ["alpha", "beta", "alpha-1", "yes", '""', "1.10", "a.b"].filter(() => draw(3) === 0);
    const contexts =
      names.length === 0 ? pick(draw, [" {}", "", " ~", " []"]) : names.map((name) => `\n  ${name}:${contextText(draw)}`).join("");
    const current = draw(4) === 0 ? "" : `context: ${pick(draw, ["alpha", "beta", "gone", '""', "~", "yes"])}\n`;
    return `${current}${draw(8) === 0 ? "" : `contexts:${contexts}\n`}${draw(8) === 0 ? "bogus: 1\n" : ""}`;
  });
  return gen().chain((g) =>
    g(below, 8) === 0 ? constantFrom("", "{}\n", "# nothing\n", "~\n", "hello\n", "---\n", 'context: ""\ncontexts: {}\n') : whole,
  );
}

function contextText(draw: Draw): string {
  const fields = [
    `target: ${pick(draw, ["10.0.0.1", '""', "~"])}`,
    `endpoints: ${pick(draw, ["[10.0.0.1, node.example]", "[]", "~", '["2001:db8::1", ~]'])}`,
    `nodes: ${pick(draw, ["[10.0.0.1]", "[]", "~"])}`,
    `ca: ${pick(draw, ["YWJj", '""', "~", "1"])}`,
    "crt: YWJj",
    "key: YWJj",
    `auth: ${pick(draw, ["{}", "{basic: {username: a, password: 'no'}}", "{basic: ~}", "{siderov1: {identity: a@b.c}}", "{basic: {}, siderov1: {}}"])}`,
    `cluster: ${pick(draw, ["alpha", '""', "off"])}`,
    `proxy-url: ${pick(draw, ["http://proxy.example:3128", '""', "~", "socks5://10.0.0.1"])}`,
    "bogus: [1]",
  ].filter(() => draw(3) === 0);
  if (fields.length === 0) return " {}";
  return fields.map((field) => `\n    ${field}`).join("");
}

const roles = [
  "os:admin",
  "os:operator",
  "os:reader",
  "os:etcd:backup",
  "os:impersonator",
  "os:meta:writer",
  "os:image:verifier",
  "os:bogus",
  "",
];

/** Client certificates of the Talos API, of authorities of any age. */
export function clientCertificates(bundles: readonly string[]): Arbitrary<SmallInput> {
  return record({
    bundle: constantFrom(...bundles),
    roles: subarray(roles, { minLength: 1 }),
    ttl: constantFrom("5m0s", "1h0m0s", "8760h0m0s", "24h0m30s", "87600h0m0s"),
    now: constantFrom("2026-03-01T12:00:00Z", "2026-12-31T23:59:59Z"),
  }).map(({ bundle, ...rest }) => {
    const [, crt = "", key = ""] = /\n {4}os:\n {8}crt: (\S+)\n {8}key: (\S+)/.exec(bundle) ?? [];
    const pem = (text: string): string => Buffer.from(text, "base64").toString();
    return { op: "talos-client-cert", ca_crt: pem(crt), ca_key: pem(key), ...rest };
  });
}

const kubernetes = constantFrom(
  "1.36",
  "1.30.14",
  "v1.33",
  "1.36.0-rc.1",
  "1.26.1",
  "1",
  "1.36.x",
  "latest",
  "",
  "1.36.1+build",
  "2.0.0",
  "v1.37.0-alpha.0",
  "1.35.9",
);
const talos = constantFrom(
  "v1.13.0",
  "v1.13",
  "1.12.4",
  "v1.13.0-alpha.1",
  "v1.6.1",
  "v1.8.0-beta.1",
  "v1.0.0",
  "1.13.9-7-gabcdef",
  "v1",
  "v1.13.x",
  "",
  "v1.12.0-rc.0",
  "v1.11.99",
);

/** Which Kubernetes a Talos runs, and which Talos may follow which. Versions of one, two and three parts. */
export function versions(): Arbitrary<SmallInput> {
  const matrix = record({ kubernetes, talos });
  const upgrades = record({ host: talos, target: talos });
  return array(matrix, { minLength: 1, maxLength: 8 })
    .map((rows): SmallInput => ({ op: "kubernetes-supported-with-talos", rows }))
    .chain((first) =>
      array(upgrades, { minLength: 1, maxLength: 8 }).chain((rows) => constantFrom(first, { op: "talos-upgradeable", rows })),
    );
}

/** Contracts as people write them, and their order. */
export function contracts(): Arbitrary<SmallInput> {
  const texts = ["v1.13", "1.13", "v1.13.1", "v1.0", "1.6.0-alpha.1", "v0.14", "v1", "1.13.x", "", "vv1.2", "v1.13-rc.1", "1.013", "v10.2"];
  return uniqueArray(constantFrom(...texts), { minLength: 1, maxLength: 6 }).map((list) => ({ op: "parse", versions: list }));
}
