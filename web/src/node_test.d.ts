// The little of Node that tests use: the page itself must not see Node's types.
declare module "node:test" {
  type Body = () => void | Promise<void>;
  export default function test(name: string, body: Body): void;
  export function describe(name: string, body: () => void): void;
  export function it(name: string, body: Body): void;
}
declare module "node:assert/strict" {
  interface Assert {
    (value: unknown, message?: string): void;
    ok(value: unknown, message?: string): void;
    equal(actual: unknown, expected: unknown, message?: string): void;
    notEqual(actual: unknown, expected: unknown, message?: string): void;
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    match(value: string, pattern: RegExp, message?: string): void;
    doesNotMatch(value: string, pattern: RegExp, message?: string): void;
    throws(body: () => unknown, expected?: RegExp): void;
    rejects(body: Promise<unknown> | (() => Promise<unknown>), expected?: RegExp): Promise<void>;
  }
  const assert: Assert;
  export default assert;
}
