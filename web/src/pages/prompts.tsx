export function PromptsPage() {
  return <div />;
}
