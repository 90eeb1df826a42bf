// What a person is asked before a call goes on. The oldest first: its time runs out first.
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, at, post } from "../../hub/api";
import { questions, refreshQuestions } from "../../hub/store";
import type { Bodies, Question } from "../../hub/types";
import { now } from "../../shared/now";
import { LongText } from "../../shared/result/view";
import { href } from "../../shared/router";
import { tellFailure, toast } from "../../shared/toasts";
import { Badge, Button, Empty, WorkButton } from "../../shared/ui/parts";
import { oneLine, T } from "../../shared/ui/text";
import { answerersText, GRANT_S, leftPart, leftText, mayAnswer, ruleText } from "./questions_model";
import "./questions.css";

type Answer = Bodies["POST /api/questions/{}/answer"];

/** The question goes by its event. */
async function answer(question: Question, body: Answer): Promise<void> {
  try {
    await post(at("/api/questions/{}/answer", question.id), body);
  } catch (why) {
    if (why instanceof ApiError && why.status === 404) toast({ text: "It was answered already, or its call has ended.", level: "warning" });
    else tellFailure("Not answered", why);
    refreshQuestions();
  }
}

/** Ticks by itself, so that what is being typed is not drawn again. */
function Left({ question }: { question: Question }) {
  return (
    <span class="question-left">
      <progress value={leftPart(question, now.value)} aria-hidden="true" />
      <span class="faint">{leftText(question, now.value)} left</span>
    </span>
  );
}

function Choices({ question }: { question: Question }) {
  const [denying, setDenying] = useState(false);
  const [reason, setReason] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const what = oneLine(`${question.server}/${question.tool}`);
  useEffect(() => field.current?.focus(), [denying]);
  const deny = () => answer(question, { choice: "deny", ...(reason.trim() && { reason: reason.trim() }) });
  if (!mayAnswer(question)) return <p class="faint">It can be answered by {answerersText(question)} only.</p>;
  if (denying)
    return (
      <form
        class="question-choices"
        onSubmit={(e) => {
          e.preventDefault();
          void deny();
        }}
      >
        <input
          ref={field}
          class="question-reason"
          aria-label="Reason, which the caller is told"
          placeholder="Reason, which the caller is told (may be left out)"
          value={reason}
          maxLength={500}
          onInput={(e) => setReason(e.currentTarget.value)}
          onKeyDown={(e) => e.key === "Escape" && setDenying(false)}
        />
        <WorkButton kind="danger" onClick={deny}>Deny it</WorkButton>
        <Button onClick={() => setDenying(false)}>Back</Button>
      </form>
    );
  return (
    <div class="question-choices">
      <WorkButton kind="primary" label={`Approve ${what}`} onClick={() => answer(question, { choice: "approve" })}>
        Approve
      </WorkButton>
      <WorkButton
        label={`Approve for 5 minutes: ${what}`}
        title="This call, and others of this tool by the same caller for five minutes"
        onClick={() => answer(question, { choice: "grant", grant_s: GRANT_S })}
      >
        Approve for 5 minutes
      </WorkButton>
      <Button kind="danger" label={`Deny ${what}`} onClick={() => setDenying(true)}>
        Deny…
      </Button>
    </div>
  );
}

function Card({ question }: { question: Question }) {
  const tool = question.method === "tools/call";
  return (
    <li class="card question">
      <header>
        <h2>
          <T>{question.text}</T>
        </h2>
        <Left question={question} />
      </header>
      <p class="question-about faint">
        {tool ? (
          <a href={href("tools", question.server, question.tool)}>
            <T>{`${question.server}/${question.tool}`}</T>
          </a>
        ) : (
          <>
            <Badge>{question.method}</Badge> <T>{`${question.server}/${question.tool}`}</T>
          </>
        )}
        <span>asked by <T>{question.caller || "a client without a name"}</T></span>
        {question.rule && <span>because of {ruleText(oneLine(question.rule))}</span>}
      </p>
      <div class="question-arguments">
        {typeof question.arguments === "string" ? (
          <p class="faint">Arguments: <T>{question.arguments}</T></p>
        ) : (
          <LongText text={JSON.stringify(question.arguments, null, 2)} />
        )}
      </div>
      <Choices question={question} />
    </li>
  );
}

export function QuestionsPage() {
  const all = questions.value;
  return (
    <>
      <div class="bar">
        <h1>Questions</h1>
      </div>
      {all.length === 0 ? (
        <Empty title="Nothing is asked">
          <p>
            When a rule of the policy says that somebody must be asked, the call waits here for an answer. Rules are kept in{" "}
            <code>config.json</code> under <code>policy</code>.
          </p>
        </Empty>
      ) : (
        <ul class="question-list" aria-label="Questions, oldest first" aria-live="polite">
          {all.map((q) => (
            <Card key={q.id} question={q} />
          ))}
        </ul>
      )}
    </>
  );
}
