export function ModesPage() {
  return <div />;
}
