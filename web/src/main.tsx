import { render } from "preact";
import { App } from "./app";
import { openAgain, takeToken } from "./hub/api";
import { startStore } from "./hub/store";
import { startKeys } from "./keys";
import { moved } from "./shared/router";
import "./style.css";
import { startTheme } from "./shared/theme";

takeToken();
moved();
// The link may be pasted into a page that is open already.
window.addEventListener("hashchange", () => {
  if (!takeToken()) return;
  moved();
  openAgain();
});
startTheme();
startKeys();
startStore();
const place = document.getElementById("app")!;
place.textContent = ""; // what was painted while this script was on its way
render(<App />, place);
