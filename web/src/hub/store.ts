// What the page knows: filled by REST, kept true by events. Pages read signals and change nothing.
import { batch, computed, signal } from "@preact/signals";
import { endSpinners, toast } from "../shared/toasts";
import { asked, follow, get } from "./api";
import { keepSame } from "./same";
import { samples } from "./samples";
import type { Alert, Call, CallRecord, CallStatus, HubEvent, LogEntry, Mode, Pin, Question, Server, Status } from "./types";

const SERVERS_MS = 250; // between two looks at the servers, however much happens
const POLL_MS = 5000; // what no event tells: latency, memory
const ENDED_MAX = 1000;

export const servers = signal<Server[]>([]);
export const loaded = signal(false); // servers have been read once
export const status = signal<Status | null>(null);
export const alerts = signal<Alert[]>([]);
/** Definitions that are not what was approved. */
export const changed = signal<Pin[]>([]);
export const modes = signal<Mode[]>([]);
export const active = signal<ReadonlyMap<string, Call>>(new Map());
/** Newest first. Of those that have ended since they were read little is known, and no number. */
export const ended = signal<readonly CallRecord[]>([]);
/** Whether calls are recorded, and can be asked for. */
export const recorded = signal(true);
/** Counts up when there is something new among the calls that have ended. */
export const callsVersion = signal(0);
/** What people are asked before calls go on, oldest first. */
export const questions = signal<Question[]>([]);
/** Counts up when the tools, resources or prompts of some server have changed. */
export const catalogVersion = signal(0);

export const connected = computed(() => servers.value.filter((s) => s.state === "connected").length);
export const failed = computed(() => servers.value.filter((s) => s.state === "error" || s.state === "failed"));
export const byName = (name: string) => servers.value.find((s) => s.name === name);

// ---- reading ----

/** Runs fn at most once in `ms`, and once more at the end when it was asked for meanwhile. */
export function atMostEvery(ms: number, fn: () => Promise<void>): () => void {
  let busy = false;
  let wanted = false;
  return function run() {
    if (busy) {
      wanted = true;
      return;
    }
    busy = true;
    wanted = false;
    void fn()
      .catch(() => {}) // told by the state of the link
      .finally(() =>
        setTimeout(() => {
          busy = false;
          if (wanted) run();
        }, ms),
      );
  };
}

export const refreshServers = atMostEvery(SERVERS_MS, async () => {
  const read = await get("/api/servers");
  batch(() => {
    servers.value = keepSame(servers.peek(), read.servers, (s) => s.name);
    loaded.value = true;
  });
});

const refreshAlerts = atMostEvery(SERVERS_MS, async () => {
  const read = await get("/api/alerts");
  alerts.value = keepSame(alerts.peek(), read.alerts, (a) => a.id);
});

const refreshPins = atMostEvery(SERVERS_MS, async () => {
  const read = (await get("/api/pins")).pins.filter((p) => p.state !== "approved");
  changed.value = keepSame(changed.peek(), read, (p) => `${p.server}\n${p.kind}\n${p.name}`);
});

export const refreshModes = atMostEvery(SERVERS_MS, async () => {
  modes.value = (await get("/api/modes")).modes;
});

/** Asked for with every event about one: an answer that was on its way is followed by a newer one. */
export const refreshQuestions = atMostEvery(SERVERS_MS, async () => {
  const read = await get("/api/questions");
  questions.value = keepSame(questions.peek(), read.questions, (q) => q.id);
});

const refreshStatus = atMostEvery(SERVERS_MS, async () => {
  status.value = await get("/api/status");
});

/** What happens to calls while they are being read: it comes after what is read, which is older. */
let held: HubEvent[] | null = null;
/** Calls that were over when they were read: their events may still be on the way. */
let over: ReadonlySet<string> = new Set();

const refreshCalls = atMostEvery(SERVERS_MS, async () => {
  held = [];
  try {
    const read = await get(asked("/api/calls", { limit: String(ENDED_MAX) }));
    over = new Set(read.recent.map((c) => c.id));
    batch(() => {
      active.value = new Map(read.calls.map((c) => [c.id, c]));
      ended.value = read.recent;
      recorded.value = read.recorded;
      callsVersion.value++;
      samples.seed(read.recent);
    });
  } finally {
    queue.unshift(...held);
    held = null;
    drain();
  }
});

// ---- events ----

type Listener = (e: LogEntry) => void;
const logListeners = new Set<Listener>();
/** Log lines as they come; the function returned ends it. */
export function onLog(fn: Listener): () => void {
  logListeners.add(fn);
  return () => void logListeners.delete(fn);
}

const cancelledAs: Record<Extract<HubEvent, { type: "toolCallCancelled" }>["reason"], CallStatus> = {
  userRequested: "cancelled",
  timeout: "timeout",
  serverDisconnected: "failed",
  appShutdown: "cancelled",
};

/** As it would be in the records, as far as its event tells. */
function endCall(e: Extract<HubEvent, { type: "toolCallCompleted" | "toolCallCancelled" }>): void {
  const gone = e.type === "toolCallCancelled";
  const call: CallRecord = {
    id: e.request_id,
    no: 0,
    server: e.server,
    tool: e.tool,
    name: `${e.server}/${e.tool}`,
    method: e.method,
    caller: e.client,
    queued_at: e.at - e.duration,
    ended_at: e.at,
    duration: e.duration,
    status: gone ? cancelledAs[e.reason] : e.success ? "success" : "error",
    note: gone ? e.reason : undefined,
    detail: "none",
  };
  ownActive().delete(e.request_id);
  if (over.has(call.id)) return;
  samples.add(call);
  changes.ended.push(call);
}

/** What one turn of events adds up to: the page is drawn once for all of them. */
const changes = {
  active: null as Map<string, Call> | null,
  ended: [] as CallRecord[],
  over: false, // a question: its call may have ended without having begun
  catalog: false,
  /** Servers that are at rest after it: an attempt that fails is followed by the next in the same turn. */
  resting: new Set<string>(),
};

const UNDER_WAY: readonly string[] = ["connecting", "authenticating", "reconnecting"];

/** The running calls, to be changed: a turn without calls draws nothing that shows them. */
function ownActive(): Map<string, Call> {
  return (changes.active ??= new Map(active.peek()));
}

function apply(e: HubEvent): void {
  switch (e.type) {
    case "serverAdded":
      refreshServers();
      break;
    case "serverRemoved":
      changes.resting.add(e.server);
      refreshServers();
      break;
    case "serverStateChanged":
      if (UNDER_WAY.includes(e.to.state)) changes.resting.delete(e.server);
      else changes.resting.add(e.server);
      refreshServers();
      break;
    case "catalogChanged":
      changes.catalog = true;
      refreshServers();
      break;
    case "serverLog":
      for (const fn of logListeners) fn(e.entry);
      break;
    case "toolCallStarted":
      if (over.has(e.request_id)) break;
      ownActive().set(e.request_id, {
        id: e.request_id,
        server: e.server,
        method: e.method,
        subject: e.tool,
        client: e.client,
        started_at: e.at,
      });
      break;
    case "toolCallProgress": {
      const call = ownActive().get(e.request_id);
      if (call)
        ownActive().set(e.request_id, { ...call, progress: e.progress, total: e.total, message: e.message });
      break;
    }
    case "toolCallCompleted":
    case "toolCallCancelled":
      endCall(e);
      break;
    case "toast":
      toast({ text: e.text, level: e.level, spinner: e.spinner, stays: !e.dismisses, about: e.server });
      break;
    case "question":
      questions.value = [...questions.peek().filter((q) => q.id !== e.question.id), e.question];
      refreshQuestions();
      break;
    case "question_over":
      questions.value = questions.peek().filter((q) => q.id !== e.id);
      changes.over = true;
      refreshQuestions();
      break;
    case "alertsChanged":
      refreshAlerts();
      break;
    case "pin":
      refreshPins();
      break;
    case "configChanged":
      refreshStatus();
      break;
    case "modesChanged":
      refreshModes();
      break;
  }
}

let queue: HubEvent[] = [];

function drain(): void {
  const events = queue;
  queue = [];
  batch(() => {
    changes.active = null;
    changes.ended = [];
    changes.over = changes.catalog = false;
    changes.resting.clear();
    for (const e of events) {
      if (held && e.type.startsWith("toolCall")) held.push(e);
      else apply(e);
    }
    if (changes.active) active.value = changes.active;
    if (changes.ended.length) ended.value = [...changes.ended.reverse(), ...ended.peek()].slice(0, ENDED_MAX);
    if (changes.ended.length || changes.over) callsVersion.value++;
    if (changes.catalog) catalogVersion.value++;
    if (changes.resting.size) endSpinners((server) => server !== undefined && changes.resting.has(server));
  });
}

function readAll(): void {
  endSpinners(() => true);
  refreshServers();
  refreshAlerts();
  refreshPins();
  refreshModes();
  refreshStatus();
  refreshCalls();
  refreshQuestions();
  catalogVersion.value++;
}

export function startStore(): void {
  follow({
    opened(fresh) {
      if (fresh) readAll();
    },
    event(e) {
      // Not by requestAnimationFrame: a hidden page has none, and still must not pile them up.
      if (queue.push(e) === 1) setTimeout(drain, 16);
    },
  });
  setInterval(() => {
    if (document.hidden) return;
    refreshStatus();
    refreshServers();
  }, POLL_MS);
}
