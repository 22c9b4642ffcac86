import { create } from "@bufbuild/protobuf";
import { common, machine } from "@talos-operator/talos/protocol";
import { dump } from "js-yaml";
import { gzipSync } from "node:zlib";
import { grpcStatus, RpcError } from "../datacenter/call.ts";
import type { HandlerContext } from "./context.ts";
import { requireControlPlane } from "./guards.ts";
import { tarWithoutEnd } from "./tar.ts";

const yearMs = 8_760 * 3_600_000;

/** MachineService/Kubeconfig: one message with gzip(tar), whose tar lacks its end blocks as a genuine node's does. */
export async function* kubeconfig(context: HandlerContext): AsyncIterable<common.Data> {
  const facts = requireControlPlane(context, "kubeconfig");
  const { keys, clock } = context.world;
  if (facts.kubernetesCa.key === "")
    throw new RpcError(grpcStatus.failedPrecondition, "kubeconfig is not available: no Kubernetes CA in the machine config");
  const client = await keys.signCertificate(facts.kubernetesCa, {
    usage: "client",
    commonName: "admin",
    organizations: ["system:masters"],
    notBefore: clock.now() - 10_000,
    lifetimeMs: yearMs,
  });
  const name = `admin@${facts.clusterName}`;
  const text = dump(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        {
          name: facts.clusterName,
          cluster: { server: facts.endpoint, "certificate-authority-data": base64(facts.kubernetesCa.certificate) },
        },
      ],
      users: [{ name, user: { "client-certificate-data": base64(client.certificate), "client-key-data": base64(client.key) } }],
      contexts: [{ context: { cluster: facts.clusterName, namespace: "default", user: name }, name }],
      "current-context": name,
    },
    { indent: 4, lineWidth: -1 },
  );
  yield create(common.DataSchema, { bytes: gzipSync(tarWithoutEnd("kubeconfig", Buffer.from(text), Math.floor(clock.now() / 1000))) });
}

/** MachineService/GenerateClientConfiguration. */
export async function generateClientConfiguration(
  context: HandlerContext,
  request: machine.GenerateClientConfigurationRequest,
): Promise<machine.GenerateClientConfigurationResponse> {
  const facts = requireControlPlane(context, "generate client configuration");
  const lifetimeMs = Number(request.crtTtl?.seconds ?? 0n) * 1000;
  if (lifetimeMs <= 0) throw new RpcError(grpcStatus.invalidArgument, "crt_ttl should be positive");
  const { keys, clock } = context.world;
  const roles = request.roles.length === 0 ? ["os:admin"] : request.roles.toSorted();
  const client = await keys.signCertificate(facts.osCa, { usage: "client", organizations: roles, notBefore: clock.now(), lifetimeMs });
  const [only = ""] = roles;
  const contextName = roles.length === 1 ? `${only.replace(/^os:/, "")}@${facts.clusterName}` : facts.clusterName;
  const talosconfig = dump(
    {
      context: contextName,
      contexts: {
        [contextName]: { endpoints: [], ca: base64(facts.osCa.certificate), crt: base64(client.certificate), key: base64(client.key) },
      },
    },
    { indent: 4, lineWidth: -1 },
  );
  return create(machine.GenerateClientConfigurationResponseSchema, {
    messages: [
      {
        ca: Buffer.from(facts.osCa.certificate),
        crt: Buffer.from(client.certificate),
        key: Buffer.from(client.key),
        talosconfig: Buffer.from(talosconfig),
      },
    ],
  });
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
