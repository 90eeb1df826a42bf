// What REST takes and answers. Made by tools/api-types of the tables in src/face; not to be edited.
import type { Json, JsonObject } from "./json";
import type { McpPrompt, McpPromptResult, McpResource, McpResourceContents, McpResourceTemplate, McpTool, McpToolResult } from "./mcp_types";

/** Every failure. */
export interface Failure {
  /** a stable code */
  error: string;
  /** a finer one */
  code?: string;
  /** a sentence for people */
  message?: string;
  /** what can be done about it */
  next?: string;
  /** the error of the server, as it sent it */
  rpc?: JsonObject;
  id?: string;
  mode?: string;
  name?: string;
  prompt?: string;
  server?: string;
  tool?: string;
  uri?: string;
}

/** The data of one event of the stream. */
export type HubEvent =
  | ServerAddedEvent
  | ServerRemovedEvent
  | ServerStateEvent
  | ServerLogEvent
  | CatalogChangedEvent
  | CallStartedEvent
  | CallProgressEvent
  | CallCompletedEvent
  | CallCancelledEvent
  | ToastEvent
  | AlertsChangedEvent
  | ConfigChangedEvent
  | ModesChangedEvent
  | ResetEvent;

export interface ServerAddedEvent {
  type: "serverAdded";
  /** seconds since 1970 */
  at: number;
  server: string;
}

export interface ServerRemovedEvent {
  type: "serverRemoved";
  /** seconds since 1970 */
  at: number;
  server: string;
}

export interface ServerStateEvent {
  type: "serverStateChanged";
  /** seconds since 1970 */
  at: number;
  server: string;
  from: EventState;
  to: EventState;
}

export interface EventState {
  state: "disabled" | "idle" | "connecting" | "authenticating" | "connected" | "reconnecting" | "disconnected" | "error" | "failed";
  /** of a login */
  progress?: string;
  /** where a person logs in */
  url?: string;
  message?: string;
  retries?: number;
  attempt?: number;
  max_attempts?: number;
  /** seconds since 1970 */
  next_retry_at?: number;
  tools?: number;
}

export interface ServerLogEvent {
  type: "serverLog";
  /** seconds since 1970 */
  at: number;
  server: string;
  entry: LogEntry;
}

export interface LogEntry {
  id: string;
  server: string;
  /** seconds since 1970 */
  timestamp: number;
  level: "debug" | "info" | "warning" | "error";
  source: "link" | "stderr" | "server";
  message: string;
}

export interface CatalogChangedEvent {
  type: "catalogChanged";
  /** seconds since 1970 */
  at: number;
  server: string;
}

export interface CallStartedEvent {
  type: "toolCallStarted";
  /** seconds since 1970 */
  at: number;
  server: string;
  request_id: string;
  /** or the prompt or resource */
  tool: string;
  method: string;
  /** who asked */
  client?: string;
}

export interface CallProgressEvent {
  type: "toolCallProgress";
  /** seconds since 1970 */
  at: number;
  server: string;
  request_id: string;
  /** or the prompt or resource */
  tool: string;
  method: string;
  progress: number;
  total?: number;
  message?: string;
}

export interface CallCompletedEvent {
  type: "toolCallCompleted";
  /** seconds since 1970 */
  at: number;
  server: string;
  request_id: string;
  /** or the prompt or resource */
  tool: string;
  method: string;
  /** who asked */
  client?: string;
  /** seconds */
  duration: number;
  success: boolean;
}

export interface CallCancelledEvent {
  type: "toolCallCancelled";
  /** seconds since 1970 */
  at: number;
  server: string;
  request_id: string;
  /** or the prompt or resource */
  tool: string;
  method: string;
  /** who asked */
  client?: string;
  /** seconds */
  duration: number;
  reason: "userRequested" | "timeout" | "serverDisconnected" | "appShutdown";
  /** seconds */
  timeout?: number;
}

export interface ToastEvent {
  type: "toast";
  /** seconds since 1970 */
  at: number;
  server: string;
  text: string;
  level: "success" | "warning" | "error";
  spinner: boolean;
  /** goes by itself */
  dismisses: boolean;
}

export interface AlertsChangedEvent {
  type: "alertsChanged";
  /** seconds since 1970 */
  at: number;
}

/** What GET /api/status tells as config_error has begun, changed or ended. */
export interface ConfigChangedEvent {
  type: "configChanged";
  /** seconds since 1970 */
  at: number;
}

export interface ModesChangedEvent {
  type: "modesChanged";
  /** seconds since 1970 */
  at: number;
}

/** Something was missed for good: all is to be read anew. */
export interface ResetEvent {
  type: "reset";
}

export interface Done {
  status: "ok";
}

export interface AlertList {
  alerts: Alert[];
}

export interface Alert {
  id: string;
  server: string;
  kind: "connectionFailed" | "authExpired" | "disconnected" | "authRequired";
  message: string;
  /** server: message */
  text: string;
  /** seconds since 1970 */
  timestamp: number;
}

export interface CallList {
  /** under way */
  calls: Call[];
  /** newest first */
  recent: EndedCall[];
}

export interface Call {
  id: string;
  server: string;
  method: string;
  /** the tool, prompt or resource */
  subject: string;
  /** who asked */
  client?: string;
  /** seconds since 1970 */
  started_at: number;
  progress?: number;
  total?: number;
  message?: string;
}

export interface EndedCall {
  id: string;
  server: string;
  method: string;
  /** the tool, prompt or resource */
  subject: string;
  /** who asked */
  client?: string;
  /** seconds since 1970 */
  started_at: number;
  /** seconds */
  duration: number;
  outcome: "ok" | "error" | "cancelled";
  /** of one that was cancelled */
  reason?: "userRequested" | "timeout" | "serverDisconnected" | "appShutdown";
}

export interface LogEntryList {
  entries: LogEntry[];
}

export interface ClientMap {
  clients: Record<string, Client>;
}

export interface Client {
  status: "disabled" | "idle" | "connecting" | "authenticating" | "connected" | "reconnecting" | "disconnected" | "error" | "failed";
  transport: "stdio" | "http" | "sse";
  tools: string[];
  /** seconds since 1970 */
  connected_at?: number;
  error?: string;
}

export interface ClientConnected {
  status: "ok";
  name: string;
  tools: string[];
}

export interface ServerDone {
  status: "ok";
  name: string;
}

export interface ClientPromptList {
  prompts: ClientPrompt[];
}

export interface ClientPrompt {
  name: string;
  server: string;
  original_name: string;
  description: string | null;
  arguments: Json[];
}

export interface PromptAnswer {
  result: McpPromptResult;
}

export interface ClientResourceList {
  resources: ClientResource[];
}

export interface ClientResource {
  uri: string;
  server: string;
  name: string | null;
  description: string | null;
  mime_type: string | null;
}

export interface ResourceAnswer {
  /** of the first part; null: it has none */
  content: string | null;
  mime_type: string | null;
  encoding?: "base64";
  /** all parts, when there are several */
  contents?: McpResourceContents[];
}

export interface ClientToolList {
  tools: ClientTool[];
}

export interface ClientTool {
  name: string;
  server: string;
  original_name: string;
  description: string;
  input_schema: Json;
}

export interface ToolAnswer {
  result: McpToolResult;
}

export interface ModeList {
  modes: Mode[];
}

export interface Mode {
  id: string;
  name: string;
  icon: string;
  filter: Json;
}

export interface ModeMatch {
  /** that the filter lets through */
  tools: number;
  total: number;
  /** the first of them */
  names: string[];
}

export interface ModeDone {
  status: "ok";
  id: string;
}

export interface PromptPage {
  /** on all pages */
  total: number;
  /** where the next page begins */
  next_offset?: number;
  failed: Unreached[];
  prompts: Prompt[];
}

/** A server that should be there and is not. */
export interface Unreached {
  server: string;
  state: "disabled" | "idle" | "connecting" | "authenticating" | "connected" | "reconnecting" | "disconnected" | "error" | "failed";
  error: string;
  message: string;
  problem?: string;
  next_step?: string;
}

export interface Prompt {
  server: string;
  /** false: switched off */
  enabled?: boolean;
  /** server/prompt */
  name: string;
  /** as MCP clients see it */
  wire: string;
  definition: McpPrompt;
}

export interface ServerList {
  servers: Server[];
}

export interface Server {
  name: string;
  display_name: string;
  transport: "stdio" | "http" | "sse";
  /** its command or URL, without secrets */
  target: string;
  state: "disabled" | "idle" | "connecting" | "authenticating" | "connected" | "reconnecting" | "disconnected" | "error" | "failed";
  /** the state for people */
  status: string;
  /** of a login */
  progress?: string;
  /** where a person logs in */
  url?: string;
  /** why it is as it is */
  message?: string;
  attempt?: number;
  max_attempts?: number;
  /** seconds since 1970 */
  next_retry_at?: number;
  /** what is wrong, in few words */
  problem?: string;
  /** what may help: a command, or words */
  next_step?: string;
  color: "green" | "yellow" | "red" | "gray";
  badge?: Badge;
  actions: ("Retry" | "Cancel" | "Disconnect" | "View Logs")[];
  tools: number;
  resources: number;
  templates: number;
  prompts: number;
  protocol?: string;
  pid?: number;
  latency_ms?: number;
  connect_ms?: number;
  /** seconds since 1970 */
  connected_at?: number;
  /** seconds since 1970 */
  last_used_at?: number;
  calls: number;
  failures: number;
  in_flight: number;
  queued?: number;
  instances?: number;
  reconnects: number;
  restarts: number;
  /** which defines it */
  file?: string;
  line?: number;
}

export interface Badge {
  text: string;
  color: "green" | "yellow" | "red" | "gray";
  tooltip?: string;
}

export interface RegistryResults {
  results: RegistryResult[];
  /** what the others found is there all the same */
  failed: RegistryFailure[];
}

export interface RegistryResult {
  name: string;
  source: "official" | "smithery";
  title?: string;
  description?: string;
  /** a command line or URL, as 'patchbay add' takes it */
  add?: string;
}

export interface RegistryFailure {
  registry: "official" | "smithery";
  message: string;
}

export interface ResourcePage {
  /** on all pages */
  total: number;
  /** where the next page begins */
  next_offset?: number;
  failed: Unreached[];
  resources: Resource[];
  resourceTemplates: ResourceTemplate[];
  total_templates: number;
}

export interface Resource {
  server: string;
  /** false: switched off */
  enabled?: boolean;
  uri: string;
  definition: McpResource;
}

export interface ResourceTemplate {
  server: string;
  /** false: switched off */
  enabled?: boolean;
  uriTemplate: string;
  definition: McpResourceTemplate;
}

export interface ServerDetail {
  name: string;
  display_name: string;
  transport: "stdio" | "http" | "sse";
  /** its command or URL, without secrets */
  target: string;
  state: "disabled" | "idle" | "connecting" | "authenticating" | "connected" | "reconnecting" | "disconnected" | "error" | "failed";
  /** the state for people */
  status: string;
  /** of a login */
  progress?: string;
  /** where a person logs in */
  url?: string;
  /** why it is as it is */
  message?: string;
  attempt?: number;
  max_attempts?: number;
  /** seconds since 1970 */
  next_retry_at?: number;
  /** what is wrong, in few words */
  problem?: string;
  /** what may help: a command, or words */
  next_step?: string;
  color: "green" | "yellow" | "red" | "gray";
  badge?: Badge;
  actions: ("Retry" | "Cancel" | "Disconnect" | "View Logs")[];
  tools: number;
  resources: number;
  templates: number;
  prompts: number;
  protocol?: string;
  pid?: number;
  latency_ms?: number;
  connect_ms?: number;
  /** seconds since 1970 */
  connected_at?: number;
  /** seconds since 1970 */
  last_used_at?: number;
  calls: number;
  failures: number;
  in_flight: number;
  queued?: number;
  instances?: number;
  reconnects: number;
  restarts: number;
  /** which defines it */
  file?: string;
  line?: number;
  /** its entry in the config; secrets are "***" */
  spec: JsonObject;
  server_info?: JsonObject;
  capabilities?: JsonObject;
  instructions?: string;
}

export interface Plan {
  name: string;
  transport: "stdio" | "http" | "sse";
  target: string;
  auth: "none" | "api_key" | "keyfile" | "oauth";
  /** there is a server of this name */
  exists: boolean;
  /** as it would stand in config.json */
  entry: JsonObject;
  dry_run: boolean;
}

export interface CandidateList {
  servers: Candidate[];
}

/** One server that a text describes. */
export interface Candidate {
  name: string;
  transport: "stdio" | "http" | "sse";
  target: string;
  auth: "none" | "api_key" | "keyfile" | "oauth";
  /** there is a server of this name */
  exists: boolean;
  /** as it would stand in config.json */
  entry: JsonObject;
  display_name: string;
}

export interface Trial {
  ok: boolean;
  took_ms: number;
  protocol?: string;
  server_info?: JsonObject;
  tools?: string[];
  error?: string;
  message?: string;
  next?: string;
  /** its last lines */
  stderr?: string[];
}

export interface Pong {
  status: "ok";
  name: string;
  /** from the question to the answer */
  took_ms: number;
}

export interface SettingList {
  settings: Setting[];
  takes_effect: "at once" | "at the next start";
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
  /** saved, and waiting for the next start */
  pending: boolean;
  help: string;
}

export interface Status {
  version: string;
  pid: number;
  url?: string;
  token_from?: string;
  socket?: string;
  home?: string;
  files: string[];
  /** why the files as they are now are not taken, with file and line; what was read before goes on */
  config_error?: string;
  /** settings that have changed and do not count yet */
  restart_for: string[];
  /** seconds since 1970 */
  started_at?: number;
  servers: { total?: number; disabled?: number; idle?: number; connecting?: number; authenticating?: number; connected?: number; reconnecting?: number; disconnected?: number; error?: number; failed?: number; };
  tools: number;
  in_flight: number;
  memory_bytes: number;
  loop: LoopStats;
  calls: Call[];
}

export interface LoopStats {
  over_20ms: number;
  over_100ms: number;
  worked_20ms: number;
  longest_ms: number;
  longest?: string;
}

export interface ToolPage {
  /** on all pages */
  total: number;
  /** where the next page begins */
  next_offset?: number;
  failed: Unreached[];
  tools: Tool[];
}

export interface Tool {
  server: string;
  /** false: switched off */
  enabled?: boolean;
  /** server/tool */
  name: string;
  /** as MCP clients see it */
  wire: string;
  definition: McpTool;
}

export interface OpenApi {
  openapi: string;
  [member: string]: Json | undefined;
}

/** What a route answers when all is well. */
export interface Answers {
  "DELETE /api/alerts": Done;
  "GET /api/alerts": AlertList;
  "DELETE /api/alerts/{}": Done;
  "GET /api/calls": CallList;
  "POST /api/calls/{}/cancel": Done;
  "GET /api/logs": LogEntryList;
  "GET /api/mcp-clients": ClientMap;
  "POST /api/mcp-clients/connect": ClientConnected;
  "POST /api/mcp-clients/{}/disconnect": ServerDone;
  "POST /api/mcp-clients/{}/reconnect": ClientConnected;
  "GET /api/mcp-prompts": ClientPromptList;
  "POST /api/mcp-prompts/get": PromptAnswer;
  "GET /api/mcp-resources": ClientResourceList;
  "POST /api/mcp-resources/read": ResourceAnswer;
  "GET /api/mcp-tools": ClientToolList;
  "POST /api/mcp-tools/call": ToolAnswer;
  "GET /api/modes": ModeList;
  "POST /api/modes/match": ModeMatch;
  "DELETE /api/modes/{}": ModeDone;
  "PUT /api/modes/{}": Mode;
  "GET /api/prompts": PromptPage;
  "POST /api/reconnect-failed": ServerList;
  "POST /api/registry/search": RegistryResults;
  "POST /api/registry/server": RegistryResults;
  "POST /api/reload": Done;
  "GET /api/resources": ResourcePage;
  "GET /api/servers": ServerList;
  "POST /api/servers": ServerDetail;
  "POST /api/servers/parse": CandidateList;
  "POST /api/servers/test": Trial;
  "DELETE /api/servers/{}": ServerDone;
  "GET /api/servers/{}": ServerDetail;
  "PUT /api/servers/{}": ServerDetail;
  "POST /api/servers/{}/cancel": ServerDetail;
  "POST /api/servers/{}/connect": ServerDetail;
  "POST /api/servers/{}/disable": ServerDetail;
  "POST /api/servers/{}/disconnect": ServerDetail;
  "POST /api/servers/{}/enable": ServerDetail;
  "GET /api/servers/{}/logs": LogEntryList;
  "POST /api/servers/{}/ping": Pong;
  "POST /api/servers/{}/reconnect": ServerDetail;
  "POST /api/servers/{}/restart": ServerDetail;
  "PUT /api/servers/{}/tools/{}": ServerDetail;
  "GET /api/settings": SettingList;
  "PATCH /api/settings": SettingList;
  "GET /api/status": Status;
  "GET /api/tools": ToolPage;
  "GET /openapi.json": OpenApi;
}

/** What it takes as a body. */
export interface Bodies {
  "POST /api/mcp-clients/connect": { name: string; transport?: string; command?: Json; args?: Json; env?: JsonObject; inherit_env?: Json; cwd?: string; url?: string; headers?: JsonObject; timeout_s?: number; auto_reconnect?: boolean; [member: string]: Json | undefined; };
  "POST /api/mcp-prompts/get": { prompt: string; arguments?: JsonObject; timeout_s?: number; id?: string; };
  "POST /api/mcp-resources/read": { server: string; uri: string; timeout_s?: number; id?: string; };
  "POST /api/mcp-tools/call": { tool: string; arguments?: JsonObject; timeout_s?: number; id?: string; };
  "POST /api/modes/match": { filter: Json; };
  "PUT /api/modes/{}": { name?: string; icon?: string; filter: Json; };
  "POST /api/registry/search": { search: string; registry?: string; };
  "POST /api/registry/server": { name: string; };
  "POST /api/servers": { text?: string; name?: string; entry?: JsonObject; secrets?: JsonObject; force?: boolean; };
  "POST /api/servers/parse": { text: string; };
  "POST /api/servers/test": { name?: string; entry: JsonObject; secrets?: JsonObject; };
  "PUT /api/servers/{}": { command?: Json; args?: Json; env?: JsonObject; url?: string; headers?: JsonObject; secrets?: JsonObject; [member: string]: Json | undefined; };
  "PUT /api/servers/{}/tools/{}": { enabled: boolean; };
  "PATCH /api/settings": { [member: string]: Json | undefined; };
}
