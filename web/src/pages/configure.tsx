export function ConfigurePage() {
  return <div />;
}
