// Calling a tool: its arguments, what is wrong with them, and what came of it.
import { useMemo, useRef, useState } from "preact/hooks";
import type { JsonObject, Tool } from "../../hub/types";
import { Arguments, Sides } from "../../shared/form/arguments";
import { problemsOf, REQUIRED, type Choices, type Problem } from "../../shared/form/check";
import { asCommand, asCurl } from "../../shared/form/copy";
import { emptyArguments, isObject } from "../../shared/form/model";
import { Button, Copy } from "../../shared/ui/parts";
import { oneLine, plural } from "../../shared/ui/text";
import { History, RunView } from "./run";
import { cancel, runsOf, start, type Run } from "./runs";

const PROBLEMS_SHOWN = 10;

/** What the form holds: one value, whichever side it is seen from. */
function useArguments(schema: JsonObject) {
  const [value, setValue] = useState<JsonObject>(() => emptyArguments(schema));
  const [choices, setChoices] = useState<Choices>(new Map());
  const [side, setSide] = useState("Form");
  const [broken, setBroken] = useState(false); // the JSON side is no JSON
  const [tried, setTried] = useState(false);
  const found = useMemo(() => problemsOf(value, schema, schema, choices), [value, schema, choices]);
  // What is still empty is no mistake before a person wants to call.
  const problems = tried ? found : found.filter((p) => p.text !== REQUIRED);

  const use = (args: JsonObject) => {
    setChoices(new Map());
    setValue(structuredClone(args));
  };
  const reset = () => {
    use(emptyArguments(schema));
    setTried(false);
    setBroken(false);
    setSide("Form");
  };
  return { value, setValue, choices, setChoices, side, setSide, broken, setBroken, tried, setTried, found, problems, use, reset };
}
type ArgumentsState = ReturnType<typeof useArguments>;

function Problems({ problems }: { problems: readonly Problem[] }) {
  if (!problems.length) return null;
  return (
    <ul class="tool-problems">
      {problems.slice(0, PROBLEMS_SHOWN).map((p) => (
        <li>
          <code>{oneLine(p.path || "/")}</code> {oneLine(p.text)}
        </li>
      ))}
    </ul>
  );
}

function Filling({ args, schema }: { args: ArgumentsState; schema: JsonObject }) {
  const properties = schema["properties"];
  const takesNone = !isObject(properties) || !Object.keys(properties).length;
  return (
    <>
      <div class="tool-args">
        <h3>Arguments</h3>
        <Sides sides={["Form", "JSON"]} side={args.side} onSide={args.setSide} disabled={args.broken} label="Arguments as" />
        <Button small onClick={args.reset}>
          Reset
        </Button>
      </div>
      <Arguments
        schema={schema}
        value={args.value}
        side={args.side}
        problems={args.problems}
        choices={args.choices}
        onChange={args.setValue}
        onChoices={args.setChoices}
        onBroken={args.setBroken}
      />
      {args.side === "Form" && takesNone && <p class="faint">This tool names no arguments.</p>}
      {args.side === "JSON" && <Problems problems={args.problems} />}
    </>
  );
}

type ActionsProps = { tool: Tool; args: ArgumentsState; running: Run | undefined; timeout: string; onTimeout: (text: string) => void; onAnyway: () => void };
function Actions({ tool, args, running, timeout, onTimeout, onAnyway }: ActionsProps) {
  return (
    <div class="browse-actions">
      <Button type="submit" kind="primary" disabled={args.broken || !!running} title="Ctrl+Enter">
        Call
      </Button>
      {running && (
        <Button kind="danger" onClick={() => cancel(running)}>
          Cancel
        </Button>
      )}
      {args.tried && args.found.length > 0 && !running && (
        <span class="tool-anyway" role="status">
          {plural(args.found.length, "thing")} to mend.{" "}
          <Button kind="link" onClick={onAnyway}>
            Call anyway
          </Button>
        </span>
      )}
      <label class="tool-timeout">
        Timeout{" "}
        <input type="number" min="0.001" step="any" placeholder="default" value={timeout} onInput={(e) => onTimeout(e.currentTarget.value)} /> s
      </label>
      <span class="tool-end">
        <Copy text={() => asCurl(location.origin, tool.name, args.value)}>Copy as curl</Copy>{" "}
        <Copy text={() => asCommand(tool.name, args.value)}>Copy as command line</Copy>
      </span>
    </div>
  );
}

export function CallBox({ tool }: { tool: Tool }) {
  const schema = isObject(tool.definition.inputSchema) ? tool.definition.inputSchema : {};
  const args = useArguments(schema);
  const [timeout, setTimeoutText] = useState("");
  const [shownRun, setShownRun] = useState("");
  const box = useRef<HTMLFormElement>(null);
  const all = runsOf(tool.name);
  const current = all.find((r) => r.id === shownRun) ?? all[0];
  const running = all.find((r) => r.state === "running");

  const call = (anyway: boolean) => {
    if (args.broken || running) return;
    args.setTried(true);
    if (args.found.length && !anyway) {
      // After the marks have been drawn.
      setTimeout(() => box.current?.querySelector<HTMLElement>(".wrong :is(input, select, textarea, button)")?.focus(), 0);
      return;
    }
    setShownRun("");
    void start(tool.name, args.value, Number(timeout) > 0 ? Number(timeout) : undefined);
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey)) return;
    e.preventDefault();
    call(false);
  };
  const useAgain = (run: Run) => {
    args.use(run.args);
    box.current?.scrollIntoView({ block: "nearest" });
  };

  return (
    <>
      <form
        ref={box}
        class="browse-box card"
        aria-label={`Call ${oneLine(tool.definition.name)}`}
        noValidate
        onKeyDown={onKeyDown}
        onSubmit={(e) => {
          e.preventDefault();
          call(false);
        }}
      >
        <Filling args={args} schema={schema} />
        <Actions tool={tool} args={args} running={running} timeout={timeout} onTimeout={setTimeoutText} onAnyway={() => call(true)} />
      </form>
      {current && <RunView run={current} server={tool.server} />}
      {all.length > 0 && <History all={all} current={current} onShow={(r) => setShownRun(r.id)} onUse={useAgain} />}
    </>
  );
}
