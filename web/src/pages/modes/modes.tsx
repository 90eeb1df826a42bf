// Modes: named choices of tools, for clients that shall not see everything.
import { useEffect, useState } from "preact/hooks";
import { post } from "../../hub/api";
import { catalogVersion, loaded, modes } from "../../hub/store";
import type { Mode, ModeMatch } from "../../hub/types";
import { href, route } from "../../shared/router";
import { Empty } from "../../shared/ui/parts";
import { oneLine, T } from "../../shared/ui/text";
import { ModeEditor } from "./mode_editor";
import "./modes.css";

export function ModesPage() {
  const id = route.value.parts[0];
  if (route.value.query.get("new")) return <ModeEditor key="?new" mode={null} />;
  if (id === undefined) return <List />;
  const mode = modes.value.find((m) => m.id === id);
  if (mode) return <ModeEditor key={id} mode={mode} />;
  return loaded.value ? (
    <Empty title="There is no such mode">
      <a href={href("modes")}>All modes</a>
    </Empty>
  ) : (
    <div />
  );
}

/** How many tools each mode lets through, asked anew when the tools or the modes change. */
function useCounts(all: readonly Mode[]): ReadonlyMap<string, ModeMatch> {
  const [counts, setCounts] = useState<ReadonlyMap<string, ModeMatch>>(new Map());
  const catalog = catalogVersion.value;
  useEffect(() => {
    const gone = new AbortController();
    for (const mode of all)
      post("/api/modes/match", { filter: mode.filter }, gone.signal).then(
        (match) => setCounts((now) => new Map(now).set(mode.id, match)),
        () => {}, // the list is right without its numbers
      );
    return () => gone.abort();
  }, [all, catalog]);
  return counts;
}

function List() {
  const all = modes.value;
  const counts = useCounts(all);
  return (
    <>
      <div class="bar">
        <h1>Modes</h1>
        <span class="grow" />
        <a class="button primary" href={href("modes") + "?new=1"}>
          + New mode
        </a>
      </div>
      <p class="faint">A mode lets a client see some tools and hides the others. Each has an address of its own.</p>
      <ul class="card modes-list">
        {all.map((m) => (
          <li>
            <a href={href("modes", m.id)}>
              <span class="modes-list-name">
                {/^\p{Extended_Pictographic}/u.test(m.icon ?? "") && <span aria-hidden="true">{oneLine(m.icon!)} </span>}
                <T>{m.name ?? m.id}</T>
              </span>
              <code>{oneLine(m.id)}</code>
              <Count match={counts.get(m.id)} />
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

function Count({ match }: { match: ModeMatch | undefined }) {
  return (
    <span class="faint modes-list-count">
      {match ? `${match.tools.toLocaleString("en")} of ${match.total.toLocaleString("en")} tools` : "…"}
    </span>
  );
}
