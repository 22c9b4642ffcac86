import { defineKind } from "./define-kind.ts";

/** An address that a link has. */
export interface AddressStatusSpec {
  /** With prefix length, `10.5.0.2/24`. */
  readonly address: string;
  readonly linkName: string;
  /** `inet4`, `inet6` */
  readonly family: string;
  /** `global`, `link`, `host`, ... */
  readonly scope: string;
}

/** A route in the kernel's table. */
export interface RouteStatusSpec {
  readonly family: string;
  /** Empty for the default route. */
  readonly destination: string;
  readonly gateway: string;
  readonly linkName: string;
  readonly priority: number;
  /** `main`, `local`, ... */
  readonly table: string;
}

/** How far the network is. */
export interface NetworkStatusSpec {
  readonly isAddressReady: boolean;
  readonly isConnectivityReady: boolean;
  readonly isHostnameReady: boolean;
  readonly areEtcFilesReady: boolean;
}

/** Network of a machine. */
export const networkKinds = {
  /** Addresses; the id is `<link>/<address>`. */
  addressStatus: defineKind<AddressStatusSpec>("AddressStatuses.net.talos.dev", "network", undefined, (spec) => ({
    address: spec.text("address"),
    linkName: spec.text("linkName"),
    family: spec.text("family"),
    scope: spec.text("scope"),
  })),
  /** Routes of all tables. */
  routeStatus: defineKind<RouteStatusSpec>("RouteStatuses.net.talos.dev", "network", undefined, (spec) => ({
    family: spec.text("family"),
    destination: spec.text("dst"),
    gateway: spec.text("gateway"),
    linkName: spec.text("outLinkName"),
    priority: spec.number("priority"),
    table: spec.text("table"),
  })),
  /** DNS servers in use. */
  resolverStatus: defineKind<{ readonly dnsServers: readonly string[]; readonly searchDomains: readonly string[] }>(
    "ResolverStatuses.net.talos.dev",
    "network",
    "resolvers",
    (spec) => ({ dnsServers: spec.texts("dnsServers"), searchDomains: spec.texts("searchDomains") }),
  ),
  /** Time servers in use. */
  timeServerStatus: defineKind<{ readonly timeServers: readonly string[] }>(
    "TimeServerStatuses.net.talos.dev",
    "network",
    "timeservers",
    (spec) => ({ timeServers: spec.texts("timeServers") }),
  ),
  /** Which parts of the network are up. */
  networkStatus: defineKind<NetworkStatusSpec>("NetworkStatuses.net.talos.dev", "network", "status", (spec) => ({
    isAddressReady: spec.flag("addressReady"),
    isConnectivityReady: spec.flag("connectivityReady"),
    isHostnameReady: spec.flag("hostnameReady"),
    areEtcFilesReady: spec.flag("etcFilesReady"),
  })),
} as const;
