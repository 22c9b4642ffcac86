import type { DescMethod } from "@bufbuild/protobuf";
import { cluster, cosi, inspect, machine, storage, time } from "@talos-operator/talos/protocol";

/** Generated services that apid carries. */
const services = [
  machine.MachineService,
  machine.LifecycleService,
  machine.ImageService,
  storage.StorageService,
  cluster.ClusterService,
  inspect.InspectService,
  time.TimeService,
  cosi.State,
];

/** Descriptors by full path. */
export const methodDescriptors: ReadonlyMap<string, DescMethod> = new Map(
  services.flatMap((service) => service.methods.map((method): [string, DescMethod] => [`/${service.typeName}/${method.name}`, method])),
);
