import type { BackupDependencies } from "@talos-operator/operator";
import { booleanFlag, type FlagValues } from "../command.ts";
import type { Settings } from "../settings/read-settings.ts";

/** What the settings say of backups. */
export type BackupSettings = Pick<Settings["values"], "requireBackupStoreLabel" | "backupEndpoints" | "backupIdentityNamespaces">;

/** What of Secrets, of the network and of the cloud backups may use. */
export function backupBounds(
  flags: FlagValues,
  { requireBackupStoreLabel, backupEndpoints, backupIdentityNamespaces }: BackupSettings,
): Pick<BackupDependencies, "allowInsecureObjectStorage" | "requireStoreLabel" | "endpoints" | "identityNamespaces"> {
  return {
    allowInsecureObjectStorage: booleanFlag(flags, "allow-insecure-object-storage"),
    requireStoreLabel: requireBackupStoreLabel,
    ...(backupEndpoints === undefined ? {} : { endpoints: backupEndpoints }),
    ...(backupIdentityNamespaces === undefined ? {} : { identityNamespaces: backupIdentityNamespaces }),
  };
}
