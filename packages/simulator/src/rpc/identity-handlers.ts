import { create } from "@bufbuild/protobuf";
import { machine } from "@talos-operator/talos/protocol";
import { hostnameOf } from "../node/identity.ts";
import type { HandlerContext } from "./context.ts";

/** MachineService/Version. In maintenance without `features`. */
export function version({ cell, isMaintenance }: HandlerContext): machine.VersionResponse {
  const { talosVersion, platform } = cell.state.hardware;
  return create(machine.VersionResponseSchema, {
    messages: [
      {
        version: { tag: talosVersion, sha: "simulated", built: "", goVersion: "go1.26.8", os: "linux", arch: "amd64" },
        platform: { name: platform, mode: platform },
        ...(isMaintenance ? {} : { features: { rbac: true } }),
      },
    ],
  });
}

/** MachineService/Hostname. */
export function hostname({ cell }: HandlerContext): machine.HostnameResponse {
  return create(machine.HostnameResponseSchema, { messages: [{ hostname: hostnameOf(cell.state) }] });
}
