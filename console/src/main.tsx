import "./ui/theme.css";

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { startApprovals } from "./data/approvals";
import { startKeys } from "./data/keys";
import { startLobby } from "./data/lobby";
import { startNotices } from "./data/notices";
import { startPrefs } from "./data/prefs";
import { App } from "./shell/app";

startPrefs();
startKeys();
startLobby();
startApprovals();
startNotices();
createRoot(document.getElementById("root")!).render(<StrictMode><App /></StrictMode>);
