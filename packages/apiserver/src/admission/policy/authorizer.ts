import type { Environment } from "@marcbachmann/cel-js";
import { isAllowed, type AccessAttributes, type Authorize } from "../../auth/authorize.ts";
import type { ApiUser } from "../../request/request.ts";

type Asked = Omit<AccessAttributes, "user" | "verb">;

/** The variable `authorizer` of a policy: whom it asks, and for whom. */
export class Authorizer {
  readonly authorize: Authorize;
  readonly user: ApiUser;
  /** The resource of the request. */
  readonly asked: Asked;
  constructor(authorize: Authorize, user: ApiUser, asked: Asked) {
    this.authorize = authorize;
    this.user = user;
    this.asked = asked;
  }
}

class GroupCheck {
  readonly by: Authorizer;
  readonly group: string;
  constructor(by: Authorizer, group: string) {
    this.by = by;
    this.group = group;
  }
}

class ResourceCheck {
  readonly by: Authorizer;
  readonly asked: Asked;
  constructor(by: Authorizer, asked: Asked) {
    this.by = by;
    this.asked = asked;
  }
  with(more: Partial<Asked>): ResourceCheck {
    return new ResourceCheck(this.by, { ...this.asked, ...more });
  }
}

class Decision {
  readonly allowed: boolean;
  readonly reason: string;
  constructor(allowed: boolean, reason: string) {
    this.allowed = allowed;
    this.reason = reason;
  }
}

const nothing: Asked = { group: "", version: "*", resource: "", subresource: "", namespace: "", name: "", path: "" };

/** Adds `authorizer`'s functions: `group`, `resource`, `path`, `check` and what goes with them. */
export function registerAuthorizer(environment: Environment): void {
  for (const [name, ctor] of Object.entries({ Authorizer, GroupCheck, ResourceCheck, Decision })) {
    environment.registerType(name, { ctor, fields: {} });
  }
  const add = (signature: string, handler: (...args: never[]) => unknown): unknown => environment.registerFunction(signature, handler);
  add("Authorizer.group(string): GroupCheck", (by: Authorizer, group: string) => new GroupCheck(by, group));
  add("Authorizer.path(string): ResourceCheck", (by: Authorizer, path: string) => new ResourceCheck(by, { ...nothing, path }));
  add("Authorizer.requestedResource(): ResourceCheck", (by: Authorizer) => new ResourceCheck(by, by.asked));
  add("Authorizer.serviceAccount(string, string): Authorizer", (by: Authorizer, namespace: string, name: string) => {
    const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
    return new Authorizer(by.authorize, { name: `system:serviceaccount:${namespace}:${name}`, groups }, by.asked);
  });
  add(
    "GroupCheck.resource(string): ResourceCheck",
    ({ by, group }: GroupCheck, resource: string) => new ResourceCheck(by, { ...nothing, group, resource }),
  );
  add("ResourceCheck.subresource(string): ResourceCheck", (check: ResourceCheck, subresource: string) => check.with({ subresource }));
  add("ResourceCheck.namespace(string): ResourceCheck", (check: ResourceCheck, namespace: string) => check.with({ namespace }));
  add("ResourceCheck.name(string): ResourceCheck", (check: ResourceCheck, name: string) => check.with({ name }));
  add("ResourceCheck.check(string): Decision", ({ by, asked }: ResourceCheck, verb: string) => {
    const { allowed, reason } = isAllowed({ ...asked, user: by.user, verb }, by.authorize);
    return new Decision(allowed, reason);
  });
  add("Decision.allowed(): bool", (decision: Decision) => decision.allowed);
  add("Decision.reason(): string", (decision: Decision) => decision.reason);
  add("Decision.errored(): bool", () => false);
  add("Decision.error(): string", () => "");
}
