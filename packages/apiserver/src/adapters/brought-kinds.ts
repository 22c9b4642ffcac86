import { age, column, count, flag, list, map, open, ready, struct, text } from "./kind-schema.ts";
import type { Kind } from "./kind-schema.ts";

/** Kinds as operators bring them; each stands for a way of writing schemas that people meet. */
export const broughtKinds = {
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
