// Starts the page.

import { Page, start } from "./page.js";

start((config) => new Page(config));
