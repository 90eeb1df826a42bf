// What the tests use of Node. All of Node's types would offer the page what no browser has.
declare module "node:test" {
  type Body = () => void | Promise<void>;
  export function test(name: string, body: Body): Promise<void>;
  export function describe(name: string, body: Body): Promise<void>;
  export function it(name: string, body: Body): Promise<void>;
  export function beforeEach(body: Body): void;
  export function afterEach(body: Body): void;
  export default test;
}

declare module "node:assert/strict" {
  interface Assert {
    (value: unknown, message?: string): asserts value;
    ok(value: unknown, message?: string): asserts value;
    fail(message?: string): never;
    equal(actual: unknown, expected: unknown, message?: string): void;
    notEqual(actual: unknown, expected: unknown, message?: string): void;
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    notDeepEqual(actual: unknown, expected: unknown, message?: string): void;
    match(actual: string, expected: RegExp, message?: string): void;
    doesNotMatch(actual: string, expected: RegExp, message?: string): void;
    throws(body: () => unknown, expected?: RegExp | object, message?: string): void;
    rejects(body: Promise<unknown> | (() => Promise<unknown>), expected?: RegExp | object, message?: string): Promise<void>;
  }
  // "asserts" holds only where the type is written down.
  const assert: Assert;
  export default assert;
}
