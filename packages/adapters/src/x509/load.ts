export type X509Module = typeof import("@peculiar/x509");

/** The X.509 library, loaded when it is first needed: 180 ms and 19 MB, so only a process that issues certificates pays for it. */
export async function loadX509(): Promise<X509Module> {
  return (await import("./library.ts")).x509;
}
