export function AlertsPage() {
  return <div />;
}
export function ServerIssue() {
  return <div />;
}
