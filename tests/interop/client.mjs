// A client that others wrote, for tests that lie elsewhere.
export { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
