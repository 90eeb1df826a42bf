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
  | PinEvent
  | CallStartedEvent
  | CallProgressEvent
  | CallCompletedEvent
  | CallCancelledEvent
  | ToastEvent
  | QuestionEvent
  | QuestionOverEvent
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

export interface PinEvent {
  type: "pin";
  /** seconds since 1970 */
  at: number;
  server: string;
  /** definitions that are held back */
  held: number;
  /** those that have changed and are let through */
  changed: number;
  /** left out: all is as it was approved */
  message?: string;
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

export interface QuestionEvent {
  type: "question";
  /** seconds since 1970 */
  at: number;
  server: string;
  question: Question;
}

export interface Question {
  id: string;
  kind: "approval";
  /** one line: who wants what, and why it is asked */
  text: string;
  /** of the rule */
  reason?: string;
  /** its name, or its number */
  rule?: string;
  /** the id of the call */
  call: string;
  server: string;
  tool: string;
  method: string;
  caller: string;
  /** what a grant would be for */
  run: string;
  face: "mcp_server" | "rest" | "cli" | "agent";
  /** without secrets; a sentence when they are too large */
  arguments: Json;
  /** of what exactly was asked */
  digest: string;
  choices: ("approve" | "grant" | "deny")[];
  /** who may */
  answer_by: ("console" | "cli" | "client" | "webhook")[];
  /** seconds since 1970 */
  asked_at: number;
  /** seconds since 1970 */
  expires_at: number;
}

/** It was answered, or nobody needs an answer any more. */
export interface QuestionOverEvent {
  type: "question_over";
  /** seconds since 1970 */
  at: number;
  server: string;
  /** of the question */
  id: string;
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
  kind: "connectionFailed" | "authExpired" | "disconnected" | "authRequired" | "definitionChanged";
  message: string;
  /** server: message */
  text: string;
  /** seconds since 1970 */
  timestamp: number;
}

export interface CallList {
  /** under way */
  calls: Call[];
  /** ended, newest first */
  recent: CallRecord[];
  /** there may be more: ask for those before this number */
  next?: number;
  /** how many are recorded, whatever was asked for */
  total: number;
  /** false: nothing is; these are the last that ended, with little about each */
  recorded: boolean;
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

/** What stays of a call. */
export interface CallRecord {
  id: string;
  /** its place in the list of all calls */
  no: number;
  status?: "success" | "error" | "failed" | "timeout" | "cancelled" | "denied" | "expired" | "input_required" | "task";
  /** why, when it is no success */
  note?: string;
  server?: string;
  /** or the prompt or resource, by its own name */
  tool?: string;
  /** server/tool */
  name?: string;
  method?: string;
  /** who asked */
  caller?: string;
  /** what kind of thing answered */
  source?: string;
  /** through what it was asked */
  face?: "mcp_server" | "rest" | "cli" | "agent";
  /** what it belongs to: a client's session, a process */
  run?: string;
  conversation?: string;
  /** the call that it continues */
  parent?: string;
  /** what a person was asked about it */
  question?: string;
  answered_by?: string;
  rule?: string;
  traceparent?: string;
  /** seconds since 1970 */
  queued_at?: number;
  /** seconds since 1970 */
  started_at?: number;
  /** seconds since 1970 */
  ended_at?: number;
  /** seconds, from when it was asked to when it was answered */
  duration?: number;
  /** of the server */
  process_pid?: number;
  /** seconds since 1970 */
  process_start_time?: number;
  process_key?: string;
  /** how much was recorded of it */
  detail: "all" | "meta" | "none";
  /** GET /api/objects/{cid} has the bytes */
  arguments_cid?: string;
  arguments_bytes?: number;
  result_cid?: string;
  result_bytes?: number;
  definition_cid?: string;
  redacted?: Redaction[];
}

/** Where something was taken out before anything was written. */
export interface Redaction {
  in: "arguments" | "result" | "definition";
  /** a JSON pointer */
  at?: string;
  /** a secret that is known, what it is called, or how it looks */
  why?: "value" | "name" | "pattern";
  /** so many more, which are not listed */
  more?: number;
}

export interface RecordedCall {
  id: string;
  /** its place in the list of all calls */
  no: number;
  status?: "success" | "error" | "failed" | "timeout" | "cancelled" | "denied" | "expired" | "input_required" | "task";
  /** why, when it is no success */
  note?: string;
  server?: string;
  /** or the prompt or resource, by its own name */
  tool?: string;
  /** server/tool */
  name?: string;
  method?: string;
  /** who asked */
  caller?: string;
  /** what kind of thing answered */
  source?: string;
  /** through what it was asked */
  face?: "mcp_server" | "rest" | "cli" | "agent";
  /** what it belongs to: a client's session, a process */
  run?: string;
  conversation?: string;
  /** the call that it continues */
  parent?: string;
  /** what a person was asked about it */
  question?: string;
  answered_by?: string;
  rule?: string;
  traceparent?: string;
  /** seconds since 1970 */
  queued_at?: number;
  /** seconds since 1970 */
  started_at?: number;
  /** seconds since 1970 */
  ended_at?: number;
  /** seconds, from when it was asked to when it was answered */
  duration?: number;
  /** of the server */
  process_pid?: number;
  /** seconds since 1970 */
  process_start_time?: number;
  process_key?: string;
  /** how much was recorded of it */
  detail: "all" | "meta" | "none";
  /** GET /api/objects/{cid} has the bytes */
  arguments_cid?: string;
  arguments_bytes?: number;
  result_cid?: string;
  result_bytes?: number;
  definition_cid?: string;
  redacted?: Redaction[];
  /** when they are kept, and not large */
  arguments?: Json;
  /** likewise; of a failed call the error */
  result?: Json;
  /** likewise; of the tool, as its server had it */
  definition?: Json;
}

export interface Explained {
  /** on the way of the call, up to where it would stop */
  steps: ExplainedStep[];
  outcome: "allow" | "ask" | "deny";
  rule?: string;
  reason?: string;
  recorded: boolean;
}

export interface ExplainedStep {
  step: string;
  says: "pass" | "stop" | "ask";
  reason?: string;
  rule?: string;
}

export interface Revoked {
  status: "ok";
  /** how many grants there were */
  revoked: number;
}

export interface GrantList {
  grants: Grant[];
  /** conversations in which nothing is asked */
  auto_approve: string[];
}

export interface Grant {
  id: string;
  /** or the key of a client */
  conversation: string;
  /** server/tool */
  operation: string;
  /** seconds since 1970 */
  made_at: number;
  /** seconds since 1970 */
  expires_at: number;
  once: boolean;
  /** how often */
  used: number;
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

export interface PinList {
  /** those that are not approved first */
  pins: Pin[];
  /** of all, also of those that are left out */
  approved: number;
  held: number;
  changed: number;
  /** stands for all that has changed of these; POST /api/pins/approve takes that of one server */
  version: string;
  /** the file that says what was approved */
  lock?: string;
  /** why it is not read or written */
  problem?: string;
}

export interface Pin {
  server: string;
  kind: "tool" | "prompt" | "instructions";
  /** its own; of instructions empty */
  name: string;
  /** held: in no list, and not called; changed: told only */
  state: "approved" | "held" | "changed";
  /** SHA-512 of what was approved */
  approved_cid: string;
  /** of what it is now */
  cid: string;
  /** seconds since 1970 */
  approved_at: number;
  /** when its server said it last, since patchbay runs; seconds since 1970 */
  seen_at?: number;
  diff?: DiffSegment[];
  /** why a changed one has no diff; unsaid: its server has not said it since patchbay runs; room: it is one of many, and has one when it is asked for by name */
  diff_missing?: "unsaid" | "room";
  /** some of it is left out */
  diff_cut?: boolean;
  /** secrets in it are shown as *** */
  redacted?: boolean;
  /** what was approved is not at hand: all of the new text is shown */
  old_missing?: boolean;
}

/** All of same and del is the old text, all of same and add the new one. */
export interface DiffSegment {
  op: "same" | "del" | "add";
  text: string;
}

export interface Approved {
  status: "ok";
  /** how many were let in */
  approved: number;
}

export interface Policy {
  /** another when the rules are */
  version: string;
  /** as they are written in config.json; the first that applies decides */
  rules: Json[];
  /** what is done when none applies, by face */
  default: JsonObject;
}

export interface DryRun {
  /** false: nothing is, so there was nothing to try them on */
  recorded: boolean;
  /** of the rules that were sent */
  version: string;
  /** they were tried on */
  calls: number;
  allow: number;
  ask: number;
  deny: number;
  /** of which they say something else than the rules in force */
  changed: number;
  /** of which not all that they carried is kept: rules about arguments may say something else */
  unread: number;
  /** the newest of those that changed */
  examples: DryRunExample[];
}

export interface DryRunExample {
  id: string;
  name: string;
  caller?: string;
  /** what the rules in force say */
  was: "allow" | "ask" | "deny";
  /** what the rules that were sent say */
  now: "allow" | "ask" | "deny";
  /** that says so */
  rule: string;
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

export interface QuestionList {
  questions: Question[];
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

export interface Store {
  recording: boolean;
  path?: string;
  calls?: number;
  objects?: number;
  /** of the file */
  bytes?: number;
  /** of the objects, each once, before compression */
  object_bytes?: number;
  /** bytes to be written */
  waiting?: number;
  /** calls that could not be recorded */
  lost?: number;
  /** seconds since 1970 */
  oldest_at?: number;
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
  "PUT /api/auto-approve": Done;
  "DELETE /api/calls": Done;
  "GET /api/calls": CallList;
  "GET /api/calls/{}": RecordedCall;
  "POST /api/calls/{}/cancel": Done;
  "POST /api/explain": Explained;
  "DELETE /api/grants": Revoked;
  "GET /api/grants": GrantList;
  "POST /api/grants": Grant;
  "DELETE /api/grants/{}": Done;
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
  "GET /api/pins": PinList;
  "POST /api/pins/approve": Approved;
  "GET /api/policy": Policy;
  "PUT /api/policy": Policy;
  "POST /api/policy/dry-run": DryRun;
  "GET /api/prompts": PromptPage;
  "GET /api/questions": QuestionList;
  "POST /api/questions/{}/answer": Done;
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
  "GET /api/store": Store;
  "GET /api/tools": ToolPage;
  "GET /openapi.json": OpenApi;
}

/** What it takes as a body. */
export interface Bodies {
  "PUT /api/auto-approve": { conversation: string; on: boolean; };
  "POST /api/explain": { tool: string; client?: string; mode?: string; face?: string; conversation?: string; arguments?: JsonObject; };
  "POST /api/grants": { conversation: string; operation: string; seconds?: number; duration?: string; once?: boolean; };
  "POST /api/mcp-clients/connect": { name: string; transport?: string; command?: Json; args?: Json; env?: JsonObject; inherit_env?: Json; cwd?: string; url?: string; headers?: JsonObject; timeout_s?: number; auto_reconnect?: boolean; [member: string]: Json | undefined; };
  "POST /api/mcp-prompts/get": { prompt: string; arguments?: JsonObject; timeout_s?: number; id?: string; };
  "POST /api/mcp-resources/read": { server: string; uri: string; timeout_s?: number; id?: string; };
  "POST /api/mcp-tools/call": { tool: string; arguments?: JsonObject; timeout_s?: number; id?: string; };
  "POST /api/modes/match": { filter: Json; };
  "PUT /api/modes/{}": { name?: string; icon?: string; filter: Json; };
  "POST /api/pins/approve": { server: string; kind?: string; name?: string; cid?: string; version?: string; };
  "PUT /api/policy": { rules?: Json; default?: Json; version?: string; };
  "POST /api/policy/dry-run": { policy: JsonObject; };
  "POST /api/questions/{}/answer": { choice: string; grant_s?: number; once?: boolean; reason?: string; };
  "POST /api/registry/search": { search: string; registry?: string; };
  "POST /api/registry/server": { name: string; };
  "POST /api/servers": { text?: string; name?: string; entry?: JsonObject; secrets?: JsonObject; force?: boolean; };
  "POST /api/servers/parse": { text: string; };
  "POST /api/servers/test": { name?: string; entry: JsonObject; secrets?: JsonObject; };
  "PUT /api/servers/{}": { command?: Json; args?: Json; env?: JsonObject; url?: string; headers?: JsonObject; secrets?: JsonObject; [member: string]: Json | undefined; };
  "PUT /api/servers/{}/tools/{}": { enabled: boolean; };
  "PATCH /api/settings": { [member: string]: Json | undefined; };
}
