import { isAbsolute, join } from "node:path";

/** A place where a client configuration may be. */
export interface TalosconfigPath {
  readonly path: string;
  /** False for the one that a pod is given by its service account. */
  readonly isWritable: boolean;
}

/** What the environment says about the place; variables that are not set are absent. */
export interface TalosconfigPathInput {
  readonly env: { readonly TALOSCONFIG?: string | undefined; readonly TALOS_HOME?: string | undefined };
  /** Home directory of the user. */
  readonly home: string;
}

/**
 * Where a client configuration is looked for, the first that exists wins: `$TALOSCONFIG`, `config` in `$TALOS_HOME` (absolute, else it counts
 * as not set) or in `~/.talos`, and what a service account mounts.
 *
 * @see siderolabs/talos `pkg/machinery/client/config/path.go`
 */
export function talosconfigPaths({ env, home }: TalosconfigPathInput): readonly TalosconfigPath[] {
  const folder = env.TALOS_HOME !== undefined && isAbsolute(env.TALOS_HOME) ? env.TALOS_HOME : join(home, ".talos");
  return [
    ...(env.TALOSCONFIG === undefined ? [] : [{ path: env.TALOSCONFIG, isWritable: true }]),
    { path: join(folder, "config"), isWritable: true },
    { path: "/var/run/secrets/talos.dev/config", isWritable: false },
  ];
}

/**
 * The place to use: the first that exists, else the first that may be written, where an empty configuration with file mode 0600 in a folder of
 * mode 0700 belongs before anything is merged into it.
 */
export function chooseTalosconfigPath(input: TalosconfigPathInput, exists: (path: string) => boolean): TalosconfigPath {
  const paths = talosconfigPaths(input);
  const isUsable = ({ path }: TalosconfigPath): boolean => path !== "";
  const chosen = paths.find((place) => isUsable(place) && exists(place.path)) ?? paths.find((place) => isUsable(place) && place.isWritable);
  return chosen ?? { path: join(input.home, ".talos", "config"), isWritable: true };
}
