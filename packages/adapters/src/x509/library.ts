// The library's dependency-injection container looks for this at import, without declaring it: it comes first.
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

x509.cryptoProvider.set(webcrypto);

/** The X.509 library, ready to use. A module of its own, imported by name, so that a bundle can load it late too. */
export { x509 };
