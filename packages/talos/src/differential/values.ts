import type { Type } from "../config/schema/notation.ts";

/** Tokens that a type takes, and some that it refuses or reads in a way of its own. */
export interface Tokens {
  readonly right: readonly string[];
  readonly odd: readonly string[];
}

const strings: Tokens = {
  right: [
    "plain",
    '"double"',
    "'single'",
    "with space",
    "a-b_c.d",
    "/dev/sda",
    "10.0.0.1",
    "example.org:6443",
    '"multi\\nline"',
    '"tab\\t"',
    '"\\n\\ntwo lines down"',
    '"\\n  indented below\\n"',
  ],
  odd: [
    "yes",
    "off",
    "null",
    "~",
    '""',
    "''",
    "1",
    "1.0",
    "0o17",
    "0x1f",
    "1e3",
    "2001-01-01",
    "2001-01-01T00:00:00Z",
    ".inf",
    "12:30:45",
    "1_000",
    "true",
    "=",
    '"<<"',
    '"é ü 漢 😀"',
    '"\\n"',
    '"\\n\\n"',
    '" \\n x"',
    '"\\n\\ttab below"',
    '"x\\n\\n\\n"',
    '"\\u0085"',
    '"  lead"',
    "'#no comment'",
    "a#b",
    "a: b",
    '"a: b"',
    '"- x"',
    "[]",
    "{}",
    '"\\e"',
    "01",
    '"?"',
    '"0b1"',
    "'y'",
    "'NO'",
    "+1",
    '"1."',
    '".5"',
    '"0.0.0"',
    '"%"',
    '"@at"',
    '"`"',
    '"*"',
    '"&x"',
    '"!t"',
    '"|"',
    '">"',
    '"very long text that goes on and on beyond eighty columns so that a writer which folds lines would have to fold it somewhere in here"',
  ],
};
const bools: Tokens = { right: ["true", "false"], odd: ["yes", "no", "on", "True", "FALSE", '"true"', "1", "~", "null", "y", "[]"] };
const integers: Tokens = {
  right: ["0", "1", "7", "22", "1500", "6443", "65535"],
  odd: [
    "-1",
    "4294967296",
    "18446744073709551616",
    "0x10",
    "0o17",
    "017",
    "1.5",
    "1e3",
    '"5"',
    "010",
    "+5",
    "0b101",
    "1_000",
    "~",
    "five",
    "[]",
    "-0",
  ],
};
const byCodec: Readonly<Record<string, Tokens>> = {
  "block.ByteSize": { right: ["10GiB", "100MB", "1.5TB", "1024"], odd: ["10 GiB", "-5GB", "ten", '""', "0", "10XB", "1e3", "~", "5%"] },
  "block.PercentageSize": { right: ["10GiB", "50%"], odd: ["-5%", "%", "5.5%", '""', "~"] },
  "block.Size": { right: ["10GiB", "50%", "100%"], odd: ["-5%", "%", "5.5%", '""', "101%", "~"] },
  "cel.Expression": {
    right: ['"true"', "disk.transport == 'nvme'", '"disk.size > 10u * GiB && !system_disk"', "'link.driver == \"virtio\"'"],
    odd: ['""', "disk.", "1", '"("', "~"],
  },
  "netip.Addr": {
    right: ["10.0.0.1", "2001:db8::1", '"::"'],
    odd: ["10.0.0", "010.0.0.1", "fe80::1%eth0", '""', "~", '"::ffff:1.2.3.4"', "2001:DB8::1", "2001:db8:0:0::1"],
  },
  "netip.AddrPort": {
    right: ["10.0.0.1:80", '"[2001:db8::1]:51820"'],
    odd: ["10.0.0.1", '"::1:80"', "10.0.0.1:65536", "10.0.0.1:080", '""', '"[10.0.0.1]:5"'],
  },
  "netip.Prefix": {
    right: ["10.0.0.0/24", "2001:db8::/64", "10.0.0.5/24"],
    odd: ["10.0.0.0", "10.0.0.0/33", "10.0.0.0/024", '""', "fe80::%eth0/64", '"::ffff:1.2.3.4/96"', "~"],
  },
  "network.PortRange": { right: ["80", "80-90", '"443"'], odd: ["90-80", "70000", "a", '""', "1-2-3", "0", "~", "080", '" 80"', "80-80"] },
  "nethelpers.HardwareAddr": {
    right: ["aa:bb:cc:dd:ee:ff", "AA-BB-CC-DD-EE-FF"],
    odd: ["aa:bb", '""', "zz:bb:cc:dd:ee:ff", "aabb.ccdd.eeff", "~", "00:01:02:03:04:05", "1:2"],
  },
  "nethelpers.RoutingTable": { right: ["main", "local", "100", "254"], odd: ["unspec", "0", "foo", "4294967296", "-1", '""', "~", "0x64"] },
  "meta.URL": {
    right: ["https://example.org/path", "tcp://10.0.0.1:514"],
    odd: [
      '""',
      "no url",
      "https://bad host",
      "https://ex.org/%zz",
      "//host",
      "HTTPS://EX.org",
      "https://user:pw@ex.org/?q=1#f",
      "~",
      ":foo",
    ],
  },
  "time.Duration": {
    right: ["5m", "1h30m", "10s", "1m0s", "500ms"],
    odd: ["5", "0", "-5s", "1.5h", "5 m", '""', "1d", "1us", "1µs", "~", "9999999h", ".5s", "+3s"],
  },
  "v1alpha1.DiskSize": { right: ["100GB", "1024", "10 GiB"], odd: ["ten", '""', "0", "1.5TB", "-1", "~", "100gb"] },
  "v1alpha1.InstallDiskSizeMatcher": {
    right: ["100GB", '">= 100GB"', "'<= 1TB'"],
    odd: ["'> ten'", '""', "4", '"== 5GB"', "~", '"<5 GB "', "'>>5GB'"],
  },
  "v1alpha1.InstallDiskType": { right: ["ssd", "hdd", "nvme", "sd"], odd: ["floppy", "SSD", '""', "~"] },
  "v1alpha1.FileMode": { right: ["0o644", "0o600"], odd: ["0644", "420", "rw", '""', "-1", "~", '"0o600"', "0x1ff", "0o7777777777777"] },
  base64: { right: ["YWJj", '"LS0tLS1CRUdJTg=="'], odd: ["not base64!", "YWJ", '""', "~", "YWJj\\n", "_-8="] },
};

const aliases: Readonly<Record<string, string>> = {
  "network.Addr": "netip.Addr",
  "network.AddrPort": "netip.AddrPort",
  "network.Prefix": "netip.Prefix",
  "v1alpha1.Endpoint": "meta.URL",
  "v1alpha1.Base64Bytes": "base64",
};

/** Values that decide more than a string in general says, by the last name of their path. */
const byName: Readonly<Record<string, readonly string[]>> = {
  type: ["worker", "controlplane", "init", "bind", '"tmpfs"'],
  version: ["v1alpha1"],
  image: ["ghcr.io/siderolabs/installer:v1.13.2", "registry.k8s.io/kube-apiserver:v1.36.1"],
  token: ["abcdef.0123456789abcdef"],
  name: ["eth0", "eth1", "a", "data", "custom", "none", "flannel"],
  interface: ["eth0", "eth1", "bond0"],
  hostname: ["node-1", "node-1.example.org", '"a.b"'],
  cidr: ["10.0.0.2/24"],
  addresses: ["10.0.0.2/24", "2001:db8::2/64"],
  nameservers: ["1.1.1.1", "2606:4700::1111"],
  mode: ["active-backup", "802.3ad", "ipvs"],
  path: ["/var/lib/a", "/etc/b"],
  op: ["create", "append", "overwrite"],
  format: ["json_lines"],
  network: ["0.0.0.0/0", "10.0.0.0/8", '""'],
  gateway: ["10.0.0.1", '""'],
};

/** What a scalar type is tried with. */
export function tokensOf(type: Type, name: string): Tokens {
  switch (type.kind) {
    case "string":
      return { right: byName[name] ?? strings.right, odd: strings.odd };
    case "bool":
      return bools;
    case "int":
    case "uint":
      return integers;
    case "codec":
      return byCodec[aliases[type.name] ?? type.name] ?? enumerationTokens(type.codec);
    default:
      return strings;
  }
}

function enumerationTokens(codec: { readonly zero: string; parse(text: string): object }): Tokens {
  const known = [
    "none",
    "luks2",
    "xfs",
    "ext4",
    "vfat",
    "disk",
    "partition",
    "off",
    "on",
    "stable",
    "talos-addr",
    "active-backup",
    "802.3ad",
    "fast",
    "slow",
    "mac",
    "duid",
    "accept",
    "block",
    "tcp",
    "udp",
    "blackhole",
    "unicast",
    "802.1q",
    "magic",
    "layer2",
    "always",
    "any",
    "all",
    "filter",
    "active",
    "count",
    "bandwidth",
    "follow",
    "unreachable",
    "directory",
    "phy",
  ];
  const right = known.filter((text) => "text" in codec.parse(text));
  return { right: right.length === 0 ? [JSON.stringify(codec.zero)] : right, odd: ['""', "bogus", "~", "0", "1", '"off"', "OFF"] };
}
