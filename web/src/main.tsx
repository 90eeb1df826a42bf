import { render } from "preact";
import { openAgain, takeToken } from "./api";
import { App } from "./app";
import { startKeys } from "./keys";
import { moved } from "./router";
import { startStore } from "./store";
import "./style.css";
import { startTheme } from "./theme";

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
