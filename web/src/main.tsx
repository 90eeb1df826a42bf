import { render } from "preact";
import { takeToken } from "./api";
import { App } from "./app";
import { startKeys } from "./keys";
import { startStore } from "./store";
import "./style.css";
import { startTheme } from "./theme";

takeToken();
startTheme();
startKeys();
startStore();
render(<App />, document.getElementById("app")!);
