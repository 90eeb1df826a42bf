// Changes that nobody has saved: asks before they are lost.
import { useEffect, useState } from "preact/hooks";
import { hold, leave } from "../router";
import { Button, Dialog } from "./parts";

/** For as long as `when`: leaving the page has to be confirmed, closing the window as well. */
export function AskBeforeLeaving({ when }: { when: boolean }) {
  const [to, setTo] = useState<string | null>(null);
  useEffect(() => {
    if (!when) return;
    const release = hold(setTo);
    const closing = (e: BeforeUnloadEvent) => e.preventDefault();
    window.addEventListener("beforeunload", closing);
    return () => {
      release();
      window.removeEventListener("beforeunload", closing);
    };
  }, [when]);
  if (to === null) return null;
  return (
    <Dialog title="Leave without saving?" onClose={() => setTo(null)}>
      <p>What you changed here has not been saved.</p>
      <div class="dialog-actions">
        <Button onClick={() => setTo(null)}>Stay</Button>
        <Button kind="danger" onClick={() => leave(to)}>
          Leave
        </Button>
      </div>
    </Dialog>
  );
}
