export function CallsPage() {
  return <div />;
}
