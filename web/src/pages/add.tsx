export function AddPage() {
  return <div />;
}
