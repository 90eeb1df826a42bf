export function ResourcesPage() {
  return <div />;
}
