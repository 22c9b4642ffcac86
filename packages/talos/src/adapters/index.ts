export { createGrpcDialer } from "./grpc-dialer.ts";
