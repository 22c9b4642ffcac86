import assert from "node:assert/strict";
import type { KubeResponse } from "@talos-operator/ports";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt } from "../request/json.ts";
import { metaOf } from "./world.ts";
import type { ConformanceCase, Expected, World } from "./world.ts";

const labels = { app: "x" };
const container = { name: "c", image: "i:1" };
const template = { metadata: { labels }, spec: { containers: [container] } };
const of = (w: World, group: string, plural: string, name = ""): string =>
  `/apis/${group}/namespaces/${w.namespace}/${plural}${name === "" ? "" : `/${name}`}`;
const deployment = (spec: JsonObject = {}): JsonObject => ({
  metadata: { name: "d" },
  spec: { selector: { matchLabels: labels }, template, ...spec },
});
const pod = (name: string, spec: JsonObject = {}): JsonObject => ({
  metadata: { name, labels },
  spec: { containers: [container], ...spec },
});
const specOf = (object: JsonObject): JsonObject => objectAt(object, "spec");

interface Refusal {
  readonly name: string;
  readonly path: (w: World) => string;
  readonly body: JsonObject;
  readonly expected: Omit<Expected, "status">;
}

const deployments = (w: World): string => of(w, "apps/v1", "deployments");
const statefulSets = (w: World): string => of(w, "apps/v1", "statefulsets");
const jobs = (w: World): string => of(w, "batch/v1", "jobs");
const pods = (w: World): string => w.core("pods");
const services = (w: World): string => w.core("services");

const refusals: readonly Refusal[] = [
  {
    name: "a Deployment whose selector misses its template",
    path: deployments,
    body: deployment({ selector: { matchLabels: { app: "z" } } }),
    expected: {
      message:
        'Deployment.apps "d" is invalid: spec.template.metadata.labels: Invalid value: {"app":"x"}: `selector` does not match template `labels`',
    },
  },
  {
    name: "a Deployment without a selector",
    path: deployments,
    body: deployment({ selector: undefined }),
    expected: { causes: ["spec.selector", "spec.template.metadata.labels"] },
  },
  {
    name: "a Deployment with an empty selector",
    path: deployments,
    body: deployment({ selector: {} }),
    expected: { message: 'Deployment.apps "d" is invalid: spec.selector: Invalid value: {}: empty selector is invalid for deployment' },
  },
  {
    name: "a negative number of replicas",
    path: deployments,
    body: deployment({ replicas: -1 }),
    expected: { message: 'Deployment.apps "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0' },
  },
  {
    name: "a Deployment of pods that end",
    path: deployments,
    body: deployment({ template: { ...template, spec: { ...template.spec, restartPolicy: "Never" } } }),
    expected: {
      message: 'Deployment.apps "d" is invalid: spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
    },
  },
  {
    name: "a template without containers",
    path: deployments,
    body: deployment({ template: { ...template, spec: { containers: [] } } }),
    expected: { message: 'Deployment.apps "d" is invalid: spec.template.spec.containers: Required value' },
  },
  {
    name: "containers of one name, with a bad name, without an image",
    path: pods,
    body: pod("p", { containers: [container, container, { name: "C_", image: "i" }, { name: "e" }] }),
    expected: { causes: ["spec.containers[1].name", "spec.containers[2].name", "spec.containers[3].image"] },
  },
  {
    name: "a mount of a volume that is not there",
    path: pods,
    body: pod("p", { containers: [{ ...container, volumeMounts: [{ name: "v", mountPath: "/x" }] }] }),
    expected: { message: 'Pod "p" is invalid: spec.containers[0].volumeMounts[0].name: Not found: "v"' },
  },
  {
    name: "a Job whose pods start again for ever",
    path: jobs,
    body: { metadata: { name: "j" }, spec: { template } },
    expected: { message: 'Job.batch "j" is invalid: spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"' },
  },
  {
    name: "a Service without ports",
    path: services,
    body: { metadata: { name: "s" }, spec: { selector: labels } },
    expected: { message: 'Service "s" is invalid: spec.ports: Required value' },
  },
  {
    name: "several ports without names",
    path: services,
    body: { metadata: { name: "s" }, spec: { ports: [{ port: 1 }, { port: 2 }] } },
    expected: { causes: ["spec.ports[0].name", "spec.ports[1].name"] },
  },
  {
    name: "a node port outside of the range",
    path: services,
    body: { metadata: { name: "s" }, spec: { type: "NodePort", ports: [{ port: 80, nodePort: 99 }] } },
    expected: {
      message:
        'Service "s" is invalid: spec.ports[0].nodePort: Invalid value: 99: provided port is not in the valid range. The range of valid ports is 30000-32767',
    },
  },
  {
    name: "a Service of an unknown type",
    path: services,
    body: { metadata: { name: "s" }, spec: { type: "Foo", ports: [{ port: 80 }] } },
    expected: {
      message:
        'Service "s" is invalid: spec.type: Unsupported value: "Foo": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
    },
  },
  {
    name: "a disruption budget with two limits",
    path: (w) => of(w, "policy/v1", "poddisruptionbudgets"),
    body: { metadata: { name: "b" }, spec: { minAvailable: 1, maxUnavailable: "10%", selector: { matchLabels: labels } } },
    expected: {
      message:
        'PodDisruptionBudget.policy "b" is invalid: spec: Invalid value: {"MinAvailable":1,"Selector":{"matchLabels":{"app":"x"}},"MaxUnavailable":"10%","UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
    },
  },
  {
    name: "a claim for no storage",
    path: (w) => w.core("persistentvolumeclaims"),
    body: { metadata: { name: "c" }, spec: { accessModes: ["ReadWriteOnce"] } },
    expected: { message: 'PersistentVolumeClaim "c" is invalid: spec.resources[storage]: Required value' },
  },
];

/** What workloads and the kinds around them may leave out, what they may not say, and what of them may not change. */
export const workloadCases: readonly ConformanceCase[] = [
  ...refusals.map(({ name, path, body, expected }) => ({
    name: `${name} is Invalid`,
    run: async (w: World): Promise<void> => {
      await w.refused(w.send("POST", path(w), body), { status: 422, reason: "Invalid", ...expected });
    },
  })),
  {
    name: "a Secret of a known type has its keys",
    run: async (w) => {
      const secret = (type: string, data: JsonObject = {}): JsonObject => ({
        metadata: { name: "s" },
        type: `kubernetes.io/${type}`,
        data,
      });
      await w.refused(w.send("POST", w.core("secrets"), secret("tls", { "tls.crt": "" })), {
        status: 422,
        message: 'Secret "s" is invalid: data[tls.key]: Required value',
      });
      await w.refused(w.send("POST", w.core("secrets"), secret("basic-auth")), {
        status: 422,
        causes: ["data[username]", "data[password]"],
      });
      await w.refused(w.send("POST", w.core("secrets"), secret("ssh-auth")), { status: 422, causes: ["data[ssh-privatekey]"] });
      await w.refused(w.send("POST", w.core("secrets"), secret("dockerconfigjson")), { status: 422, causes: ["data[.dockerconfigjson]"] });
      await w.create(w.core("secrets"), secret("basic-auth", { password: "YQ==" }));
    },
  },
  {
    name: "Endpoints warn that they are deprecated",
    run: async (w) => {
      const { headers } = await w.get(w.core("endpoints"));
      assert.match(headers["warning"] ?? "", /v1 Endpoints is deprecated in v1\.33\+; use discovery\.k8s\.io\/v1 EndpointSlice/);
    },
  },
  {
    name: "health is told part by part",
    run: async (w) => {
      assert.equal((await w.get("/livez/ping")).body, "ok");
      const { status, body } = await w.get("/readyz", { verbose: "" });
      assert.equal(status, 200);
      assert.match(String(body), /^\[\+\]ping ok\n[^]*readyz check passed\n$/);
    },
  },
  {
    name: "a Deployment fills in replicas, strategy and history",
    run: async (w) => {
      const spec = specOf(await w.create(deployments(w), deployment()));
      assert.equal(spec["replicas"], 1);
      assert.deepEqual(spec["strategy"], { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } });
      assert.equal(spec["revisionHistoryLimit"], 10);
      assert.equal(spec["progressDeadlineSeconds"], 600);
    },
  },
  {
    name: "a pod template fills in what a kubelet needs",
    run: async (w) => {
      const spec = objectAt(objectAt(specOf(await w.create(deployments(w), deployment())), "template"), "spec");
      assert.deepEqual(spec, {
        containers: [
          {
            ...container,
            imagePullPolicy: "IfNotPresent",
            resources: {},
            terminationMessagePath: "/dev/termination-log",
            terminationMessagePolicy: "File",
          },
        ],
        dnsPolicy: "ClusterFirst",
        restartPolicy: "Always",
        schedulerName: "default-scheduler",
        securityContext: {},
        terminationGracePeriodSeconds: 30,
      });
    },
  },
  {
    name: "probes, ports, volumes and environment are filled in",
    run: async (w) => {
      const full = {
        ...container,
        image: "i",
        ports: [{ containerPort: 80 }],
        livenessProbe: { httpGet: { port: 80 } },
        env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
      };
      const volumes = [{ name: "a" }, { name: "s", secret: { secretName: "s" } }, { name: "h", hostPath: { path: "/x" } }];
      const spec = specOf(await w.create(pods(w), pod("p", { containers: [full], volumes })));
      const first = objectsAt(spec, "containers")[0];
      assert.equal(first?.["imagePullPolicy"], "Always");
      assert.deepEqual(first["ports"], [{ containerPort: 80, protocol: "TCP" }]);
      assert.deepEqual(first["livenessProbe"], {
        httpGet: { path: "/", port: 80, scheme: "HTTP" },
        timeoutSeconds: 1,
        periodSeconds: 10,
        successThreshold: 1,
        failureThreshold: 3,
      });
      assert.deepEqual(first["env"], [{ name: "A", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } }]);
      assert.deepEqual(objectsAt(spec, "volumes").slice(0, 3), [
        { name: "a", emptyDir: {} },
        { name: "s", secret: { secretName: "s", defaultMode: 420 } },
        { name: "h", hostPath: { path: "/x", type: "" } },
      ]);
    },
  },
  {
    name: "a new pod is Pending, with a class of service and a priority",
    run: async (w) => {
      const limits = { cpu: "1", memory: "1Gi" };
      const made = await w.create(pods(w), pod("p", { containers: [{ ...container, resources: { limits } }] }));
      assert.deepEqual(made["status"], { phase: "Pending", qosClass: "Guaranteed" });
      const spec = specOf(made);
      assert.deepEqual(objectAt(objectsAt(spec, "containers")[0], "resources"), { limits, requests: limits });
      assert.equal(spec["priority"], 0);
      assert.equal(spec["preemptionPolicy"], "PreemptLowerPriority");
      assert.equal(spec["enableServiceLinks"], true);
      assert.deepEqual(
        objectsAt(spec, "tolerations").map((toleration) => toleration["key"]),
        ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"],
      );
    },
  },
  {
    name: "quantities are printed in their shortest form",
    run: async (w) => {
      const requests = { cpu: 0.5, memory: "1024Mi", "ephemeral-storage": "1.5Gi", "example.com/x": "2000" };
      const made = await w.create(
        pods(w),
        pod("p", { containers: [{ ...container, resources: { requests, limits: { "example.com/x": "2000" } } }] }),
      );
      assert.deepEqual(objectAt(objectAt(objectsAt(specOf(made), "containers")[0], "resources"), "requests"), {
        cpu: "500m",
        memory: "1Gi",
        "ephemeral-storage": "1536Mi",
        "example.com/x": "2k",
      });
    },
  },
  {
    name: "a StatefulSet fills in its order and strategy",
    run: async (w) => {
      const spec = specOf(await w.create(statefulSets(w), { ...deployment({ serviceName: "s" }), metadata: { name: "s" } }));
      assert.equal(spec["podManagementPolicy"], "OrderedReady");
      assert.deepEqual(spec["updateStrategy"], { type: "RollingUpdate", rollingUpdate: { partition: 0 } });
      assert.deepEqual(spec["persistentVolumeClaimRetentionPolicy"], { whenDeleted: "Retain", whenScaled: "Retain" });
    },
  },
  {
    name: "most of a StatefulSet may not change",
    run: async (w) => {
      await w.create(statefulSets(w), { ...deployment({ serviceName: "s" }), metadata: { name: "s" } });
      await w.ok(w.patch(`${statefulSets(w)}/s`, "merge", { spec: { replicas: 3 } }));
      await w.refused(w.patch(`${statefulSets(w)}/s`, "merge", { spec: { serviceName: "t" } }), {
        status: 422,
        message:
          "StatefulSet.apps \"s\" is invalid: spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
      });
    },
  },
  {
    name: "a DaemonSet fills in its strategy",
    run: async (w) => {
      const made = await w.create(of(w, "apps/v1", "daemonsets"), deployment());
      assert.deepEqual(specOf(made)["updateStrategy"], { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } });
    },
  },
  {
    name: "the selector of a Deployment may not change",
    run: async (w) => {
      await w.create(deployments(w), deployment());
      const other = { app: "y" };
      await w.refused(
        w.patch(`${deployments(w)}/d`, "merge", { spec: { selector: { matchLabels: other }, template: { metadata: { labels: other } } } }),
        {
          status: 422,
          message: 'Deployment.apps "d" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"y"}}: field is immutable',
        },
      );
    },
  },
  {
    name: "the generation of a Deployment counts annotations too",
    run: async (w) => {
      await w.create(deployments(w), deployment());
      const annotated = await w.ok(w.patch(`${deployments(w)}/d`, "merge", { metadata: { annotations: { a: "b" } } }));
      assert.equal(metaOf(annotated)["generation"], 2);
      const labelled = await w.ok(w.patch(`${deployments(w)}/d`, "merge", { metadata: { labels: { a: "b" } } }));
      assert.equal(metaOf(labelled)["generation"], 2);
    },
  },
  {
    name: "a Job gets a selector and labels of its own",
    run: async (w) => {
      const body = { metadata: { name: "j" }, spec: { template: { spec: { restartPolicy: "Never", containers: [container] } } } };
      const made = await w.create(jobs(w), body);
      const uid = String(metaOf(made)["uid"]);
      const own = {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": "j",
        "controller-uid": uid,
        "job-name": "j",
      };
      assert.deepEqual(specOf(made)["selector"], { matchLabels: { "batch.kubernetes.io/controller-uid": uid } });
      assert.deepEqual(objectAt(metaOf(made), "labels"), own);
      assert.deepEqual(objectAt(metaOf(objectAt(specOf(made), "template")), "labels"), own);
      const { backoffLimit, completionMode, completions, parallelism, suspend } = specOf(made);
      assert.deepEqual([backoffLimit, completionMode, completions, parallelism, suspend], [6, "NonIndexed", 1, 1, false]);
      await w.refused(w.patch(`${jobs(w)}/j`, "merge", { spec: { completions: 4 } }), {
        status: 422,
        message: 'Job.batch "j" is invalid: spec.completions: Invalid value: 4: field is immutable',
      });
      const image = { spec: { template: { spec: { containers: [{ name: "c", image: "other" }] } } } };
      await w.refused(w.patch(`${jobs(w)}/j`, "strategic-merge", image), { status: 422, causes: ["spec.template"] });
    },
  },
  {
    name: "of a running pod the image may change and not the command",
    run: async (w) => {
      await w.create(pods(w), pod("p"));
      const change = (fields: JsonObject): Promise<KubeResponse> =>
        w.patch(`${pods(w)}/p`, "strategic-merge", { spec: { containers: [{ name: "c", ...fields }] } });
      await w.ok(change({ image: "i:2" }));
      await w.refused(change({ command: ["x"] }), {
        status: 422,
        message: /^Pod "p" is invalid: spec: Forbidden: pod updates may not change fields other than `spec\.containers\[\*\]\.image`/,
      });
    },
  },
  {
    name: "a Service gets an address, and keeps it",
    run: async (w) => {
      const made = await w.create(services(w), { metadata: { name: "s" }, spec: { selector: labels, ports: [{ port: 80 }] } });
      const spec = specOf(made);
      assert.match(String(spec["clusterIP"]), /^10\.96\.\d+\.\d+$/);
      assert.deepEqual(spec["clusterIPs"], [spec["clusterIP"]]);
      assert.deepEqual(spec["ports"], [{ port: 80, protocol: "TCP", targetPort: 80 }]);
      const { type, sessionAffinity, internalTrafficPolicy, ipFamilies, ipFamilyPolicy } = spec;
      assert.deepEqual(
        [type, sessionAffinity, internalTrafficPolicy, ipFamilies, ipFamilyPolicy],
        ["ClusterIP", "None", "Cluster", ["IPv4"], "SingleStack"],
      );
      const replaced = await w.ok(w.send("PUT", `${services(w)}/s`, { metadata: { name: "s" }, spec: { ports: [{ port: 81 }] } }));
      assert.equal(specOf(replaced)["clusterIP"], spec["clusterIP"]);
      await w.refused(w.patch(`${services(w)}/s`, "merge", { spec: { clusterIP: "10.96.250.250", clusterIPs: ["10.96.250.250"] } }), {
        status: 422,
        message: 'Service "s" is invalid: spec.clusterIPs[0]: Invalid value: ["10.96.250.250"]: may not change once set',
      });
    },
  },
  {
    name: "an address is given once",
    run: async (w) => {
      const made = await w.create(services(w), { metadata: { name: "s" }, spec: { ports: [{ port: 80 }] } });
      const address = String(specOf(made)["clusterIP"]);
      const again = { metadata: { name: "t" }, spec: { clusterIP: address, ports: [{ port: 80 }] } };
      await w.refused(w.send("POST", services(w), again), {
        status: 422,
        message: `Service "t" is invalid: spec.clusterIPs: Invalid value: ["${address}"]: failed to allocate IP ${address}: provided IP is already allocated`,
      });
    },
  },
  {
    name: "a NodePort Service gets a port in the range and loses it again",
    run: async (w) => {
      const made = await w.create(services(w), { metadata: { name: "s" }, spec: { type: "NodePort", ports: [{ port: 80 }] } });
      const port = Number(objectsAt(specOf(made), "ports")[0]?.["nodePort"]);
      assert.ok(port >= 30_000 && port <= 32_767, String(port));
      assert.equal(specOf(made)["externalTrafficPolicy"], "Cluster");
      const closed = await w.ok(w.patch(`${services(w)}/s`, "merge", { spec: { type: "ClusterIP" } }));
      assert.deepEqual(specOf(closed)["ports"], [{ port: 80, protocol: "TCP", targetPort: 80 }]);
      assert.equal(specOf(closed)["externalTrafficPolicy"], undefined);
    },
  },
  {
    name: "a headless Service has no address",
    run: async (w) => {
      const made = await w.create(services(w), {
        metadata: { name: "s" },
        spec: { clusterIP: "None", selector: labels, ports: [{ port: 80 }] },
      });
      assert.equal(specOf(made)["clusterIP"], "None");
      assert.deepEqual(specOf(made)["clusterIPs"], ["None"]);
    },
  },
  {
    name: "an autoscaler, a policy and a schedule fill in what they leave out",
    run: async (w) => {
      const reference = { apiVersion: "apps/v1", kind: "Deployment", name: "d" };
      const autoscaler = await w.create(of(w, "autoscaling/v2", "horizontalpodautoscalers"), {
        metadata: { name: "h" },
        spec: { maxReplicas: 3, scaleTargetRef: reference },
      });
      assert.equal(specOf(autoscaler)["minReplicas"], 1);
      assert.equal(objectsAt(specOf(autoscaler), "metrics").length, 1);
      const policy = await w.create(of(w, "networking.k8s.io/v1", "networkpolicies"), {
        metadata: { name: "n" },
        spec: { podSelector: {}, egress: [{}] },
      });
      assert.deepEqual(specOf(policy)["policyTypes"], ["Ingress", "Egress"]);
      const jobTemplate = { spec: { template: { spec: { restartPolicy: "Never", containers: [container] } } } };
      const schedule = await w.create(of(w, "batch/v1", "cronjobs"), {
        metadata: { name: "c" },
        spec: { schedule: "@daily", jobTemplate },
      });
      const { concurrencyPolicy, suspend, successfulJobsHistoryLimit, failedJobsHistoryLimit } = specOf(schedule);
      assert.deepEqual([concurrencyPolicy, suspend, successfulJobsHistoryLimit, failedJobsHistoryLimit], ["Allow", false, 3, 1]);
    },
  },
];
