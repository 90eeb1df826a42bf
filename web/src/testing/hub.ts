// A hub for tests: it answers what the test says, and tells events when the test does.
import { settle, until } from "./browser";

/** GET /api/events, of one page. */
class Stream {
  private to!: ReadableStreamDefaultController<Uint8Array>;
  readonly lastEventId: string | null;
  open = true;
  readonly answer: Response;

  constructor(init: RequestInit) {
    this.lastEventId = new Headers(init.headers).get("Last-Event-ID");
    this.answer = new Response(new ReadableStream<Uint8Array>({ start: (to) => void (this.to = to) }));
    init.signal?.addEventListener("abort", () => this.end(new DOMException("given up", "AbortError")));
  }

  write(text: string): void {
    this.to.enqueue(new TextEncoder().encode(text));
  }

  end(why?: unknown): void {
    if (!this.open) return;
    this.open = false;
    if (why) this.to.error(why);
    else this.to.close();
  }
}

class Hub {
  /** By path. What a function returns may come later; what it throws is that nobody answers. */
  readonly answers = new Map<string, () => unknown>();
  asked: string[] = [];
  streams: Stream[] = [];
  /** What is said to whoever wants a stream; 0: nobody answers. */
  status = 200;
  private events = 0;

  get stream(): Stream {
    return this.streams[this.streams.length - 1]!;
  }

  count(path: string): number {
    return this.asked.filter((p) => p === path).length;
  }

  /** All of them at once, as one piece. */
  async tell(...events: object[]): Promise<void> {
    this.stream.write(events.map((e) => `id: boot-${++this.events}\ndata: ${JSON.stringify(e)}\n\n`).join(""));
    await settle();
  }

  /** Answers `path` only when the function returned is called. */
  hold(path: string): () => Promise<void> {
    const usual = this.answers.get(path)!;
    let go = () => {};
    const gate = new Promise<void>((yes) => (go = yes));
    this.answers.set(path, () => gate.then(usual));
    return async () => {
      this.answers.set(path, usual);
      go();
      await settle();
    };
  }

  async fetch(path: string, init: RequestInit): Promise<Response> {
    this.asked.push(path);
    if (path !== "/api/events") return Response.json(await this.answers.get(path)!());
    if (this.status === 0) throw new TypeError("fetch failed");
    if (this.status !== 200) return Response.json({ error: "no" }, { status: this.status });
    this.streams.push(new Stream(init));
    return this.stream.answer;
  }

  async opened(n: number): Promise<void> {
    await until(() => this.streams.length === n);
    await settle();
  }
}

export const hub = new Hub();
Object.assign(globalThis, { fetch: (path: string, init: RequestInit) => hub.fetch(path, init) });
