import assert from "node:assert/strict";
import type { JsonObject } from "../json.ts";
import { isObject } from "../json.ts";
import { objectAt, stringAt } from "../request/json.ts";
import { metaOf } from "./world.ts";
import type { ConformanceCase, World } from "./world.ts";

const audience = "https://kubernetes.default.svc";

function ask(w: World, name: string, spec: JsonObject = {}): Promise<JsonObject> {
  return w.ok(w.send("POST", w.core("serviceaccounts", `${name}/token`), request(spec)));
}

function request(spec: JsonObject): JsonObject {
  return { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
}

function review(w: World, token: string, audiences: readonly string[] = []): Promise<JsonObject> {
  return w
    .create("/apis/authentication.k8s.io/v1/tokenreviews", {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenReview",
      spec: { token, ...(audiences.length === 0 ? {} : { audiences }) },
    })
    .then((answer) => objectAt(answer, "status"));
}

/**
 * Asks until a token is good no more. A genuine server looks for the Secret of a token in its cache first, where a deletion comes a
 * moment later; what it took then it takes for ten seconds.
 */
async function refusedInTheEnd(w: World, token: string): Promise<void> {
  // Each turn is one request over the wire.
  for (let turn = 0; (await review(w, token))["authenticated"] === true; turn++) assert.ok(turn < 100_000, "the token stays good");
}

const tokenOf = (answer: JsonObject): string => stringAt(objectAt(answer, "status"), "token") ?? "";

async function makeAccount(w: World): Promise<JsonObject> {
  return metaOf(await w.create(w.core("serviceaccounts"), { metadata: { name: "robot" } }));
}

/** Tokens of ServiceAccounts, and whose they are. */
export const tokenCases: readonly ConformanceCase[] = [
  {
    name: "a ServiceAccount gets a token for an hour",
    run: async (w) => {
      const account = await makeAccount(w);
      const answer = await ask(w, "robot");
      assert.deepEqual(answer["spec"], { audiences: [audience], expirationSeconds: 3600, boundObjectRef: null });
      assert.equal(metaOf(answer)["uid"], account["uid"]);
      const payload = JSON.parse(Buffer.from(tokenOf(answer).split(".")[1] ?? "", "base64url").toString()) as unknown;
      assert.ok(isObject(payload));
      assert.equal(payload["sub"], `system:serviceaccount:${w.namespace}:robot`);
      assert.deepEqual(payload["aud"], [audience]);
      assert.equal(payload["iss"], audience);
      assert.equal(Number(payload["exp"]) - Number(payload["iat"]), 3600);
      assert.deepEqual(payload["kubernetes.io"], { namespace: w.namespace, serviceaccount: { name: "robot", uid: account["uid"] } });
    },
  },
  {
    name: "a review knows the ServiceAccount of a token",
    run: async (w) => {
      const account = await makeAccount(w);
      const status = await review(w, tokenOf(await ask(w, "robot")));
      assert.equal(status["authenticated"], true);
      assert.deepEqual(status["audiences"], [audience]);
      const user = objectAt(status, "user");
      assert.equal(user["username"], `system:serviceaccount:${w.namespace}:robot`);
      assert.equal(user["uid"], account["uid"]);
      assert.deepEqual(user["groups"], ["system:serviceaccounts", `system:serviceaccounts:${w.namespace}`, "system:authenticated"]);
    },
  },
  {
    name: "a token is good for its audiences alone",
    run: async (w) => {
      await makeAccount(w);
      const token = tokenOf(await ask(w, "robot", { audiences: ["here", "there"] }));
      assert.notEqual((await review(w, token))["authenticated"], true);
      const status = await review(w, token, ["there", "nowhere"]);
      assert.equal(status["authenticated"], true);
      assert.deepEqual(status["audiences"], ["there"]);
    },
  },
  {
    name: "a review of a token for others says so",
    run: async (w) => {
      await makeAccount(w);
      const status = await review(w, tokenOf(await ask(w, "robot")), ["other"]);
      assert.equal(
        status["error"],
        `[invalid bearer token, token audiences ["${audience}"] is invalid for the target audiences ["other"]]`,
      );
    },
  },
  {
    name: "a review without a token is BadRequest",
    run: async (w) => {
      await w.refused(
        w.send("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {
          apiVersion: "authentication.k8s.io/v1",
          kind: "TokenReview",
          spec: {},
        }),
        { status: 400, reason: "BadRequest", message: "token is required for TokenReview in authentication" },
      );
    },
  },
  {
    name: "a token lives ten minutes at least",
    run: async (w) => {
      await makeAccount(w);
      await w.refused(w.send("POST", w.core("serviceaccounts", "robot/token"), request({ expirationSeconds: 5 })), {
        status: 422,
        message:
          'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes',
      });
    },
  },
  {
    name: "a token of nobody is NotFound",
    run: async (w) => {
      await w.refused(w.send("POST", w.core("serviceaccounts", "nobody/token"), request({})), {
        status: 404,
        message: 'serviceaccounts "nobody" not found',
      });
    },
  },
  {
    name: "a token bound to a Secret ends with it",
    run: async (w) => {
      await makeAccount(w);
      await w.create(w.core("secrets"), { metadata: { name: "s" } });
      const boundObjectRef = { apiVersion: "v1", kind: "Secret", name: "s" };
      const token = tokenOf(await ask(w, "robot", { boundObjectRef }));
      await w.ok(w.send("DELETE", w.core("secrets", "s")));
      await refusedInTheEnd(w, token);
      await w.refused(w.send("POST", w.core("serviceaccounts", "robot/token"), request({ boundObjectRef })), {
        status: 404,
        message: 'secrets "s" not found',
      });
    },
  },
  {
    name: "a token bound to a pod names it, and goes to no foreign pod",
    run: async (w) => {
      await makeAccount(w);
      const containers = [{ name: "c", image: "i:1" }];
      const pod = metaOf(await w.create(w.core("pods"), { metadata: { name: "mine" }, spec: { serviceAccountName: "robot", containers } }));
      // Not the account "default", which a controller makes at some later moment.
      await w.create(w.core("serviceaccounts"), { metadata: { name: "stranger" } });
      await w.create(w.core("pods"), { metadata: { name: "other" }, spec: { serviceAccountName: "stranger", containers } });
      const user = objectAt(
        await review(w, tokenOf(await ask(w, "robot", { boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "mine" } }))),
        "user",
      );
      const extra = objectAt(user, "extra");
      assert.deepEqual(extra["authentication.kubernetes.io/pod-name"], ["mine"]);
      assert.deepEqual(extra["authentication.kubernetes.io/pod-uid"], [pod["uid"]]);
      const foreign = request({ boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "other" } });
      await w.refused(w.send("POST", w.core("serviceaccounts", "robot/token"), foreign), { status: 400, reason: "BadRequest" });
    },
  },
];
