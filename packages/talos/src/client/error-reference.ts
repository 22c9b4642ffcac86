import type { TalosErrorCode } from "./errors.ts";

/** What a person reads about each code. `npm run generate` writes `docs/reference/errors/talos.md` from it; nothing at run time loads it. */
export const errorReference: {
  readonly page: string;
  readonly title: string;
  /** Lines above the codes, Markdown. */
  readonly intro: readonly string[];
  readonly codes: Readonly<Record<TalosErrorCode, { readonly cause: string; readonly effect: string; readonly remedy: string }>>;
} = {
  page: "talos",
  title: "Errors of talos",
  intro: [
    "Calls of the machine API fail with a `TalosError`: `code`, `retry` (`now`, `backoff`, `never`), `grpcCode`, `node`, `method`, `nodeText`, `cause`.",
    "The message begins with the code, names machine and method, quotes the machine and ends with the remedy. Errors of configs, patches and bundles have",
    "their own page, [talos-config](talos-config.md).",
  ],
  codes: {
    UNAVAILABLE: {
      cause:
        "Nobody answered: connection refused, reset or cut, the machine is away, reboots or starts its API anew. From a forwarding machine: it cannot reach the machine named by `node`.",
      effect: "Whether an effect took place is unknown if the call had been sent.",
      remedy:
        "Check that the machine runs, that its address is right and that port 50000 is reachable; look at its state before an effect is sent again.",
    },
    NO_ENDPOINT: {
      cause: "A session has no control plane that answers: all are away, refuse our certificate, or show one that is not of the cluster.",
      effect: "Nothing reached the machine that was to be looked at; it says nothing about that machine.",
      remedy:
        "Dial the machine itself, and check the control planes' addresses and port 50000. `cause` is what the last of them failed with.",
    },
    DEADLINE_EXCEEDED: {
      cause: "No complete answer within the call's deadline. EtcdMemberList on a machine whose etcd does not run yet always ends so.",
      effect: "Whether an effect took place is unknown. The next call opens a new connection.",
      remedy: "Look at the machine's state; raise `timeoutMs` only where the work itself takes longer.",
    },
    CANCELED: {
      cause: "The caller's signal aborted, or the channel was closed.",
      effect: "The call ends on our side; an effect that was sent may still take place.",
      remedy: "None.",
    },
    UNTRUSTED_SERVER: {
      cause:
        "The machine's certificate does not verify under the cluster's CA: signed by another CA, self-signed (maintenance mode), expired, not yet valid, not a server's, a weak key, or TLS older than 1.2.",
      effect: "Nothing was sent. Never answered by a weaker mode.",
      remedy:
        "Check that the address belongs to this cluster and the clocks agree. A machine that was configured and now shows a self-signed certificate has been reset.",
    },
    UNEXPECTED_IDENTITY: {
      cause: "The certificate verifies but does not name the dialled address, or its key is not the pinned one.",
      effect: "Nothing was sent.",
      remedy:
        "Check the address and the machine's certificate names (`machine.certSANs`). In maintenance mode the key changes with every boot: look again and pin anew.",
    },
    CLIENT_REFUSED: {
      cause: "The machine answered the handshake with an alert about our certificate: required, unknown CA, expired, not valid.",
      effect: "Nothing was sent.",
      remedy: "A machine dialled in maintenance mode is configured already. Otherwise it belongs to another cluster, or a clock is wrong.",
    },
    NOT_TLS: {
      cause: "What answered does not speak TLS.",
      effect: "Nothing was sent.",
      remedy: "Check address and port; nothing but apid should listen on 50000.",
    },
    NOT_GRPC: {
      cause: "What answered speaks TLS but not gRPC: a web server, a proxy, an HTTP error page.",
      effect: "The call had no effect on any machine.",
      remedy: "Check address and port, and that no proxy stands between.",
    },
    UNAUTHENTICATED: {
      cause: "Credentials are missing or not accepted.",
      effect: "Nothing was done.",
      remedy: "Issue a new client certificate.",
    },
    PERMISSION_DENIED: {
      cause:
        "The role of the client certificate does not allow the call. COSI answers so, too, for a resource type or namespace that the machine does not know, and a worker that is asked to forward.",
      effect: "Nothing was done.",
      remedy: "Use a certificate with the role that the call asks for; read the text for unknown types.",
    },
    INVALID_ARGUMENT: {
      cause:
        "The machine refuses what was sent, for example a machine config that does not validate, or one that needs a reboot in mode `no-reboot`.",
      effect: "Nothing was done.",
      remedy:
        "Correct what the text names. Values and diffs of a refused machine config are left out of the text, because they may be secret.",
    },
    NOT_FOUND: {
      cause: "File, member or thing does not exist. `resources.get` returns `undefined` instead.",
      effect: "Nothing was done.",
      remedy: "Check the name.",
    },
    ALREADY_EXISTS: {
      cause: "It is done already: Bootstrap on a machine that has etcd data.",
      effect: "Nothing was changed.",
      remedy: "Go on by looking at the state.",
    },
    FAILED_PRECONDITION: {
      cause:
        "The machine cannot do it in its present state: not ready to bootstrap yet, about to reboot after an apply, no such call in container mode.",
      effect: "Nothing was done.",
      remedy: "Wait for the state that the text names; in container mode do without the call.",
    },
    UNIMPLEMENTED: {
      cause: "No such call for this role (Bootstrap or etcd calls on a worker), mode (maintenance up to 1.12) or Talos version.",
      effect: "Nothing was done.",
      remedy: "Ask a control plane, or check the version.",
    },
    RESOURCE_EXHAUSTED: {
      cause: "A message larger than 32 MiB, a text longer than the caller wants, or a full store on the machine.",
      effect: "Nothing usable arrived.",
      remedy: "Make the request smaller, or read as a stream.",
    },
    ABORTED: {
      cause: "Another call got in between.",
      effect: "Nothing was done.",
      remedy: "Send it again.",
    },
    NODE_FAILED: {
      cause: "The machine tried and failed, or its text has no status of its own: Talos passes plain Go errors on as status UNKNOWN.",
      effect: "May have been done in part.",
      remedy: "Read the text and the machine's logs, look at the state, then try again.",
    },
    SNAPSHOT_DAMAGED: {
      cause:
        "An etcd snapshot ended early, or its last 32 bytes are not the SHA-256 of the bytes before. Machines end the stream without an error when reading fails.",
      effect: "The bytes that came are no snapshot.",
      remedy: "Throw them away and take the snapshot again, best from another control plane.",
    },
    INSTALL_FAILED: {
      cause: "The installer of an installation or upgrade ended with an exit code. The call itself counts as answered.",
      effect: "The boot slot may be half written; the machine goes on with the version that it runs, also after a reboot.",
      remedy: "Read the installer's messages: most often the image does not fit the version or platform of the machine.",
    },
    MALFORMED_REPLY: {
      cause:
        "The reply breaks the protocol: cannot be decoded, lacks what every version of Talos sends, or answers for another number of machines than asked.",
      effect: "Treated as no answer; what the call did is unknown.",
      remedy: "Check that Talos answers there and that its version is supported; report it with the method named in the message.",
    },
  },
};
