// What REST answers: the shapes of /openapi.json, as this page reads them.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export type State =
  | "disabled"
  | "idle"
  | "connecting"
  | "authenticating"
  | "connected"
  | "reconnecting"
  | "disconnected"
  | "error"
  | "failed";

export type DotColor = "green" | "yellow" | "red" | "gray";
export type RowAction = "Retry" | "Cancel" | "Disconnect" | "View Logs";

/** GET /api/servers: times are seconds since 1970, durations milliseconds. */
export interface Server {
  name: string;
  display_name: string;
  transport: "stdio" | "http" | "sse";
  target: string;
  state: State;
  status: string;
  message?: string;
  next_step?: string;
  attempt?: number;
  max_attempts?: number;
  next_retry_at?: number;
  color: DotColor;
  badge?: { text: string; color: DotColor; tooltip?: string };
  actions: RowAction[];
  tools: number;
  resources: number;
  templates: number;
  prompts: number;
  protocol?: string;
  pid?: number;
  latency_ms?: number;
  connect_ms?: number;
  connected_at?: number;
  last_used_at?: number;
  calls: number;
  failures: number;
  in_flight: number;
  queued?: number;
  instances?: number;
  reconnects: number;
  restarts: number;
  file?: string;
  line?: number;
}

/** GET /api/servers/{name} has these beside. Values that are secret are "***". */
export interface ServerDetail extends Server {
  spec: JsonObject;
  server_info?: JsonObject;
  capabilities?: JsonObject;
  instructions?: string;
}

export type Auth = "none" | "api_key" | "keyfile" | "oauth";

/** One server that a pasted text describes: POST /api/servers/parse. */
export interface Candidate {
  name: string;
  display_name: string;
  transport: "stdio" | "http" | "sse";
  target: string;
  auth: Auth;
  exists: boolean;
  entry: JsonObject;
}

/** POST /api/servers/test */
export interface Trial {
  ok: boolean;
  took_ms: number;
  protocol?: string;
  server_info?: JsonObject;
  tools?: string[];
  error?: string;
  message?: string;
  next?: string;
  stderr?: string[];
}

export interface Annotations {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

export interface Tool {
  name: string; // "server/tool"
  wire: string; // "server__tool"
  server: string;
  enabled?: boolean; // false: switched off
  definition: {
    name: string;
    title?: string;
    description?: string;
    inputSchema: JsonObject;
    outputSchema?: JsonObject;
    annotations?: Annotations;
  };
}

export interface Resource {
  uri: string;
  server: string;
  definition: {
    uri: string;
    name: string;
    title?: string;
    description?: string;
    mimeType?: string;
    size?: number;
  };
}

export interface ResourceTemplate {
  uriTemplate: string;
  server: string;
  definition: {
    uriTemplate: string;
    name: string;
    title?: string;
    description?: string;
    mimeType?: string;
  };
}

export interface Prompt {
  name: string; // "server/prompt"
  wire: string;
  server: string;
  definition: {
    name: string;
    title?: string;
    description?: string;
    arguments?: { name: string; description?: string; required?: boolean }[];
  };
}

export interface Unreached {
  server: string;
  state: State;
  error: string;
  message: string;
  next_step?: string;
}

export interface Content {
  type: "text" | "image" | "audio" | "resource" | "resource_link" | string;
  text?: string;
  data?: string;
  mimeType?: string;
  uri?: string;
  name?: string;
  title?: string;
  description?: string;
  resource?: { uri: string; mimeType?: string; text?: string; blob?: string };
}

export interface ToolResult {
  content?: Content[];
  structuredContent?: Json;
  isError?: boolean;
}

export interface PromptResult {
  description?: string;
  messages: { role: "user" | "assistant"; content: Content }[];
}

/** GET /api/calls: those under way, and the last ones that ended, newest first. */
export interface Call {
  id: string;
  server: string;
  method: string;
  subject: string;
  client?: string; // who asked
  started_at: number;
  progress?: number;
  total?: number;
  message?: string;
}
export interface EndedCall extends Call {
  duration: number; // seconds
  outcome: "ok" | "error" | "cancelled";
  reason?: "userRequested" | "timeout" | "serverDisconnected" | "appShutdown";
}

export interface Alert {
  id: string;
  server: string;
  kind: "connectionFailed" | "authExpired" | "disconnected" | "authRequired" | string;
  message: string;
  text: string; // "server: message"
  timestamp: number;
}

export interface Mode {
  id: string;
  name?: string;
  icon?: string;
  filter: Json;
}
/** POST /api/modes/match */
export interface ModeMatch {
  tools: number;
  total: number;
  names: string[]; // the first of them
}

export interface Setting {
  name: string;
  value: boolean | number | string | null;
  kind: "boolean" | "count" | "seconds" | "word" | "text";
  default: string;
  min?: number;
  max?: number;
  words?: string[];
  applies: "at_once" | "restart";
  /** Saved, and waiting for the next start. */
  pending: boolean;
  help: string;
}

export interface LogEntry {
  id: string;
  server: string;
  timestamp: number;
  level: "debug" | "info" | "warning" | "error";
  source: "link" | "stderr" | "server";
  message: string;
}

export interface Status {
  version: string;
  pid: number;
  url?: string;
  socket?: string;
  home?: string;
  files: string[];
  started_at: number;
  servers: { total: number } & Partial<Record<State, number>>;
  tools: number;
  in_flight: number;
  memory_bytes: number;
}

export type ToastLevel = "success" | "warning" | "error";

/** GET /api/events */
export type HubEvent = { at: number; server?: string } & (
  | { type: "serverAdded" | "serverRemoved" | "catalogChanged"; server: string }
  | { type: "serverStateChanged"; server: string; from: { state: State }; to: { state: State; message?: string } }
  | {
      type: "serverLog";
      server: string;
      entry: { id: string; seq: number; at: number; level: string; source: LogEntry["source"]; message: string };
    }
  | { type: "toolCallStarted"; server: string; requestId: string; tool: string; method: string; client?: string }
  | {
      type: "toolCallProgress";
      server: string;
      requestId: string;
      tool: string;
      progress: number;
      total?: number;
      message?: string;
    }
  | {
      type: "toolCallCompleted";
      server: string;
      requestId: string;
      tool: string;
      method: string;
      client?: string;
      duration: number;
      success: boolean;
    }
  | {
      type: "toolCallCancelled";
      server: string;
      requestId: string;
      tool: string;
      method: string;
      client?: string;
      duration: number;
      reason: NonNullable<EndedCall["reason"]>;
    }
  | { type: "toast"; server: string; text: string; level: ToastLevel; spinner: boolean; dismisses: boolean }
  | { type: "alertsChanged" | "modesChanged" | "reset" }
);

/** Every failure: a stable code, a sentence, and what to do. */
export interface Failure {
  error: string;
  code?: string;
  message?: string;
  next?: string;
}
