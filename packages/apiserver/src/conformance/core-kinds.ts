import assert from "node:assert/strict";
import { objectAt, objectsAt, stringsAt } from "../request/json.ts";
import { metaOf, namesOf } from "./world.ts";
import type { ConformanceCase } from "./world.ts";

const immutableMessage = "field is immutable when `immutable` is set";

/** Built-in kinds and the documents of the server itself. */
export const coreKindCases: readonly ConformanceCase[] = [
  {
    name: "a Node brings its status along when it registers, a Pod does not",
    run: async (w) => {
      const query = { dryRun: "All" };
      const conditions = [{ type: "Ready", status: "True" }];
      const node = await w.create("/api/v1/nodes", { metadata: { name: w.namespace }, status: { conditions } }, query);
      assert.equal(objectsAt(objectAt(node, "status"), "conditions")[0]?.["status"], "True");
      const spec = { containers: [{ name: "c", image: "i" }] };
      const pod = await w.create(w.core("pods"), { metadata: { name: "a" }, spec, status: { phase: "Running" } }, query);
      assert.equal(objectAt(pod, "status")["phase"], "Pending");
    },
  },
  {
    name: "a namespace is Active, finalized by kubernetes and labelled with its name",
    run: async (w) => {
      const namespace = await w.ok(w.get(`/api/v1/namespaces/${w.namespace}`));
      assert.deepEqual(namespace["spec"], { finalizers: ["kubernetes"] });
      assert.deepEqual(namespace["status"], { phase: "Active" });
      assert.equal(objectAt(metaOf(namespace), "labels")["kubernetes.io/metadata.name"], w.namespace);
    },
  },
  {
    name: "the system namespaces exist",
    run: async (w) => {
      const names = namesOf(await w.ok(w.get("/api/v1/namespaces")));
      for (const name of ["default", "kube-node-lease", "kube-public", "kube-system"]) assert.ok(names.includes(name), name);
    },
  },
  {
    name: "a Secret is Opaque by default and takes stringData in",
    run: async (w) => {
      const secret = await w.create(w.core("secrets"), { metadata: { name: "a" }, data: { x: "YQ==" }, stringData: { y: "b" } });
      assert.equal(secret["type"], "Opaque");
      assert.deepEqual(secret["data"], { x: "YQ==", y: "Yg==" });
      assert.equal(secret["stringData"], undefined);
    },
  },
  {
    name: "the type of a Secret is immutable",
    run: async (w) => {
      await w.create(w.core("secrets"), { metadata: { name: "a" } });
      await w.refused(w.patch(w.core("secrets", "a"), "merge", { type: "other" }), {
        status: 422,
        reason: "Invalid",
        message: /type: Invalid value: "other": field is immutable/,
      });
    },
  },
  {
    name: "an immutable Secret keeps its data",
    run: async (w) => {
      await w.create(w.core("secrets"), { metadata: { name: "a" }, immutable: true, data: { x: "YQ==" } });
      await w.refused(w.patch(w.core("secrets", "a"), "merge", { data: { x: "Yg==" } }), {
        status: 422,
        reason: "Invalid",
        message: `Secret "a" is invalid: data: Forbidden: ${immutableMessage}`,
        causes: ["data"],
      });
    },
  },
  {
    name: "an immutable Secret cannot be made mutable again",
    run: async (w) => {
      await w.create(w.core("secrets"), { metadata: { name: "a" }, immutable: true });
      await w.refused(w.patch(w.core("secrets", "a"), "merge", { immutable: false }), {
        status: 422,
        message: `Secret "a" is invalid: immutable: Forbidden: ${immutableMessage}`,
        causes: ["immutable"],
      });
    },
  },
  {
    name: "labels and finalizers of an immutable Secret may change",
    run: async (w) => {
      await w.create(w.core("secrets"), { metadata: { name: "a" }, immutable: true, data: { x: "YQ==" } });
      await w.ok(w.patch(w.core("secrets", "a"), "merge", { metadata: { labels: { l: "1" } } }));
    },
  },
  {
    name: "an immutable ConfigMap keeps its data",
    run: async (w) => {
      await w.create(w.core("configmaps"), { metadata: { name: "a" }, immutable: true, data: { x: "1" } });
      await w.refused(w.patch(w.core("configmaps", "a"), "merge", { data: { x: "2" } }), {
        status: 422,
        message: `ConfigMap "a" is invalid: data: Forbidden: ${immutableMessage}`,
      });
    },
  },
  {
    name: "a bad key in a ConfigMap is Invalid",
    run: async (w) => {
      await w.refused(w.send("POST", w.core("configmaps"), w.configMap("a", { "a b": "1" })), {
        status: 422,
        reason: "Invalid",
        causes: ["data[a b]"],
      });
    },
  },
  {
    name: "a Lease is created, renewed and refused to the slower",
    run: async (w) => {
      const path = `/apis/coordination.k8s.io/v1/namespaces/${w.namespace}/leases`;
      const lease = await w.create(path, { metadata: { name: "l" }, spec: { holderIdentity: "a", leaseDurationSeconds: 15 } });
      await w.ok(
        w.send("PUT", `${path}/l`, {
          ...lease,
          spec: { holderIdentity: "a", leaseDurationSeconds: 15, renewTime: "2026-01-01T00:00:00.000000Z" },
        }),
      );
      await w.refused(w.send("PUT", `${path}/l`, { ...lease, spec: { holderIdentity: "b", leaseDurationSeconds: 15 } }), {
        status: 409,
        reason: "Conflict",
      });
    },
  },
  {
    name: "status of a Node is separate from its spec",
    run: async (w) => {
      const name = `node-${w.namespace}`;
      await w.create("/api/v1/nodes", { metadata: { name } });
      const node = await w.ok(
        w.patch(`/api/v1/nodes/${name}/status`, "merge", { spec: { unschedulable: true }, status: { phase: "Running" } }),
      );
      assert.equal(objectAt(node, "spec")["unschedulable"], undefined);
      const cordoned = await w.ok(
        w.patch(`/api/v1/nodes/${name}`, "merge", { spec: { unschedulable: true }, status: { phase: "Pending" } }),
      );
      assert.equal(objectAt(cordoned, "spec")["unschedulable"], true);
      assert.equal(objectAt(cordoned, "status")["phase"], "Running");
      assert.deepEqual(namesOf(await w.ok(w.get("/api/v1/nodes", { fieldSelector: `spec.unschedulable=true,metadata.name=${name}` }))), [
        name,
      ]);
      await w.ok(w.send("DELETE", `/api/v1/nodes/${name}`));
    },
  },
  {
    name: "an Event is one object in both groups",
    run: async (w) => {
      await w.create(w.core("events"), {
        metadata: { name: "e" },
        involvedObject: { kind: "ConfigMap", name: "a", namespace: w.namespace },
        reason: "Tested",
        message: "hello",
        type: "Normal",
        reportingComponent: "suite",
      });
      const modern = await w.ok(w.get(`/apis/events.k8s.io/v1/namespaces/${w.namespace}/events/e`));
      assert.equal(modern["note"], "hello");
      assert.equal(objectAt(modern, "regarding")["name"], "a");
      assert.equal(modern["reportingController"], "suite");
      assert.equal(modern["message"], undefined);
    },
  },
  {
    name: "an Event that tells no time of its own shows that it has none",
    run: async (w) => {
      const named = { metadata: { name: "timeless" }, involvedObject: { kind: "Pod", name: "p", namespace: w.namespace } };
      const event = await w.create(w.core("events"), { ...named, reason: "Started", type: "Normal" });
      const times = ["eventTime", "firstTimestamp", "lastTimestamp"] as const;
      assert.deepEqual(
        times.map((time) => event[time]),
        [null, null, null],
      );
    },
  },
  {
    name: "events are selected by what they are about",
    run: async (w) => {
      for (const name of ["a", "b"]) {
        await w.create(w.core("events"), {
          metadata: { name: `e-${name}` },
          involvedObject: { kind: "ConfigMap", name, namespace: w.namespace },
          reason: name === "a" ? "Tested" : "Other",
          type: "Normal",
        });
      }
      const select = async (fieldSelector: string): Promise<readonly string[]> =>
        namesOf(await w.ok(w.get(w.core("events"), { fieldSelector })));
      assert.deepEqual(await select("involvedObject.name=b"), ["e-b"]);
      assert.deepEqual(await select("reason=Tested,type=Normal"), ["e-a"]);
      const modern = await w.ok(w.get(`/apis/events.k8s.io/v1/namespaces/${w.namespace}/events`, { fieldSelector: "regarding.name=a" }));
      assert.deepEqual(namesOf(modern), ["e-a"]);
    },
  },
  {
    name: "generation of a Deployment counts changes of its spec",
    run: async (w) => {
      const path = `/apis/apps/v1/namespaces/${w.namespace}/deployments`;
      const labels = { app: "x" };
      const spec = {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } },
      };
      const created = await w.create(path, { metadata: { name: "d" }, spec });
      assert.equal(metaOf(created)["generation"], 1);
      const scaled = await w.ok(w.patch(`${path}/d`, "strategic-merge", { spec: { replicas: 2 } }));
      assert.equal(metaOf(scaled)["generation"], 2);
    },
  },
  {
    name: "a CustomResourceDefinition is Established with its names accepted",
    run: async (w) => {
      const crd = await w.ok(w.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.conformance.example.com"));
      const status = objectAt(crd, "status");
      const established = objectsAt(status, "conditions").find((condition) => condition["type"] === "Established");
      assert.equal(established?.["status"], "True");
      assert.deepEqual(status["acceptedNames"], {
        plural: "widgets",
        singular: "widget",
        shortNames: ["wd"],
        kind: "Widget",
        listKind: "WidgetList",
        categories: ["all"],
      });
      assert.deepEqual(status["storedVersions"], ["v1"]);
      assert.deepEqual(objectAt(crd, "spec")["conversion"], { strategy: "None" });
    },
  },
  {
    name: "a CustomResourceDefinition whose name is not plural.group is Invalid",
    run: async (w) => {
      const crd = {
        metadata: { name: "wrong.example.com" },
        spec: {
          group: "conformance.example.com",
          scope: "Namespaced",
          names: { plural: "rights", kind: "Right" },
          versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
        },
      };
      await w.refused(w.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd), {
        status: 422,
        reason: "Invalid",
        causes: ["metadata.name"],
      });
    },
  },
  {
    name: "a CustomResourceDefinition without a schema is Invalid",
    run: async (w) => {
      const crd = {
        metadata: { name: "rights.conformance.example.com" },
        spec: {
          group: "conformance.example.com",
          scope: "Namespaced",
          names: { plural: "rights", kind: "Right" },
          versions: [{ name: "v1", served: true, storage: true }],
        },
      };
      await w.refused(w.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd), { status: 422, reason: "Invalid" });
    },
  },
  {
    name: "SelfSubjectReview says who asks",
    run: async (w) => {
      const review = await w.create("/apis/authentication.k8s.io/v1/selfsubjectreviews", {
        apiVersion: "authentication.k8s.io/v1",
        kind: "SelfSubjectReview",
      });
      const groups = objectAt(objectAt(review, "status"), "userInfo")["groups"];
      assert.ok(Array.isArray(groups) && groups.includes("system:masters"));
    },
  },
  {
    name: "SelfSubjectAccessReview allows system:masters",
    run: async (w) => {
      const spec = { resourceAttributes: { verb: "delete", resource: "secrets", namespace: w.namespace } };
      const review = await w.create("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec,
      });
      assert.equal(objectAt(review, "status")["allowed"], true);
    },
  },
  {
    name: "a TokenReview of an unknown token is not authenticated",
    run: async (w) => {
      const review = await w.create("/apis/authentication.k8s.io/v1/tokenreviews", {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenReview",
        spec: { token: "nobody" },
      });
      assert.notEqual(objectAt(review, "status")["authenticated"], true);
    },
  },
  {
    name: "discovery lists a custom kind with its subresources",
    run: async (w) => {
      const list = await w.ok(w.get("/apis/conformance.example.com/v1"));
      const byName = new Map(objectsAt(list, "resources").map((resource) => [resource["name"], resource]));
      assert.deepEqual(new Set(byName.keys()), new Set(["gears", "widgets", "widgets/scale", "widgets/status"]));
      const widgets = byName.get("widgets");
      assert.deepEqual(widgets?.["shortNames"], ["wd"]);
      assert.deepEqual(widgets?.["categories"], ["all"]);
      assert.deepEqual(
        new Set(stringsAt(widgets, "verbs")),
        new Set(["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]),
      );
      assert.deepEqual(byName.get("widgets/scale")?.["group"], "autoscaling");
    },
  },
  {
    name: "aggregated discovery carries the same kinds",
    run: async (w) => {
      const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
      const response = await w.send("GET", "/apis", undefined, { headers: { accept } });
      assert.match(response.headers["content-type"] ?? "", /as=APIGroupDiscoveryList/);
      const group = objectsAt(response.body, "items").find((item) => metaOf(item)["name"] === "conformance.example.com");
      const version = objectsAt(group, "versions")[0];
      const widget = objectsAt(version, "resources").find((resource) => resource["resource"] === "widgets");
      assert.deepEqual(widget?.["responseKind"], { group: "conformance.example.com", version: "v1", kind: "Widget" });
      assert.equal(widget["scope"], "Namespaced");
    },
  },
  {
    name: "the group of a custom kind names its preferred version",
    run: async (w) => {
      const group = await w.ok(w.get("/apis/conformance.example.com"));
      assert.deepEqual(group["preferredVersion"], { groupVersion: "conformance.example.com/v1", version: "v1" });
    },
  },
  {
    name: "health and version are served",
    run: async (w) => {
      for (const path of ["/healthz", "/livez", "/readyz"]) assert.equal((await w.get(path)).body, "ok");
      const version = await w.ok(w.get("/version"));
      assert.equal(version["major"], "1");
      assert.match(String(version["gitVersion"]), /^v1\.\d+\.\d+/);
    },
  },
  {
    name: "OpenAPI v3 describes a custom kind",
    run: async (w) => {
      const index = await w.ok(w.get("/openapi/v3"));
      const entry = objectAt(objectAt(index, "paths"), "apis/conformance.example.com/v1");
      assert.match(String(entry["serverRelativeURL"]), /^\/openapi\/v3\/apis\/conformance\.example\.com\/v1\?hash=/);
      const document = await w.ok(w.get("/openapi/v3/apis/conformance.example.com/v1"));
      const schemas = objectAt(objectAt(document, "components"), "schemas");
      assert.ok(Object.keys(schemas).some((name) => name.endsWith(".Widget")));
    },
  },
  {
    name: "a path that nobody serves is 404",
    run: async (w) => {
      assert.equal((await w.get("/nowhere")).status, 404);
      assert.equal((await w.get("/apis/nowhere.example.com/v1")).status, 404);
    },
  },
];
