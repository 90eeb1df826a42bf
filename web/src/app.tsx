// The frame around every page: where to go, how the servers are, and what has just happened.
import { useEffect, useRef, useState } from "preact/hooks";
import { keepToken, link, openAgain, tokenIn } from "./hub/api";
import { active, alerts, changed, connected, loaded, questions, servers, status } from "./hub/store";
import { indicator } from "./indicator";
import { helpShown, keys } from "./keys";
import { ActiveCalls } from "./pages/active/active";
import { AddPage } from "./pages/add/add";
import { AlertsPage, ServerIssue } from "./pages/alerts/alerts";
import { CallsPage } from "./pages/calls/calls";
import { ChangesPage } from "./pages/changes/changes";
import { ConfigurePage } from "./pages/configure/configure";
import { ModesPage } from "./pages/modes/modes";
import { PromptsPage } from "./pages/prompts/prompts";
import { QuestionsPage } from "./pages/questions/questions";
import { ResourcesPage } from "./pages/resources/resources";
import { ServersPage } from "./pages/servers/servers";
import { SettingsPage } from "./pages/settings/settings";
import { ToolsPage } from "./pages/tools/tools";
import { own } from "./shared/own";
import { href, route } from "./shared/router";
import { setTheme, theme } from "./shared/theme";
import { dismiss, toast, toasts } from "./shared/toasts";
import { Button, Dialog, Dot, Spinner } from "./shared/ui/parts";
import { oneLine, T } from "./shared/ui/text";

const pages: Record<string, { title: string; show: () => preact.JSX.Element; hidden?: boolean }> = {
  servers: { title: "Servers", show: () => <ServersPage /> },
  tools: { title: "Tools", show: () => <ToolsPage /> },
  resources: { title: "Resources", show: () => <ResourcesPage /> },
  prompts: { title: "Prompts", show: () => <PromptsPage /> },
  calls: { title: "Calls", show: () => <CallsPage /> },
  questions: { title: "Questions", show: () => <QuestionsPage /> },
  modes: { title: "Modes", show: () => <ModesPage /> },
  changes: { title: "Changes", show: () => <ChangesPage /> },
  alerts: { title: "Alerts", show: () => <AlertsPage /> },
  settings: { title: "Settings", show: () => <SettingsPage /> },
  add: { title: "Add a server", show: () => <AddPage />, hidden: true },
  configure: { title: "Configure", show: () => <ConfigurePage />, hidden: true },
};

function Indicator() {
  const i = indicator(connected.value, servers.value.length);
  if (!loaded.value) return <span class="indicator faint">…</span>;
  return (
    <a class="indicator" href={href("servers")} title={i.title} aria-label={`${i.text}: ${i.title}`}>
      <Dot color={i.color} /> {i.text}
    </a>
  );
}

function Nav() {
  const here = route.value.page;
  const counts: Record<string, number> = { alerts: alerts.value.length, calls: active.value.size, questions: questions.value.length, changes: changed.value.length };
  const nav = useRef<HTMLElement>(null);
  // On a narrow screen the row of pages is wider than the screen.
  useEffect(() => nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }), [here]);
  return (
    <nav ref={nav} aria-label="Pages">
      {Object.entries(pages)
        .filter(([, p]) => !p.hidden)
        .map(([name, p]) => (
          <a href={href(name)} aria-current={here === name ? "page" : undefined}>
            {p.title}
            {!!counts[name] && <span class={`count ${name}`}>{counts[name]}</span>}
          </a>
        ))}
    </nav>
  );
}

const nextTheme = { system: "light", light: "dark", dark: "system" } as const;

function Top() {
  return (
    <header class="top">
      <a class="brand" href={href("servers")}>
        <img src="/console.svg" alt="" width="22" height="22" /> Patchbay
      </a>
      <Nav />
      <div class="top-end">
        <Indicator />
        <Button kind="plain" label={`Theme: ${theme.value}`} title={`Theme: ${theme.value}`} onClick={() => setTheme(nextTheme[theme.value])}>
          {theme.value === "dark" ? "☾" : theme.value === "light" ? "☀" : "◐"}
        </Button>
        <Button kind="plain" label="Keys" title="Keys ( ? )" onClick={() => (helpShown.value = true)}>
          ?
        </Button>
      </div>
    </header>
  );
}

function Toasts() {
  return (
    <div class="toasts" aria-live="polite" role="status">
      {toasts.value.map((t) => (
        <div key={t.id} class={`toast ${t.level}`}>
          {t.spinner && <Spinner />}
          <span>{oneLine(t.text)}</span>
          <Button kind="plain" label="Dismiss" onClick={() => dismiss(t.id)}>
            ✕
          </Button>
        </div>
      ))}
    </div>
  );
}

/** Says that the daemon is gone, and that it is back. */
function Connection() {
  const state = link.value;
  const [wasLost, setWasLost] = useState(false);
  useEffect(() => {
    if (state === "lost") setWasLost(true);
    if (state === "live" && wasLost) {
      setWasLost(false);
      toast({ text: "Patchbay is back.", level: "success" });
    }
  }, [state]);
  if (state !== "lost") return null;
  return (
    <div class="banner" role="alert">
      <Spinner label="reconnecting" /> Patchbay does not answer. Trying again…
    </div>
  );
}

/** Says that config.json was edited into nonsense, for as long as it is. */
function ConfigTrouble() {
  const why = status.value?.config_error;
  if (!why || link.value === "lost") return null;
  return (
    <div class="banner" role="alert">
      <span>
        The config is not taken; what was read before goes on. <T>{why}</T>
      </span>
    </div>
  );
}

function TokenForm() {
  const [text, setText] = useState("");
  return (
    <main class="gate">
      <form
        onSubmit={(e) => {
          e.preventDefault();
          // The whole link may be pasted as well.
          const given = text.trim();
          keepToken(tokenIn(given) ?? given);
          openAgain();
        }}
      >
        <h1>
          <img src="/console.svg" alt="" width="28" height="28" /> Patchbay
        </h1>
        <p>
          This page needs the token of the daemon. Run <code>patchbay console</code> and open the link that it prints, or
          paste the link or token here.
        </p>
        <input
          type="password"
          aria-label="Link or token"
          autocomplete="off"
          value={text}
          onInput={(e) => setText(e.currentTarget.value)}
        />
        <Button type="submit" kind="primary" disabled={!text.trim()}>
          Open
        </Button>
      </form>
    </main>
  );
}

function KeyHelp() {
  if (!helpShown.value) return null;
  return (
    <Dialog title="Keys" onClose={() => (helpShown.value = false)}>
      <dl class="keys">
        {keys.map((k) => (
          <div>
            <dt>
              {k.keys.split(" ").map((one) => (
                <kbd>{one}</kbd>
              ))}
            </dt>
            <dd>{k.what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

export function App() {
  const page = own(pages, route.value.page) ?? pages["servers"]!;
  useEffect(() => {
    document.title = `${page.title} · Patchbay`;
  }, [page]);
  if (link.value === "denied") return <TokenForm />;
  return (
    <>
      <a class="skip" href="#main" onClick={(e) => (e.preventDefault(), document.getElementById("main")?.focus())}>
        Skip to the page
      </a>
      <Top />
      <Connection />
      <ConfigTrouble />
      <main id="main" tabIndex={-1}>
        {page.show()}
      </main>
      <div class="over">
        <ActiveCalls />
        <div class="over-end">
          <ServerIssue />
          <Toasts />
        </div>
      </div>
      <KeyHelp />
    </>
  );
}
