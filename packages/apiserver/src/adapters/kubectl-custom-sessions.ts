import type { KubectlSession } from "./kubectl-sessions.ts";

type Step = KubectlSession["steps"][number];
type Schema = Readonly<Record<string, unknown>>;

const given = (args: string, ...objects: readonly object[]): Step => ({
  args: `${args} -f -`,
  input: objects.map((object) => JSON.stringify(object)).join("\n---\n"),
});
const text: Schema = { type: "string" };
const count: Schema = { type: "integer" };
const flag: Schema = { type: "boolean" };
const open: Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const list = (items: Schema, more: Schema = {}): Schema => ({ type: "array", items, ...more });
const map = (additionalProperties: Schema): Schema => ({ type: "object", additionalProperties });
const struct = (properties: Readonly<Record<string, Schema>>, ...required: readonly string[]): Schema => ({
  type: "object",
  properties,
  ...(required.length === 0 ? {} : { required }),
});
const conditions = list(
  struct(
    {
      type: { ...text, maxLength: 316 },
      status: { ...text, enum: ["True", "False", "Unknown"] },
      reason: text,
      message: text,
      lastTransitionTime: { ...text, format: "date-time" },
    },
    "type",
    "status",
  ),
  { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] },
);
const ready = { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' };
const age = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };
const column = (name: string, jsonPath: string, type = "string", more: object = {}): object => ({ name, type, jsonPath, ...more });

interface Kind {
  readonly kind: string;
  readonly plural: string;
  readonly group: string;
  readonly spec: Schema;
  readonly scope?: "Cluster";
  readonly names?: object;
  readonly columns?: readonly object[];
  /** Members of the version besides its schema. */
  readonly version?: object;
  readonly versions?: readonly object[];
}

/** Kinds as operators bring them; each stands for a way of writing schemas that people meet. */
const kinds = {
  certificate: {
    kind: "Certificate",
    plural: "certificates",
    group: "certs.example.com",
    names: { shortNames: ["cert", "certs"], categories: ["all", "certs"] },
    columns: [ready, column("Secret", ".spec.secretName"), column("Issuer", ".spec.issuerRef.name", "string", { priority: 1 }), age],
    spec: struct(
      {
        secretName: text,
        dnsNames: list(text, { "x-kubernetes-list-type": "atomic" }),
        duration: text,
        issuerRef: struct({ name: text, kind: text, group: text }, "name"),
        privateKey: struct({ algorithm: { ...text, enum: ["RSA", "ECDSA", "Ed25519"] }, size: count }),
        usages: list({ ...text, enum: ["signing", "server auth", "client auth"] }),
      },
      "issuerRef",
      "secretName",
    ),
  },
  monitor: {
    kind: "ServiceMonitor",
    plural: "servicemonitors",
    group: "metrics.example.com",
    names: { shortNames: ["smon"] },
    spec: struct(
      {
        endpoints: list(
          struct({
            port: text,
            targetPort: { anyOf: [{ type: "integer" }, { type: "string" }], "x-kubernetes-int-or-string": true },
            interval: { ...text, pattern: "^(0|(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$" },
            scheme: { ...text, enum: ["http", "https"] },
            relabelings: list(struct({ action: { ...text, default: "replace" }, sourceLabels: list(text), regex: text })),
          }),
        ),
        selector: {
          ...struct({
            matchLabels: map(text),
            matchExpressions: list(struct({ key: text, operator: text, values: list(text) }, "key", "operator")),
          }),
          "x-kubernetes-map-type": "atomic",
        },
        sampleLimit: { ...count, format: "int64" },
      },
      "selector",
      "endpoints",
    ),
  },
  route: {
    kind: "HTTPRoute",
    plural: "httproutes",
    group: "routes.example.com",
    columns: [column("Hostnames", ".spec.hostnames"), age],
    spec: struct({
      hostnames: list(
        { ...text, minLength: 1, maxLength: 253, pattern: "^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$" },
        { maxItems: 16 },
      ),
      parentRefs: list(
        struct({ name: { ...text, maxLength: 253 }, port: { ...count, format: "int32", minimum: 1, maximum: 65_535 } }, "name"),
        {
          maxItems: 32,
          "x-kubernetes-validations": [
            {
              message: "a parent may be named once",
              rule: "self.all(p1, self.exists_one(p2, p1.name == p2.name && (has(p1.port) ? has(p2.port) && p1.port == p2.port : !has(p2.port))))",
            },
          ],
        },
      ),
      rules: list(
        struct({
          matches: list(
            struct({
              path: {
                ...struct({
                  type: { ...text, enum: ["Exact", "PathPrefix"], default: "PathPrefix" },
                  value: { ...text, default: "/", maxLength: 1024 },
                }),
                default: { type: "PathPrefix", value: "/" },
              },
            }),
            {
              maxItems: 8,
              default: [{ path: { type: "PathPrefix", value: "/" } }],
            },
          ),
          backendRefs: list(struct({ name: text, port: count, weight: { ...count, format: "int32", default: 1, minimum: 0 } }, "name"), {
            maxItems: 16,
          }),
        }),
        { maxItems: 16, default: [{ matches: [{ path: { type: "PathPrefix", value: "/" } }] }] },
      ),
    }),
  },
  application: {
    kind: "Application",
    plural: "applications",
    group: "gitops.example.com",
    names: { shortNames: ["app"] },
    columns: [
      column("Sync Status", ".status.sync.status"),
      column("Health", ".status.health"),
      column("Revision", ".status.sync.revision", "string", { priority: 10 }),
    ],
    version: { subresources: {} },
    spec: struct(
      {
        project: text,
        source: struct({ repoURL: text, path: text, helm: struct({ values: text, valuesObject: { ...open } }) }, "repoURL"),
        destination: struct({ server: text, namespace: text }),
        syncPolicy: struct({ automated: struct({ prune: flag, selfHeal: flag }), retry: struct({ limit: { ...count, format: "int64" } }) }),
        ignoreDifferences: list(struct({ kind: text, jsonPointers: list(text) }, "kind")),
      },
      "destination",
      "project",
    ),
  },
  mesh: {
    kind: "VirtualService",
    plural: "virtualservices",
    group: "mesh.example.com",
    names: { shortNames: ["vs"], categories: ["mesh"] },
    columns: [column("Hosts", ".spec.hosts"), column("Gateways", ".spec.gateways"), age],
    spec: struct({
      hosts: list(text),
      gateways: list(text),
      http: list({
        ...struct({
          match: list(
            struct({
              uri: {
                ...struct({ exact: text, prefix: text, regex: text }),
                oneOf: [
                  { not: { anyOf: [{ required: ["exact"] }, { required: ["prefix"] }, { required: ["regex"] }] } },
                  { required: ["exact"] },
                  { required: ["prefix"] },
                  { required: ["regex"] },
                ],
              },
            }),
          ),
          timeout: text,
          retries: struct({ attempts: { ...count, format: "int32" } }),
        }),
      }),
      exportTo: list(text),
    }),
  },
  kustomization: {
    kind: "Kustomization",
    plural: "kustomizations",
    group: "flux.example.com",
    names: { shortNames: ["ks"] },
    columns: [age, ready, column("Status", '.status.conditions[?(@.type=="Ready")].message')],
    spec: {
      ...struct(
        {
          interval: { ...text, pattern: "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$" },
          path: text,
          prune: flag,
          suspend: flag,
          sourceRef: struct({ kind: { ...text, enum: ["GitRepository", "Bucket"] }, name: text }, "kind", "name"),
          deletionPolicy: { ...text, enum: ["MirrorPrune", "Delete", "Orphan"] },
          dependsOn: list(struct({ name: text, readyExpr: text }, "name")),
          patches: list(struct({ patch: text, target: struct({ kind: text, name: text }) }, "patch")),
        },
        "interval",
        "prune",
        "sourceRef",
      ),
      "x-kubernetes-validations": [
        {
          rule: "!has(self.deletionPolicy) || self.deletionPolicy != 'Orphan' || !self.prune",
          message: "orphans are not pruned",
          fieldPath: ".deletionPolicy",
          reason: "FieldValueForbidden",
        },
      ],
    },
  },
  service: {
    kind: "Service",
    plural: "services",
    group: "serving.example.com",
    names: { singular: "service", shortNames: ["kservice", "ksvc"], categories: ["all", "serving"] },
    columns: [column("URL", ".status.url"), ready],
    spec: struct({
      template: struct({
        metadata: struct({ annotations: map(text) }),
        spec: {
          ...open,
          ...struct({ containerConcurrency: { ...count, format: "int64" }, timeoutSeconds: { ...count, format: "int64" } }),
        },
      }),
      traffic: list(struct({ percent: { ...count, format: "int64", minimum: 0, maximum: 100 }, latestRevision: flag, tag: text })),
    }),
  },
  postgres: {
    kind: "Cluster",
    plural: "clusters",
    group: "pg.example.com",
    columns: [
      age,
      column("Instances", ".status.instances", "integer", { description: "Number of instances" }),
      column("Primary", ".status.currentPrimary"),
    ],
    version: { subresources: { status: {}, scale: { specReplicasPath: ".spec.instances", statusReplicasPath: ".status.instances" } } },
    spec: struct(
      {
        instances: { ...count, minimum: 1, default: 1 },
        imageName: text,
        primaryUpdateStrategy: { ...text, enum: ["unsupervised", "supervised"], default: "unsupervised" },
        postgresql: struct({ parameters: map(text), pg_hba: list(text) }),
        storage: {
          ...struct({ size: text, storageClass: text }),
          "x-kubernetes-validations": [
            {
              rule: "!has(oldSelf.storageClass) || has(self.storageClass) && self.storageClass == oldSelf.storageClass",
              message: "the class of storage stays",
              optionalOldSelf: false,
            },
          ],
        },
        minSyncReplicas: { ...count, default: 0, minimum: 0 },
        stopDelay: { ...count, format: "int32", default: 1800 },
      },
      "instances",
    ),
  },
  secret: {
    kind: "ExternalSecret",
    plural: "externalsecrets",
    group: "secrets.example.com",
    names: { shortNames: ["es"] },
    spec: struct({
      refreshInterval: { ...text, default: "1h0m0s" },
      secretStoreRef: struct({
        name: { ...text, minLength: 1, maxLength: 253, pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" },
        kind: { ...text, enum: ["SecretStore", "ClusterSecretStore"] },
      }),
      target: {
        ...struct({
          name: text,
          creationPolicy: { ...text, default: "Owner", enum: ["Owner", "Orphan", "Merge", "None"] },
          immutable: flag,
        }),
        default: { creationPolicy: "Owner" },
      },
      data: list(
        struct(
          { secretKey: { ...text, minLength: 1 }, remoteRef: struct({ key: text, decodingStrategy: { ...text, default: "None" } }, "key") },
          "remoteRef",
          "secretKey",
        ),
      ),
    }),
    versions: [
      { name: "v1beta1", served: true, storage: false, deprecated: true, deprecationWarning: "secrets.example.com/v1beta1 goes away" },
    ],
  },
  scaled: {
    kind: "ScaledObject",
    plural: "scaledobjects",
    group: "scaling.example.com",
    names: { shortNames: ["so"] },
    columns: [
      column("Target", ".spec.scaleTargetRef.name"),
      column("Min", ".spec.minReplicaCount", "integer"),
      column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
      column("Triggers", ".spec.triggers[*].type"),
    ],
    spec: struct(
      {
        minReplicaCount: { ...count, format: "int32" },
        maxReplicaCount: { ...count, format: "int32" },
        scaleTargetRef: struct({ name: text, kind: text }, "name"),
        triggers: list(struct({ type: text, metadata: map(text), useCachedMetrics: flag }, "metadata", "type")),
        advanced: struct({ restoreToOriginalReplicaCount: flag, scalingModifiers: struct({ formula: text, target: text }) }),
      },
      "scaleTargetRef",
      "triggers",
    ),
  },
  backup: {
    kind: "Backup",
    plural: "backups",
    group: "backup.example.com",
    spec: struct({
      includedNamespaces: list(text, { nullable: true }),
      excludedNamespaces: list(text, { nullable: true }),
      ttl: text,
      snapshotVolumes: { ...flag, nullable: true },
      labelSelector: { ...struct({ matchLabels: map(text) }), nullable: true, "x-kubernetes-map-type": "atomic" },
      orLabelSelectors: list(struct({ matchLabels: map(text) }), { nullable: true }),
      startTimestamp: { ...text, format: "date-time", nullable: true },
      hooks: struct({
        resources: list(
          struct(
            {
              name: text,
              pre: list(
                struct(
                  { exec: struct({ command: list(text, { minItems: 1 }), onError: { ...text, enum: ["Continue", "Fail"] } }, "command") },
                  "exec",
                ),
              ),
            },
            "name",
          ),
          { nullable: true },
        ),
      }),
    }),
  },
  policy: {
    kind: "NetworkPolicy",
    plural: "networkpolicies",
    group: "network.example.com",
    names: { shortNames: ["cnp"] },
    spec: {
      ...struct({
        endpointSelector: struct({ matchLabels: map({ ...text, maxLength: 63 }) }),
        nodeSelector: struct({ matchLabels: map(text) }),
        ingress: list(
          struct({
            fromEntities: list({ ...text, enum: ["all", "world", "host"] }),
            toPorts: list(
              struct({
                ports: list(
                  struct(
                    {
                      port: { ...text, pattern: "^(6553[0-5]|655[0-2][0-9]|[1-9][0-9]{0,3}|[a-z]+)$" },
                      protocol: { ...text, enum: ["TCP", "UDP", "ANY"] },
                    },
                    "port",
                  ),
                  { maxItems: 40 },
                ),
              }),
              { maxItems: 40 },
            ),
          }),
        ),
      }),
      anyOf: [{ required: ["endpointSelector"] }, { required: ["nodeSelector"] }],
    },
  },
  task: {
    kind: "Task",
    plural: "tasks",
    group: "pipelines.example.com",
    names: { categories: ["pipelines"] },
    version: {
      schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      subresources: { status: {} },
    },
    spec: {},
  },
  storage: {
    kind: "StorageCluster",
    plural: "storageclusters",
    group: "storage.example.com",
    scope: "Cluster",
    columns: [
      column("DataDir", ".spec.dataDirHostPath"),
      column("Mons", ".spec.mon.count", "integer"),
      column("Phase", ".status.phase"),
      column("Ratio", ".spec.ratio", "number"),
      column("External", ".spec.external", "boolean"),
    ],
    spec: {
      ...struct({
        dataDirHostPath: { ...text, pattern: "^/(\\S+)" },
        mon: {
          ...struct({ count: { ...count, minimum: 0, maximum: 9 }, volumeClaimTemplate: { ...open, nullable: true } }),
          nullable: true,
        },
        external: flag,
        ratio: { type: "number", minimum: 0.1, maximum: 1 },
        resources: {
          ...map(
            struct({
              limits: map({
                anyOf: [{ type: "integer" }, { type: "string" }],
                pattern: "^([0-9.]+)([mkKMGTi]*)$",
                "x-kubernetes-int-or-string": true,
              }),
            }),
          ),
          nullable: true,
        },
        placement: { ...open, nullable: true },
      }),
      "x-kubernetes-validations": [
        {
          rule: "!(has(self.external) && self.external) || !has(self.mon) || self.mon.count == 0",
          message: "an external cluster has no monitors of its own",
        },
      ],
    },
  },
  pool: {
    kind: "IPAddressPool",
    plural: "ipaddresspools",
    group: "addresses.example.com",
    columns: [column("Auto Assign", ".spec.autoAssign", "boolean"), column("Addresses", ".spec.addresses")],
    spec: struct(
      {
        addresses: list(text, { minItems: 1, "x-kubernetes-list-type": "set" }),
        autoAssign: { ...flag, default: true },
        avoidBuggyIPs: { ...flag, default: false },
        cidr: { ...text, format: "cidr" },
        contact: { ...text, format: "email" },
      },
      "addresses",
    ),
  },
  machine: {
    kind: "Machine",
    plural: "machines",
    group: "machines.example.com",
    names: { shortNames: ["ma"], categories: ["fleet"] },
    columns: [column("Cluster", ".spec.clusterName"), column("Phase", ".status.phase"), age, column("Version", ".spec.version")],
    version: { selectableFields: [{ jsonPath: ".spec.clusterName" }] },
    spec: struct(
      {
        clusterName: {
          ...text,
          minLength: 1,
          maxLength: 63,
          "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "a machine stays in its cluster" }],
        },
        version: { ...text, maxLength: 256 },
        bootstrap: {
          ...struct({ configRef: struct({ apiVersion: text, kind: text, name: text }), dataSecretName: text }),
          "x-kubernetes-map-type": "atomic",
        },
        readinessGates: list(struct({ conditionType: text }, "conditionType"), {
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["conditionType"],
        }),
        taints: list(struct({ key: text, effect: text }, "key", "effect"), {
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["key", "effect"],
        }),
        drainTimeoutSeconds: { ...count, format: "int32", minimum: 0 },
      },
      "bootstrap",
      "clusterName",
    ),
  },
  composition: {
    kind: "Composition",
    plural: "compositions",
    group: "compose.example.com",
    scope: "Cluster",
    spec: struct(
      {
        mode: { ...text, enum: ["Pipeline"], default: "Pipeline" },
        pipeline: list(
          struct(
            {
              step: text,
              functionRef: struct({ name: text }, "name"),
              input: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
            },
            "functionRef",
            "step",
          ),
          { minItems: 1, maxItems: 99, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["step"] },
        ),
        compositeTypeRef: {
          ...struct({ apiVersion: text, kind: text }, "apiVersion", "kind"),
          "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "Value is immutable" }],
        },
      },
      "compositeTypeRef",
    ),
  },
} as const satisfies Readonly<Record<string, Kind>>;

function definition({ kind, plural, group, spec, scope, names, columns, version, versions }: Kind): object {
  const status = struct({
    conditions,
    phase: text,
    url: text,
    health: text,
    sync: struct({ status: text, revision: text }),
    instances: count,
    currentPrimary: text,
  });
  const main = {
    name: "v1",
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { ...struct({ spec, status }), description: `${kind} is one of those.` } },
    subresources: { status: {} },
    ...(columns === undefined ? {} : { additionalPrinterColumns: columns }),
    ...version,
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: scope ?? "Namespaced",
      names: { plural, kind, singular: kind.toLowerCase(), ...names },
      versions: [main, ...(versions ?? []).map((one) => ({ ...main, ...one }))],
    },
  };
}

const one = ({ kind, group }: Kind, name: string, spec: object, more: object = {}): object => ({
  apiVersion: `${group}/v1`,
  kind,
  metadata: { name },
  spec,
  ...more,
});
const {
  certificate,
  monitor,
  route,
  application,
  mesh,
  kustomization,
  service,
  postgres,
  secret,
  scaled,
  backup,
  policy,
  task,
  storage,
  pool,
  machine,
  composition,
} = kinds;
const issued = { secretName: "s", issuerRef: { name: "ca" }, dnsNames: ["a.example.com"] };
const patchStatus = (kind: string, name: string, status: object): string =>
  `patch ${kind} ${name} --subresource=status --type=merge -p ${JSON.stringify({ status })}`;

/** What people do with the kinds that operators bring. */
export const kubectlCustomSessions: readonly KubectlSession[] = [
  {
    name: "kinds that operators bring",
    steps: [
      given("apply", ...Object.values(kinds).map(definition)),
      "wait --for=condition=Established crd --all --timeout=30s",
      "wait --for=condition=NamesAccepted crd certificates.certs.example.com --timeout=5s",
      // Established says that the kinds are accepted; the handler that serves them follows a moment later.
      "get certificates,servicemonitors,httproutes,applications.gitops.example.com,virtualservices,kustomizations,clusters,machines,tasks --request-timeout=30s",
      "get externalsecrets,scaledobjects,backups,networkpolicies.network.example.com,storageclusters,ipaddresspools,compositions,ksvc --request-timeout=30s",
      "get crd certificates.certs.example.com -o jsonpath={.status.acceptedNames}{.status.storedVersions}",
      given("apply", one(certificate, "web", issued), one(certificate, "weak", { ...issued, privateKey: { algorithm: "DSA" } })),
      given("create", one(certificate, "none", {})),
      given("create --validate=warn", one(certificate, "more", { ...issued, nonsense: 1 })),
      patchStatus("certificate", "web", { conditions: [{ type: "Ready", status: "True", message: "issued" }] }),
      patchStatus("certificate", "web", { conditions: [{ type: "Ready", status: "Maybe" }] }),
      "get cert",
      "get certs -o wide",
      "get certificates.v1.certs.example.com web -o yaml",
      "wait cert/web --for=condition=Ready --timeout=2s",
      "describe certificate web",
      "label cert web a=b",
      "annotate cert web a=b",
      "get all",
      "get certs,mesh",
      given(
        "apply",
        one(monitor, "m", {
          selector: { matchLabels: { a: "b" } },
          endpoints: [
            { port: "http", interval: "30s" },
            { targetPort: 8080, relabelings: [{ regex: "x" }] },
          ],
        }),
      ),
      given(
        "apply",
        one(monitor, "bad", { selector: {}, endpoints: [{ interval: "soon", targetPort: true, scheme: "ftp" }], sampleLimit: 1.5 }),
      ),
      "get smon m -o jsonpath={.spec}",
      'patch smon m --type=merge -p {"spec":{"selector":{"matchExpressions":[{"key":"x","operator":"In"}]}}}',
      given("apply --server-side --field-manager=other", one(monitor, "m", { selector: { matchLabels: { c: "d" } }, endpoints: [] })),
      given(
        "apply --server-side --field-manager=other --force-conflicts",
        one(monitor, "m", { selector: { matchLabels: { c: "d" } }, endpoints: [] }),
      ),
      given(
        "apply",
        one(route, "r", {
          hostnames: ["a.example.com", "*.b.example.com"],
          parentRefs: [{ name: "g" }, { name: "g", port: 80 }],
          rules: [{ backendRefs: [{ name: "s", port: 80 }] }],
        }),
      ),
      given("apply", one(route, "twice", { hostnames: ["A_b"], parentRefs: [{ name: "g" }, { name: "g" }] })),
      given("apply", one(route, "empty", {})),
      "get httproutes",
      "get httproute r empty -o jsonpath={.items[*].spec.rules}",
      given(
        "apply",
        one(
          application,
          "a",
          { project: "p", source: { repoURL: "u", helm: { valuesObject: { x: { y: [1, "2"] } } } }, destination: {} },
          { status: { health: "Good" } },
        ),
      ),
      "get app",
      "get applications.gitops.example.com a -o wide",
      'patch applications.gitops.example.com a --subresource=status --type=merge -p {"status":{"health":"Bad"}}',
      'patch applications.gitops.example.com a --type=json -p [{"op":"add","path":"/spec/source/helm/valuesObject/x/y/-","value":null}]',
      "get app a -o jsonpath={.spec.source.helm.valuesObject}",
    ],
  },
  {
    name: "more kinds that operators bring",
    steps: [
      given("apply", one(mesh, "v", { hosts: ["a"], http: [{ match: [{ uri: { prefix: "/" } }], timeout: "1s" }] })),
      given("apply", one(mesh, "two", { hosts: ["a"], http: [{ match: [{ uri: { prefix: "/", exact: "/x" } }] }] })),
      "get vs",
      given("apply", one(kustomization, "k", { interval: "10m", prune: true, sourceRef: { kind: "GitRepository", name: "g" } })),
      given("apply", one(kustomization, "bad", { interval: "often", prune: "yes", sourceRef: { kind: "X" } })),
      given(
        "apply",
        one(kustomization, "orphans", { interval: "1h", prune: true, deletionPolicy: "Orphan", sourceRef: { kind: "Bucket", name: "b" } }),
      ),
      'patch ks k --type=merge -p {"spec":{"suspend":true}}',
      "get ks k -o jsonpath={.spec.suspend}/{.metadata.generation}",
      given(
        "apply",
        one(service, "hello", {
          template: { metadata: { annotations: { a: "b" } }, spec: { containers: [{ image: "i" }], timeoutSeconds: 5 } },
          traffic: [{ percent: 100, latestRevision: true }],
        }),
      ),
      given("apply", one(service, "bad", { template: { spec: { timeoutSeconds: "5" } }, traffic: [{ percent: 101 }] })),
      "get ksvc",
      "get services.serving.example.com hello -o jsonpath={.spec.template}",
      given("apply", one(postgres, "pg", { storage: { size: "1Gi", storageClass: "fast" }, postgresql: { parameters: { a: "1" } } })),
      "get clusters.pg.example.com pg -o jsonpath={.spec}",
      "scale clusters.pg.example.com pg --replicas=3",
      "scale clusters.pg.example.com pg --replicas=0",
      "get clusters.pg.example.com pg --subresource=scale -o yaml",
      patchStatus("clusters.pg.example.com", "pg", { instances: 3, currentPrimary: "pg-1" }),
      "get clusters.pg.example.com",
      'patch clusters.pg.example.com pg --type=merge -p {"spec":{"storage":{"storageClass":"slow"}}}',
      'patch clusters.pg.example.com pg --type=merge -p {"spec":{"postgresql":{"parameters":{"a":null,"b":"2"}}}}',
      "autoscale clusters.pg.example.com pg --max=3",
      given("apply", one(secret, "es", { secretStoreRef: { name: "store" }, data: [{ secretKey: "k", remoteRef: { key: "r" } }] })),
      given("apply", {
        ...one(secret, "old", { secretStoreRef: { name: "S_" }, data: [{ secretKey: "" }] }),
        apiVersion: "secrets.example.com/v1beta1",
      }),
      given("apply", { ...one(secret, "old", {}), apiVersion: "secrets.example.com/v1beta1" }),
      "get es es old -o jsonpath={.items[*].spec}",
      "get externalsecrets.v1beta1.secrets.example.com old -o jsonpath={.apiVersion}",
      given(
        "apply",
        one(scaled, "so", {
          scaleTargetRef: { name: "w" },
          minReplicaCount: 0,
          triggers: [
            { type: "cron", metadata: { a: "b" } },
            { type: "cpu", metadata: {} },
          ],
        }),
      ),
      given(
        "apply",
        one(scaled, "bad", { scaleTargetRef: {}, minReplicaCount: 3_000_000_000, triggers: [{ type: "cron", metadata: { a: 1 } }] }),
      ),
      "get so",
      given(
        "apply",
        one(backup, "b", { includedNamespaces: null, snapshotVolumes: null, ttl: "1h", labelSelector: null, startTimestamp: null }),
      ),
      given(
        "apply",
        one(backup, "bad", {
          startTimestamp: "yesterday",
          ttl: null,
          hooks: { resources: [{ name: "h", pre: [{ exec: { command: [], onError: "Stop" } }] }] },
        }),
      ),
      "get backup b -o jsonpath={.spec}",
      'patch backup b --type=merge -p {"spec":{"includedNamespaces":["a"],"ttl":null}}',
      'patch backup b --type=json -p [{"op":"replace","path":"/spec/includedNamespaces","value":null}]',
      "get backup b -o jsonpath={.spec}",
      given(
        "apply",
        one(policy, "p", {
          endpointSelector: { matchLabels: { a: "b" } },
          ingress: [{ fromEntities: ["world"], toPorts: [{ ports: [{ port: "80", protocol: "TCP" }] }] }],
        }),
      ),
      given("apply", one(policy, "bad", { ingress: [{ fromEntities: ["moon"], toPorts: [{ ports: [{ port: "70000" }] }] }] })),
      "get cnp",
      given(
        "apply",
        one(
          task,
          "t",
          { steps: [{ name: "a", image: "i" }], anything: { goes: [1, 2, { x: null }] } },
          { extra: "yes", status: { phase: "x" } },
        ),
      ),
      "get task t -o jsonpath={.spec}{.extra}{.status}",
      'patch task t --type=merge -p {"spec":{"anything":{"goes":null}},"more":1}',
      patchStatus("task", "t", { phase: "Done" }),
      "get task t -o jsonpath={.spec}{.more}{.status}{.metadata.generation}",
    ],
  },
  {
    name: "kinds of whole clusters, and their ends",
    steps: [
      given(
        "apply",
        one(storage, "ceph", {
          dataDirHostPath: "/var/lib",
          mon: { count: 3, volumeClaimTemplate: null },
          ratio: 0.5,
          external: false,
          resources: { mon: { limits: { cpu: 1, memory: "1Gi" } } },
        }),
      ),
      given(
        "apply",
        one(storage, "bad", {
          dataDirHostPath: "var",
          mon: { count: 10 },
          ratio: 2,
          external: true,
          resources: { mon: { limits: { cpu: "lots" } } },
        }),
      ),
      given("apply", one(storage, "outside", { external: true, mon: { count: 1 } })),
      "get storageclusters",
      "get storageclusters -o custom-columns=N:.metadata.name,C:.spec.mon.count,R:.spec.ratio",
      given("apply", one(pool, "p", { addresses: ["10.0.0.0/24", "10.0.1.0/24"], cidr: "10.0.0.0/8", contact: "a@example.com" })),
      given(
        "apply",
        one(pool, "twice", { addresses: ["a", "a"] }),
        one(pool, "narrow", { addresses: ["a"], cidr: "10.0.0.0/99" }),
        one(pool, "rude", { addresses: ["a"], contact: "nobody" }),
        one(pool, "none", { addresses: [] }),
      ),
      "get ipaddresspools",
      'patch ipaddresspool p --type=json -p [{"op":"add","path":"/spec/addresses/-","value":"10.0.0.0/24"}]',
      given(
        "apply",
        one(machine, "m1", {
          clusterName: "a",
          bootstrap: { dataSecretName: "s" },
          readinessGates: [{ conditionType: "x" }],
          taints: [
            { key: "k", effect: "NoSchedule" },
            { key: "k", effect: "NoExecute" },
          ],
        }),
        one(machine, "m2", { clusterName: "b", bootstrap: {} }),
      ),
      given(
        "apply",
        one(machine, "twice", {
          clusterName: "a",
          bootstrap: {},
          readinessGates: [{ conditionType: "x" }, { conditionType: "x" }],
          drainTimeoutSeconds: -1,
        }),
      ),
      given("apply", one(machine, "m1", { clusterName: "c", bootstrap: {} })),
      "get ma",
      "get ma --field-selector=spec.clusterName=a -o name",
      "get ma --field-selector=spec.version=a",
      given(
        "apply --server-side --field-manager=one",
        one(machine, "ssa", { clusterName: "a", bootstrap: { dataSecretName: "s" }, taints: [{ key: "a", effect: "x" }] }),
      ),
      given(
        "apply --server-side --field-manager=two",
        one(machine, "ssa", { clusterName: "a", bootstrap: { configRef: { name: "c" } }, taints: [{ key: "b", effect: "x" }] }),
      ),
      given(
        "apply --server-side --field-manager=two",
        one(machine, "ssa", { clusterName: "a", bootstrap: { dataSecretName: "s" }, taints: [{ key: "b", effect: "x" }] }),
      ),
      given("apply --server-side --field-manager=one", one(machine, "ssa", { clusterName: "a", bootstrap: { dataSecretName: "s" } })),
      "get ma ssa -o jsonpath={.spec}",
      'get ma ssa --show-managed-fields -o jsonpath={.metadata.managedFields[?(@.manager=="one")].fieldsV1}',
      'get ma ssa --show-managed-fields -o jsonpath={.metadata.managedFields[?(@.manager=="two")].fieldsV1}',
      given("diff", one(machine, "m2", { clusterName: "b", bootstrap: {}, version: "v1" })),
      given("apply --dry-run=server -o yaml", one(machine, "m3", { clusterName: "a", bootstrap: {} })),
      given("replace", one(machine, "m2", { clusterName: "b", bootstrap: {}, version: "v2" })),
      given("replace", one(machine, "absent", { clusterName: "b", bootstrap: {} })),
      given(
        "apply",
        one(composition, "c", {
          compositeTypeRef: { apiVersion: "x/v1", kind: "X" },
          pipeline: [
            {
              step: "a",
              functionRef: { name: "f" },
              input: { apiVersion: "y/v1", kind: "Y", metadata: { name: "n", nonsense: 1 }, any: 1 },
            },
          ],
        }),
      ),
      given(
        "apply",
        one(composition, "bad", {
          compositeTypeRef: { apiVersion: "x/v1" },
          mode: "Resources",
          pipeline: [{ step: "a", functionRef: {}, input: { apiVersion: 1 } }, { step: "a" }],
        }),
      ),
      'patch composition c --type=merge -p {"spec":{"compositeTypeRef":{"kind":"Z"}}}',
      "get composition c -o jsonpath={.spec}",
      "api-resources --api-group=certs.example.com -o wide",
      "api-resources --categories=fleet",
      "get crd machines.machines.example.com",
      "get crd compositions.compose.example.com -o jsonpath={.spec.names}{.spec.conversion}",
      "explain machine.spec.taints",
      "explain certificate --recursive",
      "explain httproute.spec.rules.matches",
      "explain externalsecret --api-version=secrets.example.com/v1beta1",
      "explain task.spec",
      "explain ipaddresspool.spec.autoAssign",
      'patch crd tasks.pipelines.example.com --type=json -p [{"op":"replace","path":"/spec/scope","value":"Cluster"}]',
      'patch crd tasks.pipelines.example.com --type=json -p [{"op":"replace","path":"/spec/versions/0/storage","value":false}]',
      'patch crd tasks.pipelines.example.com --type=json -p [{"op":"add","path":"/spec/names/shortNames","value":["cert"]}]',
      "delete machines --all",
      "delete storageclusters,compositions --all",
      `delete crd ${Object.values(kinds)
        .map(({ plural, group }) => `${plural}.${group}`)
        .join(" ")} --wait=false`,
    ],
  },
];
