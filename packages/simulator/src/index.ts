export { createDatacenter } from "./datacenter/datacenter.ts";
export { SimulatorError, simulatorErrorCodes } from "./datacenter/errors.ts";
export { demoTimings, genuineTimings, instantTimings, realisticTimings } from "./node/timings.ts";

export type {
  CallEvent,
  Datacenter,
  DatacenterChange,
  DatacenterOptions,
  DatacenterSnapshot,
  SimulatedMachine,
} from "./datacenter/types.ts";
export type { SimulatorErrorCode } from "./datacenter/errors.ts";
export type { Fault, FaultEffect, FaultHandle } from "./datacenter/faults.ts";
export type { Disk, Hardware, MachineSpec, Platform } from "./node/hardware.ts";
export type { Machine, Stage } from "./node/machine.ts";
export type { ReleaseFault } from "./node/releases.ts";
export type { Timings } from "./node/timings.ts";
export { namesOf as namesOfImage } from "./rpc/image-handlers.ts";
export { isCounted, overEtcd, refusalOf } from "./workload/over-etcd.ts";
export type { WorkloadApi, WorkloadCluster, WorkloadClusterRequest, WorkloadContents } from "./workload/api.ts";
export type { EtcdCluster, EtcdMember } from "./etcd/model.ts";
export type { EtcdDatabase } from "./etcd/etcd-database.ts";

// For those who put machines behind other transports (see `./grpc`) or drive a machine without a datacenter.
export { nextDue, step } from "./node/step.ts";
export { grpcStatus, RpcError } from "./datacenter/call.ts";
export type { IncomingCall, Reply } from "./datacenter/call.ts";
export type { MachineInput, MachineOutput } from "./node/inputs.ts";
export type { StepContext, StepResult } from "./node/step.ts";
