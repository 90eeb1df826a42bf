// Contents of results, resources and prompts, each shown as what it is.
import { useMemo, useState } from "preact/hooks";
import type { Content, Json } from "../../hub/types";
import { withQuery } from "../query";
import { href } from "../router";
import { JsonTree } from "../ui/json";
import { Badge, Button, Copy } from "../ui/parts";
import { Pre, shown, T } from "../ui/text";
import { fileName, jsonOf, pieces, shownAs, sizeText, type Shown } from "./kind";
import "./result.css";

const SHOWN_CHARS = 20_000;

/** Long text: its beginning, and on demand the whole, of which only what is in sight is drawn. */
export function LongText({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  const parts = useMemo(() => (all ? pieces(text) : []), [text, all]);
  if (text.length <= SHOWN_CHARS) return <Pre>{text}</Pre>;
  if (!all) {
    return (
      <>
        <Pre>{text.slice(0, SHOWN_CHARS) + "…"}</Pre>
        <Button small onClick={() => setAll(true)}>
          Show all ({sizeText(text.length)})
        </Button>
      </>
    );
  }
  return (
    <pre class="pre result-long" tabIndex={0}>
      {parts.map((p) => (
        <span class="result-piece">{shown(p)}</span>
      ))}
    </pre>
  );
}

/** Text, which may be JSON: then a tree is offered. */
function Text({ text, mime }: { text: string; mime: string }) {
  const tree = useMemo(() => jsonOf(text), [text]);
  const [asTree, setAsTree] = useState(/[/+]json$/.test(mime));
  return (
    <div>
      {asTree && tree !== undefined ? (
        <div class="result-tree">
          <JsonTree value={tree} />
        </div>
      ) : (
        <LongText text={text} />
      )}
      {tree !== undefined && (
        <Button small onClick={() => setAsTree(!asTree)}>
          {asTree ? "Show as text" : "Show as tree"}
        </Button>
      )}
    </div>
  );
}

/** Saved under a name of ours and as bytes: the browser must not open what a server sent. */
export function Download({ name, mime, data, children }: { name: string; mime: string; data: () => BlobPart; children?: string }) {
  const save = () => {
    const url = URL.createObjectURL(new Blob([data()], { type: "application/octet-stream" }));
    const a = document.createElement("a");
    a.href = url;
    a.download = fileName(name, mime);
    a.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  };
  return (
    <Button small onClick={save}>
      {children ?? "Download"}
    </Button>
  );
}

export function bytesOfBase64(data: string): ArrayBuffer {
  const text = atob(data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes.buffer;
}

function About({ mime, bytes, data, name }: { mime: string; bytes: number; data: string; name: string }) {
  return (
    <div class="result-about faint">
      <span>
        <T>{mime || "no type"}</T>, {sizeText(bytes)}
      </span>
      <Download name={name} mime={mime} data={() => bytesOfBase64(data)} />
    </div>
  );
}

const base64Of = (src: string) => src.slice(src.indexOf(",") + 1);

function ResourceLink({ link, server }: { link: Extract<Shown, { kind: "link" }>; server: string }) {
  return (
    <div class="result-link">
      <div>
        <strong>
          <T>{link.title || link.name || "Resource"}</T>
        </strong>{" "}
        {link.mime && (
          <Badge>
            <T>{link.mime}</T>
          </Badge>
        )}
      </div>
      <code>
        <T>{link.uri}</T>
      </code>
      {link.description && (
        <p>
          <T>{link.description}</T>
        </p>
      )}
      <a class="button small result-read" href={withQuery(href("resources"), { of: server, uri: link.uri })}>
        Read
      </a>
    </div>
  );
}

function One({ content, server, name }: { content: Shown; server: string; name: string }) {
  switch (content.kind) {
    case "text":
      return <Text text={content.text} mime={content.mime} />;
    case "image":
      return (
        <figure class="result-picture">
          <img src={content.src} alt="Picture of the result" />
          <About {...content} data={base64Of(content.src)} name={name} />
        </figure>
      );
    case "audio":
      return (
        <figure class="result-picture">
          <audio controls src={content.src} aria-label="Sound of the result" />
          <About {...content} data={base64Of(content.src)} name={name} />
        </figure>
      );
    case "blob":
      return (
        <div class="result-tree">
          Bytes that are not shown here. <About {...content} name={name} />
        </div>
      );
    case "resource":
      return (
        <div class="result-resource">
          <code>
            <T>{content.uri}</T>
          </code>
          <One content={content.inside} server={server} name={content.uri || name} />
        </div>
      );
    case "link":
      return <ResourceLink link={content} server={server} />;
    case "unknown":
      return (
        <div class="result-tree">
          <JsonTree value={content.value} />
        </div>
      );
  }
}

/** One piece of content. `name` is what a download is called after. */
export function ContentView({ content, server, name }: { content: Content; server: string; name: string }) {
  const as = useMemo(() => shownAs(content), [content]);
  return <One content={as} server={server} name={name} />;
}

/** What a resource is made of: text or bytes, by type. */
export function ResourceView({ text, blob, mime, server, uri }: { text?: string; blob?: string; mime: string; server: string; uri: string }) {
  const content: Content = { type: "resource", resource: { uri, mimeType: mime, text, blob } };
  const as = shownAs(content);
  if (as.kind !== "resource") return null;
  const { inside } = as;
  return (
    <>
      <One content={inside} server={server} name={uri} />
      {inside.kind === "text" && (
        <div class="result-about faint">
          <span>
            <T>{inside.mime || "text"}</T>, {sizeText(new Blob([inside.text]).size)}
          </span>
          <Copy text={inside.text}>Copy</Copy>
          <Download name={uri} mime={inside.mime || "text/plain"} data={() => inside.text} />
        </div>
      )}
    </>
  );
}

/** What has its own place in a result, for programs. */
export function Structured({ value }: { value: Json }) {
  return (
    <div>
      <h3>Structured content</h3>
      <div class="result-tree">
        <JsonTree value={value} />
      </div>
    </div>
  );
}
