import { AgentError, ConnectionError, Turn, TurnError } from "turnwire";

declare const error: AgentError;

error.code = "other"; // error TS2540
error.status; // error TS2339
if (error instanceof ConnectionError) error.partial.text; // error TS18048
if (error instanceof TurnError) error.data.code.length; // error TS18046
new Turn(); // error TS2693
