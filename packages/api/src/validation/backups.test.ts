import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findingsMessage, validateBackupScheduleSpec, validateBackupSpec, validateEtcdBackupSpec } from "../index.ts";
import type { BackupOptions, DirectoryStorage, EtcdBackupSpec, Finding, S3Storage, TalosEtcdBackupSpec } from "../index.ts";

const RECIPIENT = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
const key = (name: string) => ({ name: "s3", key: name });

/** A published object. */
const s3: S3Storage = { bucket: "backups", region: "eu-central-1", accessKeyID: key("id"), secretAccessKey: key("secret") };
const spec: TalosEtcdBackupSpec = { talosControlPlaneRef: { name: "demo" }, backupStorage: { s3 } };

const withS3 = (changes: Partial<S3Storage>): TalosEtcdBackupSpec => ({ ...spec, backupStorage: { s3: { ...s3, ...changes } } });
const inDirectory = (directory: DirectoryStorage): TalosEtcdBackupSpec => ({ ...spec, backupStorage: { directory } });
const told = (findings: readonly Finding[]) => findings.map(({ field, reason }) => `${field} ${reason}`);

describe("validateBackupSpec", () => {
  it("has nothing against what is published, nor against every field of ours", () => {
    assert.deepEqual(validateBackupSpec(spec), []);
    assert.deepEqual(
      validateBackupSpec({
        clusterRef: { name: "demo" },
        storageType: "S3",
        backupStorage: {
          s3: {
            bucket: "backups",
            region: "us-east-1",
            endpoint: "https://minio.storage:9000",
            prefix: "clusters/berlin",
            pathStyle: true,
            caBundle: "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n",
          },
        },
        encryption: { recipients: [RECIPIENT] },
        retention: { keepFor: "30d" },
        deletionPolicy: "delete",
        drill: { identitySecretRef: key("identity") },
        timeout: "90m",
        maxSize: "2Gi",
      }),
      [],
    );
    assert.deepEqual(validateBackupSpec(inDirectory({ path: "clusters/berlin" }), { hasDirectory: true }), []);
  });

  const REFUSED = "SpecRefused";
  const INSECURE = "InsecureObjectStorage";
  const s3At = "spec.backupStorage.s3";
  const cases: readonly (readonly [string, TalosEtcdBackupSpec, string, BackupOptions?])[] = [
    ["a reference to nothing", { ...spec, talosControlPlaneRef: { name: "" } }, `spec.talosControlPlaneRef.name ${REFUSED}`],
    ["no store", { ...spec, backupStorage: {} }, `spec.backupStorage ${REFUSED}`],
    ["two stores", { ...spec, backupStorage: { s3, directory: {} } }, `spec.backupStorage ${REFUSED}`, { hasDirectory: true }],
    ["bucket ..", withS3({ bucket: ".." }), `${s3At}.bucket ${REFUSED}`],
    ["a bucket with two dots in it", withS3({ bucket: "a..b" }), `${s3At}.bucket ${REFUSED}`],
    ["a bucket with a path", withS3({ bucket: "a/b" }), `${s3At}.bucket ${REFUSED}`],
    ["no region", withS3({ region: "" }), `${s3At}.region ${REFUSED}`],
    ["a region that is a host", withS3({ region: "eu.evil.example/" }), `${s3At}.region ${REFUSED}`],
    ["an endpoint that is no URL", withS3({ endpoint: "s3 example" }), `${s3At}.endpoint ${REFUSED}`],
    ["an endpoint without scheme", withS3({ endpoint: "s3.example.org:9000" }), `${s3At}.endpoint ${REFUSED}`],
    ["an endpoint of another scheme", withS3({ endpoint: "ftp://s3.example.org" }), `${s3At}.endpoint ${REFUSED}`],
    ["an endpoint with a query", withS3({ endpoint: "https://s3.example.org/?a=b" }), `${s3At}.endpoint ${REFUSED}`],
    ["the metadata service of a cloud", withS3({ endpoint: "https://169.254.169.254" }), `${s3At}.endpoint ${REFUSED}`],
    [
      "the same as a number",
      withS3({ endpoint: "http://2852039166" }),
      `${s3At}.endpoint ${REFUSED}`,
      { allowInsecureObjectStorage: true },
    ],
    ["the operator's own host", withS3({ endpoint: "https://127.0.0.1:9333" }), `${s3At}.endpoint ${REFUSED}`],
    ["an endpoint that ends with the bucket", withS3({ endpoint: "https://s3.example.org/backups" }), `${s3At}.endpoint ${REFUSED}`],
    [
      "an endpoint that ends with the bucket and a slash",
      withS3({ endpoint: "https://s3.example.org/gw/backups/" }),
      `${s3At}.endpoint ${REFUSED}`,
    ],
    ["an endpoint that begins with the bucket", withS3({ endpoint: "https://backups.s3.example.org" }), `${s3At}.endpoint ${REFUSED}`],
    [
      "an endpoint that nobody allowed",
      withS3({ endpoint: "https://s3.example.com" }),
      `${s3At}.endpoint ${REFUSED}`,
      { endpoints: ["aws", "https://s3.example.org"] },
    ],
    ["AWS where it is not allowed", spec, `${s3At}.endpoint ${REFUSED}`, { endpoints: ["https://s3.example.org"] }],
    [
      "the identity of the Jobs for another namespace",
      { ...spec, backupStorage: { s3: { bucket: "backups", region: "r" } } },
      `${s3At} ${REFUSED}`,
      { identityNamespaces: ["infra"], namespace: "team-a" },
    ],
    [
      "the identity of the Jobs for nobody knows which namespace",
      { ...spec, backupStorage: { s3: { bucket: "backups", region: "r" } } },
      `${s3At} ${REFUSED}`,
      { identityNamespaces: [] },
    ],
    ["http", withS3({ endpoint: "http://minio.storage:9000" }), `${s3At}.endpoint ${INSECURE}`],
    ["an unchecked certificate", withS3({ insecureSkipTLSVerify: true }), `${s3At}.insecureSkipTLSVerify ${INSECURE}`],
    ["a prefix with a line break", withS3({ prefix: "a\nb" }), `${s3At}.prefix ${REFUSED}`],
    ["a prefix with a slash before it", withS3({ prefix: "/a" }), `${s3At}.prefix ${REFUSED}`],
    ["a prefix that leads up", withS3({ prefix: "a/../b" }), `${s3At}.prefix ${REFUSED}`],
    ["a prefix with a blank", withS3({ prefix: "my backups" }), `${s3At}.prefix ${REFUSED}`],
    ["a prefix without end", withS3({ prefix: "a".repeat(301) }), `${s3At}.prefix ${REFUSED}`],
    ["a private key as authority", withS3({ caBundle: "-----BEGIN EC PRIVATE KEY-----\nAA==" }), `${s3At}.caBundle ${REFUSED}`],
    ["an authority that is none", withS3({ caBundle: "AA==" }), `${s3At}.caBundle ${REFUSED}`],
    ["a key in no Secret", withS3({ accessKeyID: { key: "id", name: "" } }), `${s3At}.accessKeyID ${REFUSED}`],
    ["an absolute folder", inDirectory({ path: "/etc" }), `spec.backupStorage.directory.path ${REFUSED}`, { hasDirectory: true }],
    ["a folder above", inDirectory({ path: "a/../../b" }), `spec.backupStorage.directory.path ${REFUSED}`, { hasDirectory: true }],
    [
      "a folder that is hidden",
      inDirectory({ path: "a/.uploads" }),
      `spec.backupStorage.directory.path ${REFUSED}`,
      { hasDirectory: true },
    ],
    [
      "a folder of a long name",
      inDirectory({ path: "x".repeat(256) }),
      `spec.backupStorage.directory.path ${REFUSED}`,
      { hasDirectory: true },
    ],
    ["a folder with a space", inDirectory({ path: "my backups" }), `spec.backupStorage.directory.path ${REFUSED}`, { hasDirectory: true }],
    ["a prefix that is hidden", withS3({ prefix: "a/.b" }), `${s3At}.prefix ${REFUSED}`],
    ["a folder in other slashes", inDirectory({ path: "..\\b" }), `spec.backupStorage.directory.path ${REFUSED}`, { hasDirectory: true }],
    ["a folder of an operator without one", inDirectory({}), `spec.backupStorage.directory ${REFUSED}`],
    ["a recipient that is none", { ...spec, encryption: { recipients: ["age1abc"] } }, `spec.encryption.recipients[0] ${REFUSED}`],
    ["a recipient twice", { ...spec, encryption: { recipients: [RECIPIENT, RECIPIENT] } }, `spec.encryption.recipients[1] ${REFUSED}`],
    ["a timeout that nothing can be done in", { ...spec, timeout: "5s" }, `spec.timeout ${REFUSED}`],
    ["a timeout of days", { ...spec, timeout: "3d" }, `spec.timeout ${REFUSED}`],
    ["keeping for no time", { ...spec, retention: { keepFor: "0d" } }, `spec.retention.keepFor ${REFUSED}`],
    ["a size of nothing", { ...spec, maxSize: "0" }, `spec.maxSize ${REFUSED}`],
    [
      "an identity in no Secret",
      { ...spec, drill: { identitySecretRef: { key: "i", name: "" } } },
      `spec.drill.identitySecretRef ${REFUSED}`,
    ],
  ];
  for (const [name, bad, want, options] of cases)
    it(`refuses ${name}`, () => assert.deepEqual(told(validateBackupSpec(bad, options)), [want]));

  it("takes http and unchecked certificates where the operator allows them, and the demo's own endpoint", () => {
    const both = withS3({ endpoint: "http://minio.storage:9000", insecureSkipTLSVerify: true });
    assert.deepEqual(validateBackupSpec(both, { allowInsecureObjectStorage: true }), []);
    const demo = { insecureHosts: ["127.0.0.1:9333"], allowLoopback: true };
    assert.deepEqual(validateBackupSpec(withS3({ endpoint: "http://127.0.0.1:9333" }), demo), []);
    assert.deepEqual(told(validateBackupSpec(withS3({ endpoint: "http://127.0.0.1:9334" }), demo)), [`${s3At}.endpoint ${INSECURE}`]);
  });

  it("says how an endpoint is written without the bucket", () => {
    const messageOf = (endpoint: string): string => findingsMessage(validateBackupSpec(withS3({ endpoint })));
    const at = `${s3At}.endpoint: the endpoint`;
    assert.equal(messageOf("https://s3.example.org/backups"), `${at} ends with the bucket. Write it without: https://s3.example.org.`);
    assert.equal(
      messageOf("https://s3.example.org/gw/backups/"),
      `${at} ends with the bucket. Write it without: https://s3.example.org/gw.`,
    );
    assert.equal(
      messageOf("https://backups.s3.example.org:8443"),
      `${at} begins with the bucket. Write it without: https://s3.example.org:8443.`,
    );
  });

  it("takes endpoints with a path, and hosts that are only called like the bucket", () => {
    for (const endpoint of [
      "https://gateway.example.org/s3",
      "https://gateway.example.org/backups/store-1",
      "https://backups.example.org",
      "https://backups.minio.svc.cluster.local:9000",
      "https://my-backups.s3.example.org",
    ])
      assert.deepEqual(validateBackupSpec(withS3({ endpoint })), [], endpoint);
  });

  it("takes what the operator allows, and nothing beside it", () => {
    const endpoints = ["https://s3.example.org", "https://gateway.example.org:8443/team-a", "http://minio.storage:9000"];
    const of = (endpoint: string): readonly string[] =>
      told(validateBackupSpec(withS3({ endpoint }), { endpoints, allowInsecureObjectStorage: true }));
    for (const allowed of [
      "https://S3.example.org:443/",
      "https://s3.example.org/any/path",
      "https://gateway.example.org:8443/team-a",
      "https://gateway.example.org:8443/team-a/store",
      "http://minio.storage:9000",
    ])
      assert.deepEqual(of(allowed), [], allowed);
    for (const other of [
      "https://s3.example.org.evil.example",
      "https://s3.example.org:444",
      "http://s3.example.org",
      "https://gateway.example.org:8443",
      "https://gateway.example.org:8443/team-ab",
      "https://gateway.example.org:8443/team-a/../team-b",
      "https://gateway.example.org:8443/team-a%2f..%2fteam-b",
    ])
      assert.deepEqual(of(other), [`${s3At}.endpoint ${REFUSED}`], other);
    assert.deepEqual(validateBackupSpec(spec, { endpoints: ["aws"] }), []);
    const keyless = { ...spec, backupStorage: { s3: { bucket: "backups", region: "r" } } };
    assert.deepEqual(validateBackupSpec(keyless, { identityNamespaces: ["infra"], namespace: "infra" }), []);
    assert.deepEqual(validateBackupSpec(spec, { identityNamespaces: [] }), []);
  });

  it("names at most three of the endpoints that are allowed", () => {
    const endpoints = ["aws", "https://a.example.org", "https://b.example.org", "https://c.example.org", "https://d.example.org"];
    assert.match(
      findingsMessage(validateBackupSpec(withS3({ endpoint: "https://e.example.org" }), { endpoints })),
      /is none of --backup-endpoints\. Use aws, https:\/\/a\.example\.org, https:\/\/b\.example\.org and 2 more, or have it added to the flag\.$/,
    );
  });

  it("quotes no identity, password or key", () => {
    const secret = "AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQ";
    const bad: TalosEtcdBackupSpec = {
      ...withS3({ endpoint: "https://me:hunter2@s3.example.org", caBundle: "-----BEGIN PRIVATE KEY-----\nhunter3" }),
      encryption: { recipients: [secret, `x${secret}`, "hunter4"] },
    };
    const findings = validateBackupSpec(bad);
    assert.equal(findings.length, 5);
    assert.doesNotMatch(findingsMessage(findings), /hunter|SECRET-KEY-1Q/);
  });
});

describe("validateBackupScheduleSpec", () => {
  const schedule = { schedule: "0 2 * * *", backupTemplate: { spec } };

  it("has nothing against what is published", () => assert.deepEqual(validateBackupScheduleSpec(schedule), []));

  it("names fields of the template by their whole path", () => {
    const bad = { ...schedule, backupTemplate: { spec: withS3({ bucket: ".." }) } };
    assert.deepEqual(told(validateBackupScheduleSpec(bad)), ["spec.backupTemplate.spec.backupStorage.s3.bucket SpecRefused"]);
  });

  it("takes a drill that is off, and refuses one every minute", () => {
    assert.deepEqual(validateBackupScheduleSpec({ ...schedule, drill: { interval: "0s" } }), []);
    assert.deepEqual(told(validateBackupScheduleSpec({ ...schedule, drill: { interval: "1m" } })), ["spec.drill.interval SpecRefused"]);
  });

  it("refuses marks of the operator's own in the template", () => {
    const metadata = { labels: { team: "a", "talos.alperen.cloud/type": "state" }, annotations: { "talos-operator.dev/prove-now": "1" } };
    const findings = validateBackupScheduleSpec({ ...schedule, backupTemplate: { metadata, spec } });
    assert.deepEqual(told(findings), [
      'spec.backupTemplate.metadata.labels["talos.alperen.cloud/type"] SpecRefused',
      'spec.backupTemplate.metadata.annotations["talos-operator.dev/prove-now"] SpecRefused',
    ]);
  });
});

describe("validateEtcdBackupSpec", () => {
  const asked = (changes: Partial<EtcdBackupSpec["storageLocation"]>, rest: Partial<EtcdBackupSpec> = {}): EtcdBackupSpec => ({
    clusterName: "demo",
    storageLocation: { type: "s3", bucket: "backups", ...changes },
    ...rest,
  });
  const at = "spec.storageLocation";

  it("has nothing against s3, nor against a folder where there is one", () => {
    assert.deepEqual(validateEtcdBackupSpec(asked({ path: "clusters", secretRef: "s3" })), []);
    const local: EtcdBackupSpec = { clusterName: "demo", storageLocation: { type: "local", path: "clusters" } };
    assert.deepEqual(validateEtcdBackupSpec(local, { hasDirectory: true }), []);
  });

  for (const [name, bad, want] of [
    ["gcs", asked({ type: "gcs" }), `${at}.type FieldNotSupported`],
    ["azure", asked({ type: "azure" }), `${at}.type FieldNotSupported`],
    ["s3 without a bucket", { clusterName: "demo", storageLocation: { type: "s3" } }, `${at}.bucket SpecRefused`],
    ["keep 0", asked({}, { retention: 0 }), "spec.retention SpecRefused"],
    ["keep -1", asked({}, { retention: -1 }), "spec.retention SpecRefused"],
    ["a path that leads up", asked({ path: "../other" }), `${at}.path SpecRefused`],
    ["a Secret without name", asked({ secretRef: "" }), `${at}.secretRef SpecRefused`],
    ["no cluster", asked({}, { clusterName: "" }), "spec.clusterName SpecRefused"],
  ] as const)
    it(`refuses ${name}`, () => assert.deepEqual(told(validateEtcdBackupSpec(bad)), [want]));
});
