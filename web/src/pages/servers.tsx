export function ServersPage() {
  return <div />;
}
