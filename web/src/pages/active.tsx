export function ActiveCalls() {
  return <div />;
}
