// What servers send and REST passes on as it is: MCP's types, as far as this page reads them.
import type { Json, JsonObject } from "./json";

export interface Annotations {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

interface Named {
  name: string;
  title?: string;
  description?: string;
}

export interface McpTool extends Named {
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  annotations?: Annotations;
}

export interface McpResource extends Named {
  uri: string;
  mimeType?: string;
  size?: number;
}

export interface McpResourceTemplate extends Named {
  uriTemplate: string;
  mimeType?: string;
}

export interface McpPrompt extends Named {
  arguments?: { name: string; description?: string; required?: boolean }[];
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

export interface McpResourceContents {
  uri?: string;
  mimeType?: string;
  text?: string;
  blob?: string;
}

export interface McpToolResult {
  content?: Content[];
  structuredContent?: Json;
  isError?: boolean;
}

export interface McpPromptResult {
  description?: string;
  messages: { role: "user" | "assistant"; content: Content }[];
}
