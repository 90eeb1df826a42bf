// Asking about something that changes while it is typed: only the newest question counts.

type Told<Q, A> = {
  answer: (question: Q, answer: A) => void;
  failure: (question: Q, why: unknown) => void;
};

export class Latest<Q, A> {
  private readonly ask: (question: Q, signal: AbortSignal) => Promise<A>;
  private readonly waitMs: number;
  private readonly told: Told<Q, A>;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private running: AbortController | null = null;

  constructor(waitMs: number, ask: (question: Q, signal: AbortSignal) => Promise<A>, told: Told<Q, A>) {
    this.waitMs = waitMs;
    this.ask = ask;
    this.told = told;
  }

  /** Asked when nothing newer comes for a while; what was asked before is given up at once. */
  want(question: Q): void {
    this.stop();
    this.timer = setTimeout(() => void this.run(question), this.waitMs);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.running?.abort();
    this.running = null;
  }

  private async run(question: Q): Promise<void> {
    const mine = (this.running = new AbortController());
    try {
      const answer = await this.ask(question, mine.signal);
      if (this.running === mine) this.told.answer(question, answer);
    } catch (why) {
      if (this.running === mine) this.told.failure(question, why);
    } finally {
      if (this.running === mine) this.running = null;
    }
  }
}
