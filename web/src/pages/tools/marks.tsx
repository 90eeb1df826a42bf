// What a server says about a tool's ways, in a word each.
import type { Annotations } from "../../hub/types";
import { Badge } from "../../shared/ui/parts";

export function Marks({ of }: { of: Annotations | undefined }) {
  return (
    <>
      {of?.readOnlyHint === true && <Badge tone="green">read-only</Badge>}
      {of?.destructiveHint === true && of.readOnlyHint !== true && <Badge tone="red">destructive</Badge>}
      {of?.openWorldHint === true && <Badge tone="yellow">open world</Badge>}
    </>
  );
}
