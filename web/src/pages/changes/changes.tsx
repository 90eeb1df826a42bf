// Definitions that are not what was approved: what changed in each, word by word, and letting it in.
import { useState } from "preact/hooks";
import { asked, get, post } from "../../hub/api";
import { changed } from "../../hub/store";
import type { Pin } from "../../hub/types";
import { tellFailure } from "../../shared/toasts";
import { Badge, Empty, WorkButton } from "../../shared/ui/parts";
import { oneLine, shown, T } from "../../shared/ui/text";
import { approvalOf, keyOf, lookOf, near, stateText, titleOf } from "./changes_model";
import "./changes.css";

/** One that was among too many to be shown. */
async function lookAt(pin: Pin): Promise<Pin | null> {
  try {
    const found = (await get(asked("/api/pins", lookOf(pin)))).pins.find((p) => keyOf(p) === keyOf(pin));
    return found ?? null;
  } catch (why) {
    tellFailure("It cannot be shown", why);
    return null;
  }
}

async function approve(pin: Pin): Promise<void> {
  try {
    await post("/api/pins/approve", approvalOf(pin));
  } catch (why) {
    tellFailure("It was not approved", why);
  }
}

function Diff({ pin }: { pin: Pin }) {
  const [one, setOne] = useState<Pin | null>(null);
  if (pin.diff_missing === "room" && one?.cid === pin.cid) return <Diff pin={one} />;
  if (pin.diff_missing === "room")
    return (
      <p class="faint">
        There is too much to show it all.{" "}
        <WorkButton small label={`Show ${oneLine(titleOf(pin))}`} onClick={async () => setOne(await lookAt(pin))}>
          Show what changed
        </WorkButton>
      </p>
    );
  if (!pin.diff) return <p class="faint">Its text is not at hand: the server has not said it since Patchbay was started.</p>;
  return (
    <>
      {pin.old_missing && <p class="faint">What was approved is not at hand. It is now:</p>}
      <pre class="pre changes-diff" tabIndex={0}>
        {near(pin.diff).map((s) =>
          s.op === "same" ? <span>{shown(s.text)}</span> : s.op === "del" ? <del>{shown(s.text)}</del> : <ins>{shown(s.text)}</ins>,
        )}
      </pre>
      {pin.diff_cut && <p class="faint">Some of it is left out: it is too long.</p>}
      {pin.redacted && <p class="faint">Secrets in it are shown as ***.</p>}
    </>
  );
}

function Row({ pin }: { pin: Pin }) {
  const at = new Date(pin.approved_at * 1000);
  return (
    <li class="changes-row">
      <div class="changes-head">
        <h2>
          <T>{titleOf(pin)}</T>
        </h2>
        <Badge tone={pin.state === "held" ? "red" : "gray"}>{stateText(pin)}</Badge>
        <span class="faint">
          approved on <time dateTime={at.toISOString()}>{at.toLocaleDateString("en-GB")}</time>
        </span>
        <span class="grow" />
        <WorkButton small kind="primary" label={`Approve ${oneLine(titleOf(pin))}`} onClick={() => approve(pin)}>
          Approve
        </WorkButton>
      </div>
      <Diff pin={pin} />
    </li>
  );
}

export function ChangesPage() {
  const all = changed.value;
  return (
    <>
      <div class="bar">
        <h1>Changes</h1>
      </div>
      {all.length === 0 ? (
        <Empty title="All is as it was approved">
          <p>When a server changes what it says of a tool, a prompt or itself, it is shown here before anybody else sees it.</p>
        </Empty>
      ) : (
        <ul class="changes-list card" aria-label="Definitions that have changed">
          {all.map((p) => (
            <Row key={keyOf(p)} pin={p} />
          ))}
        </ul>
      )}
    </>
  );
}
