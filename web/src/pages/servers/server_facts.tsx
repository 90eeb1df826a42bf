// All that is known about one server, below its row.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { at, get } from "../../hub/api";
import type { Server, ServerDetail } from "../../hub/types";
import { now } from "../../shared/now";
import { JsonTree } from "../../shared/ui/json";
import { Trouble } from "../../shared/ui/parts";
import { clock, duration, oneLine, Pre, T } from "../../shared/ui/text";

function Ago({ since }: { since: number }) {
  return <>{duration(Math.max(1000, now.value - since * 1000))}</>;
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function serverInfo(d: ServerDetail | null): string | undefined {
  const info = d?.server_info;
  if (!info) return undefined;
  const words = [info["title"] ?? info["name"], info["version"]];
  return words.filter((w) => typeof w === "string").join(" ");
}

function Facts({ s, detail }: { s: Server; detail: ServerDetail | null }) {
  const calls = [`${s.calls.toLocaleString("en")}`, `${s.failures.toLocaleString("en")} failed`];
  if (s.in_flight) calls.push(`${s.in_flight} running`);
  if (s.queued) calls.push(`${s.queued} waiting`);
  const info = serverInfo(detail);
  return (
    <dl class="servers-facts">
      <Fact name="Name">
        <code>{oneLine(s.name)}</code>
      </Fact>
      {info && (
        <Fact name="Calls itself">
          <T>{info}</T>
        </Fact>
      )}
      <Fact name="Calls">{calls.join(", ")}</Fact>
      <Fact name="Reconnects">{s.reconnects}</Fact>
      <Fact name="Restarts">{s.restarts}</Fact>
      {s.connected_at !== undefined && s.state === "connected" && (
        <Fact name="Connected">
          <span title={clock(s.connected_at)}>
            for <Ago since={s.connected_at} />
          </span>
        </Fact>
      )}
      {s.connect_ms !== undefined && <Fact name="Connecting took">{duration(s.connect_ms)}</Fact>}
      {s.last_used_at !== undefined && (
        <Fact name="Last used">
          <Ago since={s.last_used_at} /> ago
        </Fact>
      )}
      {s.protocol && (
        <Fact name="Protocol">
          <T>{s.protocol}</T>
        </Fact>
      )}
      {s.pid !== undefined && <Fact name="Process">{s.pid}</Fact>}
      {s.instances !== undefined && <Fact name="Instances">{s.instances}</Fact>}
      {s.file && (
        <Fact name="Defined in">
          <code>
            {oneLine(s.file)}:{s.line}
          </code>
        </Fact>
      )}
    </dl>
  );
}

/** Read again when the row has changed. */
function useDetail(server: Server): { detail: ServerDetail | null; why: unknown } {
  const [detail, setDetail] = useState<ServerDetail | null>(null);
  const [why, setWhy] = useState<unknown>(null);
  useEffect(() => {
    const gone = new AbortController();
    get(at("/api/servers/{}", server.name), gone.signal).then(
      (read) => (setDetail(read), setWhy(null)),
      (failure: unknown) => gone.signal.aborted || setWhy(failure),
    );
    return () => gone.abort();
  }, [server]);
  return { detail, why };
}

export function ServerFacts({ server }: { server: Server }) {
  const { detail, why } = useDetail(server);
  return (
    <div class="servers-open">
      <Facts s={server} detail={detail} />
      {why !== null && <Trouble why={why} />}
      {detail?.instructions && (
        <>
          <h2 class="servers-part">What it tells agents</h2>
          <Pre>{detail.instructions}</Pre>
        </>
      )}
      {detail && (
        <>
          <h2 class="servers-part">Configuration</h2>
          <JsonTree value={detail.spec} />
        </>
      )}
      {detail?.capabilities && (
        <>
          <h2 class="servers-part">Capabilities</h2>
          <JsonTree value={detail.capabilities} depth={1} />
        </>
      )}
    </div>
  );
}
