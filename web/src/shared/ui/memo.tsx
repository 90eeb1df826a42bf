// A part that is drawn again only when one of its properties is another one.
import { Component, type FunctionComponent } from "preact";

function differ(a: object, b: object): boolean {
  const keys = Object.keys(a) as (keyof typeof a)[];
  return keys.length !== Object.keys(b).length || keys.some((key) => a[key] !== b[key]);
}

export function memo<P extends object>(Shown: FunctionComponent<P>) {
  return class extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      return differ(this.props, next);
    }
    override render() {
      return <Shown {...this.props} />;
    }
  };
}
