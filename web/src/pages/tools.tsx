export function ToolsPage() {
  return <div />;
}
