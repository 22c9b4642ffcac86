import { array, boolean, constantFrom, dictionary, gen, integer, oneof, option, record, subarray, type Arbitrary } from "fast-check";
import type { Generation } from "../config/schema/notation.ts";
import type { GenconfigInput, GenconfigOptions, NetworkOption } from "../golden/genconfig.ts";
import { below } from "./documents.ts";
import { patchOf } from "./patches.ts";

const names = constantFrom("alpha", "a-b", "with space", "42", "yes", "ümlaut", "x".repeat(70));
const endpoints = constantFrom(
  "https://192.0.2.10:6443",
  "https://api.example.org",
  "https://api.example.org:443",
  "https://[2001:db8::1]:6443",
  "https://[2001:db8::1]",
  "https://API.example.org:6443/",
);
const kubernetesVersions = constantFrom(
  "1.36.1",
  "v1.35.0",
  "1.30.14",
  "1.36.0-rc.1",
  "",
  "1.36",
  "v1.30",
  "1",
  "1.22.0",
  "1.19",
  "latest",
  "1.36.1+x",
  "01.36.0",
);
const hosts = constantFrom("docker.io", "ghcr.io", "*", "registry.example.org:5000", "10.0.0.1", "10.0.0.9:5000", "10.0.0.10:5000");
const urls = constantFrom(
  "https://mirror.example.org",
  "http://10.0.0.9:5000",
  "https://mirror.example.org/v2/path",
  "https://user:pw@h/x?q=1",
);
const sans = array(constantFrom("10.0.0.1", "alt.example.org", "2001:db8::1", "*.example.org", "UPPER.example"), { maxLength: 4 });
const texts = constantFrom("1", "yes", "65535", "a b", "", "0o17", "it's", '"', "1e3");

/** Everything that the generator takes; secrets are those of a cluster of that contract or another. */
export function generation(secrets: readonly string[], newest: Generation): Arbitrary<GenconfigInput> {
  // Not of several kinds at once: in Talos 1.13 the configs share parts of a patch that all got, and the next patch changes them in each.
  // For the same reason lists of free-form parts grow with every config that is patched.
  const patches = option(array(patchOf(newest, true), { minLength: 1, maxLength: 2 }), { nil: undefined, freq: 4 });
  return record({
    cluster_name: names,
    endpoint: endpoints,
    contract: constantFrom(...contractsOf(newest)),
    kubernetes_version: kubernetesVersions,
    secrets: constantFrom(...secrets),
    // From 1.14 on these are documents, for which we take patches alone.
    options: generatorOptions().map(({ network, user_disks, ...rest }) =>
      newest === "1.13" ? withoutAbsent({ network, user_disks, ...rest }) : rest,
    ),
    patches: oneof(
      patches.map((config_patch) => ({ config_patch })),
      patches.map((config_patch_control_plane) => ({ config_patch_control_plane })),
      patches.map((config_patch_worker) => ({ config_patch_worker })),
    ),
  }).map(({ patches: given, ...rest }) => withoutAbsent({ ...rest, ...given }));
}

/** A library prints in its own style whatever the contract is, so newer ones are asked for their own contracts. */
function contractsOf(newest: Generation): readonly string[] {
  return newest === "1.13" ? Array.from({ length: 14 }, (_, minor) => `v1.${minor}`) : ["v1.14", "v1.15"];
}

function generatorOptions(): Arbitrary<GenconfigOptions> {
  const maybe = <T>(arbitrary: Arbitrary<T>): Arbitrary<T | undefined> => option(arbitrary, { nil: undefined, freq: 2 });
  return record({
    additional_sans: maybe(sans),
    allow_scheduling_on_control_planes: maybe(boolean()),
    cluster_discovery: maybe(boolean()),
    cni: maybe(
      constantFrom(
        { name: "none" as const },
        { name: "flannel" as const },
        { name: "custom" as const, urls: ["https://cni.example.org/a.yaml"] },
      ),
    ),
    debug: maybe(boolean()),
    dns_domain: maybe(constantFrom("cluster.local", "corp.example", "", "1.2")),
    endpoints: maybe(array(constantFrom("10.0.0.1", "2001:db8::1", "node.example"), { maxLength: 3 })),
    hostdns_forward_kube_dns_to_host: maybe(boolean()),
    install_disk: maybe(constantFrom("/dev/sda", "/dev/nvme0n1", "", "/dev/disk/by-id/a b")),
    install_extra_kernel_args: maybe(subarray(["net.ifnames=0", "console=ttyS0,115200", "-selinux", "a: b"])),
    install_image: maybe(constantFrom("ghcr.io/siderolabs/installer:v1.13.2", "", "r.example:5000/i@sha256:0")),
    kubeprism_port: maybe(constantFrom(0, 7445, 7000)),
    kubespan: maybe(boolean()),
    local_api_server_port: maybe(constantFrom(6443, 7443)),
    network: maybe(networkOptions()),
    registry_ca: maybe(
      dictionary(hosts, constantFrom("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n", "x"), { maxKeys: 2 }),
    ),
    registry_insecure: maybe(array(hosts, { maxLength: 2 })),
    registry_mirrors: maybe(
      array(
        record({ host: hosts, url: urls }).map(({ host, url }) => `${host}=${url}`),
        { maxLength: 4 },
      ),
    ),
    sysctls: maybe(dictionary(constantFrom("net.core.somaxconn", "vm.swappiness", "a", "kernel.x"), texts, { maxKeys: 3 })),
    user_disks: maybe(
      constantFrom(
        [{ device: "/dev/sdb", partitions: [{ mountpoint: "/var/mnt/a", size: "100GB" }, { mountpoint: "/var/mnt/b" }] }],
        [{ device: "/dev/sdc", partitions: [] }],
      ),
    ),
  }).map(withoutAbsent);
}

function networkOptions(): Arbitrary<readonly NetworkOption[]> {
  const one = gen().map((g): NetworkOption => {
    const draw = (limit: number): number => g(below, limit);
    const iface = ["eth0", "eth1", "bond0"][draw(3)] ?? "eth0";
    switch (draw(9)) {
      case 0:
        return { op: "nameservers", values: ["1.1.1.1", "2606:4700::1111"].slice(0, draw(3)) };
      case 1:
        return { op: "cidr", iface, value: ["10.5.0.2/24", "2001:db8::2/64"][draw(2)] ?? "" };
      case 2:
        return { op: "dhcp", iface, enable: draw(2) === 0 };
      case 3:
        return { op: "dhcpv4", iface, enable: draw(2) === 0 };
      case 4:
        return { op: "dhcpv6", iface, enable: draw(2) === 0 };
      case 5:
        return { op: "mtu", iface, mtu: g(integer, { min: 0, max: 9000 }) };
      case 6:
        return { op: "vip", iface, value: "10.5.0.100" };
      case 7:
        return { op: "kubespan" };
      default:
        return { op: "ignore", iface };
    }
  });
  return array(one, { minLength: 1, maxLength: 4 });
}

function withoutAbsent<T extends object>(members: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
