// One server in the list.
import { samples } from "../../hub/samples";
import type { Server } from "../../hub/types";
import { now } from "../../shared/now";
import { withQuery } from "../../shared/query";
import { href } from "../../shared/router";
import { memo } from "../../shared/ui/memo";
import { Badge, Button, Copy, Dot, Menu, Sparkline } from "../../shared/ui/parts";
import { duration, oneLine, T } from "../../shared/ui/text";
import { run } from "./server_actions";
import { ServerFacts } from "./server_facts";
import {
  badgeOf,
  type Count,
  countsOf,
  isBusy,
  isFailed,
  menuOf,
  type Offer,
  quickOf,
  retryText,
  statusOf,
  troubleOf,
} from "./server_model";

function Countdown({ at }: { at: number }) {
  return <span class="servers-countdown">{retryText(at, now.value)}</span>;
}

function countHref(server: string, page: Count["page"]): string {
  return page === "resources" ? withQuery(href(page), { server }) : href(page, server);
}

function Has({ server }: { server: Server }) {
  const quick = quickOf(server);
  return (
    <div class="servers-has">
      {countsOf(server).map((c) => (
        <a key={c.page} class={`badge servers-count ${c.page}`} href={countHref(server.name, c.page)}>
          {c.text}
        </a>
      ))}
      {quick && (
        <Button small label={`${quick.text} ${oneLine(server.display_name)}`} onClick={() => run(server, quick.act)}>
          {quick.text}
        </Button>
      )}
    </div>
  );
}

function Latency({ server }: { server: Server }) {
  const values = samples.of(server.name);
  const last = values.at(-1) ?? server.latency_ms;
  if (last === undefined || server.state !== "connected") return <div class="servers-latency" />;
  const text = duration(last);
  return (
    <div class="servers-latency" title="How long its last calls took">
      <Sparkline values={values} label={`The last answer took ${text}`} />
      <span>{text}</span>
    </div>
  );
}

function Name({ server, open, onOpen }: RowProps) {
  const badge = badgeOf(server);
  const status = statusOf(server);
  return (
    <div class="servers-head">
      <button
        type="button"
        class="servers-name"
        aria-expanded={open}
        title={open ? "Less" : "More about it"}
        onClick={() => onOpen(server.name, !open)}
      >
        <Dot color={server.color} pulse={isBusy(server)} />
        <T>{server.display_name}</T>
        <span class="servers-more" aria-hidden="true">
          {open ? "▾" : "▸"}
        </span>
      </button>
      {badge && (
        <Badge tone={badge.color} title={badge.tooltip && oneLine(badge.tooltip)}>
          {badge.text}
        </Badge>
      )}
      {status && <T class="servers-status">{status}</T>}
      {server.next_retry_at !== undefined && <Countdown at={server.next_retry_at} />}
    </div>
  );
}

function Offers({ server, offers }: { server: Server; offers: Offer[] }) {
  return (
    <>
      {offers.map((o) => (
        <Button key={o.text} small label={`${o.text} ${oneLine(server.display_name)}`} onClick={() => run(server, o.act)}>
          {o.text}
        </Button>
      ))}
    </>
  );
}

function Wrong({ server }: { server: Server }) {
  const trouble = troubleOf(server);
  if (!trouble) return null;
  return (
    <div class={`servers-wrong${isFailed(server) ? " failed" : ""}`}>
      <p>
        <T>{trouble.text}</T>
      </p>
      {trouble.advice && (
        <p class="servers-hint">
          Next: <T>{trouble.advice}</T>
        </p>
      )}
      <div class="servers-todo">
        <Offers server={server} offers={trouble.offers} />
        {trouble.hint && (
          <span class="servers-hint">
            or in a terminal: <code>{oneLine(trouble.hint)}</code> <Copy text={trouble.hint}>Copy</Copy>
          </span>
        )}
      </div>
    </div>
  );
}

type RowProps = { server: Server; open: boolean; onOpen: (name: string, open: boolean) => void };

function Row(props: RowProps) {
  const { server, open } = props;
  const name = oneLine(server.display_name);
  const target = oneLine(server.target);
  return (
    <li class={`servers-row${isFailed(server) ? " failed" : ""}`} id={`server-${server.name}`}>
      <div class="servers-line">
        <div class="servers-who">
          <Name {...props} />
          <div class="servers-target" title={target}>
            <span class="servers-transport">{server.transport}</span> <bdi>{target}</bdi>
          </div>
        </div>
        <Has server={server} />
        <Latency server={server} />
        <Menu
          label={`Actions for ${name}`}
          items={menuOf(server).map((o) => ({ text: o.text, danger: o.danger, run: () => run(server, o.act) }))}
        />
      </div>
      <Wrong server={server} />
      {open && <ServerFacts server={server} />}
    </li>
  );
}

export const ServerRow = memo(Row);
