/** Below the idle time of every server that matters, so that we close an idle connection before the server does in the middle of a request. */
export const idleConnectionMs = 20_000;

/** After this much silence the kernel asks the peer's kernel whether it is there. */
export const keepAliveProbeMs = 15_000;
