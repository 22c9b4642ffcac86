import { createHash } from "node:crypto";
import { openApiV2, openApiV3, openApiV3Index } from "../openapi/index.ts";
import type { JsonObject } from "../json.ts";
import { chooseForm } from "../request/accept.ts";
import type { ApiAnswer, ApiRequest } from "../request/request.ts";
import { methodNotAllowed } from "../request/status.ts";
import type { ApiContext } from "./context.ts";
import {
  aggregatedDiscovery,
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
  groupVersionsOf,
  kindsOfGroupVersion,
} from "./discovery.ts";

/** 404 of a path that leads nowhere. */
export function noSuchPage(): ApiAnswer {
  return { kind: "answer", status: 404, headers: { "content-type": "text/plain; charset=utf-8" }, body: "404 page not found\n" };
}

/** Documents that follow from the set of kinds, kept until that changes. */
export class NonResourceRoutes {
  readonly #context: ApiContext;
  readonly #cache = new Map<string, unknown>();
  #cachedFor = -1;
  #storeProblem: string | undefined;

  constructor(context: ApiContext) {
    this.#context = context;
  }

  /** Discovery, OpenAPI, version and health. */
  answer(request: ApiRequest): ApiAnswer {
    const path = request.path.length > 1 ? request.path.replace(/\/$/, "") : request.path;
    const found = this.#find(path, request);
    if (found === undefined) {
      return noSuchPage();
    }
    if (request.method !== "GET") {
      throw methodNotAllowed();
    }
    return found;
  }

  #find(path: string, request: ApiRequest): ApiAnswer | undefined {
    const { kinds } = this.#context;
    switch (path) {
      case "/":
        return json({ paths: this.#paths() });
      case "/api":
      case "/apis":
        return this.#discovery(path, request);
      case "/version":
        return json(versionInfo(this.#context.kubernetesVersion));
      case "/readyz":
        return this.#readiness(request.query["verbose"] !== undefined);
      case "/readyz/store":
        return this.#readiness(false, "/store");
      case "/healthz":
      case "/livez":
        return plain(request.query["verbose"] === undefined ? "ok" : `[+]ping ok\n${path.slice(1)} check passed\n`);
      case "/healthz/ping":
      case "/livez/ping":
      case "/readyz/ping":
        return plain("ok");
      case "/openapi/v2":
        return this.#openApiV2(request);
      case "/openapi/v3":
        return json(this.#cached(path, () => openApiV3Index(groupVersionsOf(kinds), (name) => this.#hashOf(name))));
      default:
        return this.#findBelow(path);
    }
  }

  /** Not ready while no write can be stored: reads and watches go on. Why stands in the log, for anybody may ask here. */
  #readiness(verbose: boolean, below = ""): ApiAnswer {
    const { state, log } = this.#context;
    const problem = state.storeProblem();
    if (problem !== this.#storeProblem) {
      this.#storeProblem = problem;
      if (problem === undefined) log?.info({}, "The store takes writes again");
      else log?.error({ problem }, "The store takes no writes");
    }
    if (problem === undefined) return plain(verbose ? "[+]ping ok\n[+]store ok\nreadyz check passed\n" : "ok");
    const text =
      below === "" ? "[+]ping ok\n[-]store failed: reason withheld\nreadyz check failed\n" : "internal server error: not ready\n";
    return { ...plain(text), status: 500 };
  }

  #openApiV2(request: ApiRequest): ApiAnswer {
    const { kinds } = this.#context;
    if ((request.headers["accept"] ?? "").includes(openApiV2ProtobufType)) {
      return { kind: "answer", status: 200, headers: { "content-type": openApiV2ProtobufType.replace("@", ".") }, body: emptyOpenApiV2 };
    }
    return json(this.#cached("/openapi/v2", () => openApiV2(groupVersionsOf(kinds).flatMap((name) => kindsOfGroupVersion(kinds, name)))));
  }

  #findBelow(path: string): ApiAnswer | undefined {
    const { kinds } = this.#context;
    const openApi = /^\/openapi\/v3\/(?:api\/(v1)|apis\/([^/]+\/[^/]+))$/.exec(path);
    if (openApi !== null) {
      const groupVersion = openApi[1] ?? openApi[2] ?? "";
      return groupVersionsOf(kinds).includes(groupVersion) ? json(this.#document(groupVersion)) : undefined;
    }
    const [, root, ...rest] = path.split("/");
    const found =
      root === "api" && rest.length === 1
        ? apiResourceList(kinds, "", rest[0] ?? "")
        : root === "apis" && rest.length === 1
          ? apiGroup(kinds, rest[0] ?? "")
          : root === "apis" && rest.length === 2
            ? apiResourceList(kinds, rest[0] ?? "", rest[1] ?? "")
            : undefined;
    return found === undefined ? undefined : json(found);
  }

  #discovery(path: "/api" | "/apis", request: ApiRequest): ApiAnswer {
    const { kinds } = this.#context;
    const form = chooseForm(request.headers["accept"], true);
    if (form.kind !== "aggregated") {
      return {
        ...json(path === "/api" ? apiVersions(request.headers["host"]) : apiGroupList(kinds)),
        headers: { "content-type": "application/json", vary: "Accept" },
      };
    }
    const body = this.#cached(`${path} ${form.version}`, () => aggregatedDiscovery(kinds, path === "/api", form.version));
    const etag = this.#cached(`${path} ${form.version} etag`, () => `"${hash(body)}"`);
    const contentType = `application/json;g=apidiscovery.k8s.io;v=${form.version};as=APIGroupDiscoveryList`;
    if (request.headers["if-none-match"] === etag) {
      return { kind: "answer", status: 304, headers: { etag, vary: "Accept" }, body: "" };
    }
    return { kind: "answer", status: 200, headers: { "content-type": contentType, vary: "Accept", etag }, body };
  }

  #document(groupVersion: string): unknown {
    return this.#cached(`v3 ${groupVersion}`, () => openApiV3(groupVersion, kindsOfGroupVersion(this.#context.kinds, groupVersion)));
  }

  #hashOf(groupVersion: string): string {
    return hash(this.#document(groupVersion)).toUpperCase();
  }

  #paths(): readonly string[] {
    const groupVersions = groupVersionsOf(this.#context.kinds);
    const groups = [...new Set(groupVersions.filter((name) => name.includes("/")).map((name) => `/apis/${name.split("/")[0] ?? ""}`))];
    const versions = groupVersions.map((name) => (name.includes("/") ? `/apis/${name}` : `/api/${name}`));
    return ["/api", "/apis", "/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version", ...groups, ...versions].sort();
  }

  #cached<T>(key: string, make: () => T): T {
    if (this.#cachedFor !== this.#context.kinds.generation) {
      this.#cache.clear();
      this.#cachedFor = this.#context.kinds.generation;
    }
    if (!this.#cache.has(key)) {
      this.#cache.set(key, make());
    }
    return this.#cache.get(key) as T;
  }
}

// As kubectl asks for it. The answer has a dot for the @, which no media type may contain.
const openApiV2ProtobufType = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

/**
 * An OpenAPI v2 document without paths, as protobuf (`Document.swagger` and `Document.info`, all of it ASCII).
 *
 * kubectl asks for this form, and for no other, only when OpenAPI v3 does not say that a kind takes `fieldValidation` (kind `List`). With nothing
 * in it kubectl leaves the validation to the server, which does it anyway.
 */
const emptyOpenApiV2 = ((): string => {
  const field = (tag: number, text: string): string => `${String.fromCharCode((tag << 3) | 2, text.length)}${text}`;
  return field(1, "2.0") + field(2, field(1, "Kubernetes") + field(2, "unversioned"));
})();

function plain(body: string): ApiAnswer {
  return { kind: "answer", status: 200, headers: { "content-type": "text/plain; charset=utf-8" }, body };
}

function json(body: unknown): ApiAnswer {
  return { kind: "answer", status: 200, headers: { "content-type": "application/json" }, body };
}

function hash(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

/** `/version`. No build facts are made up: what does not exist here is empty. */
function versionInfo(version: string): JsonObject {
  const [major = "1", minor = "0"] = version.split(".");
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Math.max(0, Number(minor) - 1)),
    gitVersion: `v${version}`,
    gitCommit: "",
    gitTreeState: "clean",
    buildDate: "1970-01-01T00:00:00Z",
    goVersion: "",
    compiler: "",
    platform: "linux/amd64",
  };
}
