// What the page knows: the shapes of REST (api_types.ts, made of its table), what servers send, and
// names for parts of them.
import type { CallRecord, Candidate, Server, ToastEvent } from "./api_types";

export type * from "./api_types";
export type * from "./json";
export type * from "./mcp_types";

export type State = Server["state"];
export type DotColor = Server["color"];
export type RowAction = Server["actions"][number];
export type Auth = Candidate["auth"];
export type ToastLevel = ToastEvent["level"];
export type CallStatus = NonNullable<CallRecord["status"]>;
export type Face = NonNullable<CallRecord["face"]>;
