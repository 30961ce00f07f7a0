import * as rtvoice from "./rtvoice.js";

window.rtvoice = rtvoice;
